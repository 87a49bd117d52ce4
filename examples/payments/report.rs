//! The report: what the shop believes beside what the providers have booked.

use std::collections::HashMap;
use std::fmt::Write;

use crate::client::Account;
use crate::client::Answer;
use crate::server::Fault;
use crate::server::Providers;
use crate::shop::Doubt;
use crate::shop::Kind;
use crate::shop::Order;

/// What became of all orders of one kind.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    pub(crate) orders: u64,
    pub(crate) once: u64,
    pub(crate) twice: u64,
    pub(crate) lost: u64,
    declined: u64,
    via_best: u64,
    after_no_answer: u64,
    after_bad_answer: u64,
    after_break: u64,
    put_back: u64,
}

impl Sums {
    /// Of the orders up to `orders`, those of a kind.
    pub(crate) fn of(kind: Kind, orders: u64, settled: &[Order], providers: &Providers) -> Self {
        let settled: HashMap<u64, &Order> = settled.iter().map(|order| (order.id, order)).collect();
        let mut sums = Self::default();
        for id in (0..orders).filter(|id| Kind::of(*id) == kind) {
            sums.add(settled.get(&id).copied(), providers.moved(id));
        }
        sums
    }

    /// One order, and how often its money has moved.
    fn add(&mut self, settled: Option<&Order>, moved: u32) {
        self.orders += 1;
        let answer = settled.and_then(|order| order.answer);
        match (answer, moved) {
            (_, 2..) => self.twice += 1,
            (Some(Answer::Done(_)), 1) => self.once += 1,
            (Some(Answer::Declined), 0) => self.declined += 1,
            // Not settled at all, or the shop believes what is not so.
            (None | Some(Answer::Done(_)), 0) | (None | Some(Answer::Declined), 1) => {
                self.lost += 1
            }
        }
        let Some(order) = settled else { return };
        self.via_best += u64::from(answer == Some(Answer::Done(Account::BestCards)));
        self.put_back += u64::from(order.put_back > 0);
        match order.doubt {
            Some(Doubt::NoAnswer) => self.after_no_answer += 1,
            Some(Doubt::BadAnswer) => self.after_bad_answer += 1,
            Some(Doubt::Broken) => self.after_break += 1,
            None => {}
        }
    }

    /// What must not be.
    pub(crate) fn broken_promises(&self, name: &str) -> Vec<String> {
        let promises = [(self.twice, "were made twice"), (self.lost, "are lost")];
        let broken = promises.into_iter().filter(|(orders, _)| *orders > 0);
        broken
            .map(|(orders, what)| format!("{orders} {name} {what}"))
            .collect()
    }
}

/// What became of the orders.
pub(crate) fn orders(charges: &Sums, payouts: &Sums) -> String {
    let mut text = format!("{:36}{:>14}{:>14}\n", "", "charges", "payouts");
    let mut row = |label, cell: fn(&Sums) -> u64| {
        let _ = writeln!(text, "{label:36}{:>14}{:>14}", cell(charges), cell(payouts));
    };
    row("orders", |sums| sums.orders);
    row("    made once", |sums| sums.once);
    row("    made twice", |sums| sums.twice);
    row("    lost", |sums| sums.lost);
    row("    declined", |sums| sums.declined);
    row("made by best, not by acme", |sums| sums.via_best);
    row("confirmed after no answer", |sums| sums.after_no_answer);
    row("confirmed after a 500 or 503", |sums| sums.after_bad_answer);
    row("confirmed after a broken connection", |sums| {
        sums.after_break
    });
    row("put back into the queue", |sums| sums.put_back);
    text
}

/// What the providers did, and what the circuits made of it.
pub(crate) fn providers(providers: &Providers, opened: &HashMap<&str, u64>) -> String {
    let mut text = String::new();
    let mut row = |label: &str, cell: &dyn Fn(Account) -> String| {
        let cells = Account::ALL.map(|account| format!("{:>14}", cell(account)));
        let _ = writeln!(text, "{label:36}{}", cells.concat());
    };
    let count = |n: u64| n.to_string();
    row("", &|account| account.service().to_owned());
    row("requests", &|account| {
        count(providers.of(account).books().requests)
    });
    for fault in Fault::ALL {
        row(&format!("    {}", fault.name()), &|account| {
            let books = providers.of(account).books();
            count(books.faults.get(&fault).copied().unwrap_or_default())
        });
    }
    row("    declined", &|account| {
        count(providers.of(account).books().declined)
    });
    let policies = |account: Account| breakerbox::policies(account.service());
    row("given up by our timeout", &|account| {
        count(policies(account).timeouts())
    });
    row("turned away by our circuit", &|account| {
        let breaker = breakerbox::breaker(account.service());
        count(breaker.map_or(0, |breaker| breaker.snapshot().calls.rejected))
    });
    row("    which opened so often", &|account| {
        count(opened.get(account.service()).copied().unwrap_or_default())
    });
    row("handed to the fallback", &|account| {
        count(policies(account).fallbacks().iter().sum())
    });
    text
}

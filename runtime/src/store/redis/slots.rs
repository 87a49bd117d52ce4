//! Which node of a cluster has which keys.

use std::ops::RangeInclusive;

use redis::Value;

use crate::store::redis::address::Address;
use crate::store::redis::address::Place;
use crate::store::redis::address::host_and_port;

/// The master of each slot, as one node of the cluster has told and others have corrected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Slots {
    masters: Vec<Address>,
    /// By slot, which of them; a slot beyond the end has none.
    of: Vec<Option<usize>>,
}

/// As many slots as a cluster has.
const SLOTS: u16 = 16_384;

/// The slot of a key: of what stands between its braces, where something does.
pub(super) fn slot(key: &str) -> u16 {
    let tag = key.split_once('{').and_then(|(_, rest)| {
        let (tag, _) = rest.split_once('}')?;
        Some(tag).filter(|tag| !tag.is_empty())
    });
    crc16(tag.unwrap_or(key).as_bytes()) % SLOTS
}

/// CRC-16/XMODEM.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        (0..8).fold(crc ^ u16::from(*byte) << 8, |crc: u16, _| {
            let shifted = crc << 1;
            if crc & 0x8000 == 0 {
                shifted
            } else {
                shifted ^ 0x1021
            }
        })
    })
}

impl Slots {
    /// What `CLUSTER SLOTS` answers at the node `asked`. Ranges that cannot be read have no
    /// master.
    pub(super) fn read(answer: &Value, asked: &Address) -> Self {
        let mut slots = Self::default();
        for range in answer.as_sequence().unwrap_or_default() {
            let Some([first, last, master, ..]) = range.as_sequence() else {
                continue;
            };
            let Some([host, port, ..]) = master.as_sequence() else {
                continue;
            };
            let number = |value| redis::from_redis_value_ref::<u16>(value).ok();
            let (Some(first), Some(last), Some(port)) = (number(first), number(last), number(port))
            else {
                continue;
            };
            let host: Option<String> = redis::from_redis_value_ref(host).unwrap_or_default();
            let master = asked.beside(known(&host.unwrap_or_default()), port);
            slots.assign(first..=last.min(SLOTS - 1), &master);
        }
        slots
    }

    /// A node has said who has these slots now.
    pub(super) fn assign(&mut self, slots: RangeInclusive<u16>, master: &Address) {
        if slots.is_empty() {
            return;
        }
        let known = self.masters.iter().position(|known| known == master);
        let master = known.unwrap_or_else(|| {
            self.masters.push(master.clone());
            self.masters.len() - 1
        });
        let slots = usize::from(*slots.start())..usize::from(*slots.end()) + 1;
        if self.of.len() < slots.end {
            self.of.resize(slots.end, None);
        }
        if let Some(of) = self.of.get_mut(slots) {
            of.fill(Some(master));
        }
    }

    pub(super) fn master(&self, slot: u16) -> Option<&Address> {
        let master = *self.of.get(usize::from(slot))?;
        self.masters.get(master?)
    }

    pub(super) fn masters(&self) -> &[Address] {
        &self.masters
    }

    pub(super) fn has(&self, place: &Place) -> bool {
        self.masters.iter().any(|master| master.place == *place)
    }
}

/// The node that `asked` sends one to, as `host:port`; without a host the same one.
pub(super) fn redirected(asked: &Address, node: &str) -> Option<Address> {
    let (host, port) = node.rsplit_once(':')?;
    // An address of version 6 stands there without brackets.
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let port = port.parse().ok()?;
    if !host.is_empty() && !host.contains(':') {
        host_and_port(host).ok()?;
    }
    Some(asked.beside(known(host), port))
}

/// A node that does not know its own name leaves it to the one that asks.
fn known(host: &str) -> &str {
    match host {
        "?" => "",
        host => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address() -> Address {
        Address::parse("redis://app:secret@seed:7000").expect("an address")
    }

    fn text(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    fn range(first: i64, last: i64, host: Value, port: i64) -> Value {
        let node = Value::Array(vec![host, Value::Int(port), text("id")]);
        Value::Array(vec![Value::Int(first), Value::Int(last), node])
    }

    /// The numbers stand in the specification of Redis Cluster, and a server told the others.
    #[test]
    fn the_slot_of_a_key_is_the_one_that_a_server_computes() {
        assert_eq!(crc16(b"123456789"), 0x31c3);
        assert_eq!(slot("foo"), 12_182);
        assert_eq!(slot("breakerbox:{foo}"), 12_182);
        assert_eq!(slot("breakerbox:{foo}:journal"), 12_182);
        assert_eq!(slot("{}foo"), crc16(b"{}foo") % SLOTS);
    }

    #[test]
    fn each_slot_has_the_master_of_its_range() {
        let answer = Value::Array(vec![
            range(0, 99, text("10.0.0.7"), 7001),
            range(200, 16_383, Value::Nil, 7002),
            range(199, 100, text("10.0.0.8"), 7003),
            Value::Okay,
        ]);
        let slots = Slots::read(&answer, &address());
        let place = |slot| slots.master(slot).map(|master| master.place.to_string());
        assert_eq!(place(0).as_deref(), Some("10.0.0.7:7001"));
        assert_eq!(place(99).as_deref(), Some("10.0.0.7:7001"));
        assert_eq!(place(100), None);
        assert_eq!(place(16_383).as_deref(), Some("seed:7002"));
        assert_eq!(slots.masters().len(), 2);
    }

    #[test]
    fn a_node_that_was_moved_to_has_the_slot_and_only_that() {
        let mut slots = Slots::default();
        slots.assign(7..=7, &address());
        slots.assign(
            8..=8,
            &redirected(&address(), "10.0.0.9:7009").expect("a node"),
        );
        assert_eq!(slots.master(7), Some(&address()));
        let place = &slots.master(8).expect("a master").place;
        assert_eq!(place.to_string(), "10.0.0.9:7009");
        assert!(slots.has(place) && slots.master(9).is_none());
    }

    #[test]
    fn a_node_may_be_named_in_every_way_that_servers_have() {
        let named = |node: &str| redirected(&address(), node).map(|node| node.place.to_string());
        assert_eq!(named(":7009").as_deref(), Some("seed:7009"));
        assert_eq!(named("?:7009").as_deref(), Some("seed:7009"));
        assert_eq!(named("::1:7009").as_deref(), Some("[::1]:7009"));
        assert_eq!(named("node-9:7009").as_deref(), Some("node-9:7009"));
        assert_eq!(named("node-9"), None);
        assert_eq!(named(""), None);
    }
}

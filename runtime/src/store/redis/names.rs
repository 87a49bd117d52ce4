//! Finds the addresses of hosts by name, with one look-up at a time to each.
//!
//! The resolver of the system cannot be told that nobody waits any more: a look-up that a name
//! server does not answer keeps a thread until the system gives it up, after longer than any
//! attempt to connect lasts. So the attempts after it wait for the same one.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use tokio::sync::watch;

/// All clones share their look-ups.
#[derive(Clone, Default)]
pub(super) struct Names(Arc<Mutex<HashMap<String, Coming>>>);

/// What comes of a look-up, once it has.
type Coming = watch::Receiver<Option<Found>>;

/// The addresses, without a port, or why there are none.
type Found = Result<Vec<SocketAddr>, (io::ErrorKind, String)>;

impl Names {
    pub(super) async fn find(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        self.find_by(host, port, |host| async move {
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            Ok(found.collect())
        })
        .await
    }

    async fn find_by<F>(
        &self,
        host: &str,
        port: u16,
        resolve: impl FnOnce(String) -> F,
    ) -> io::Result<Vec<SocketAddr>>
    where
        F: Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'static,
    {
        let mut coming = self.want(host, resolve);
        let found = match coming.wait_for(Option::is_some).await {
            Ok(found) => found.clone(),
            // The runtime on which it was looked up is gone.
            Err(_) => None,
        };
        match found {
            Some(Ok(mut addresses)) => {
                for address in &mut addresses {
                    address.set_port(port);
                }
                Ok(addresses)
            }
            Some(Err((kind, why))) => Err(io::Error::new(kind, why)),
            None => Err(io::Error::other("the look-up of its name was given up")),
        }
    }

    /// What comes of the look-up that is under way, or of one that begins now.
    fn want<F>(&self, host: &str, resolve: impl FnOnce(String) -> F) -> Coming
    where
        F: Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'static,
    {
        let mut under_way = self.under_way();
        if let Some(coming) = under_way.get(host)
            && coming.has_changed().is_ok()
        {
            return coming.clone();
        }
        let (sender, coming) = watch::channel(None);
        under_way.insert(host.to_owned(), coming.clone());
        drop(under_way);
        let (names, host) = (self.clone(), host.to_owned());
        let resolving = resolve(host.clone());
        tokio::spawn(async move {
            let found = resolving.await;
            names.under_way().remove(&host);
            sender.send_replace(Some(
                found.map_err(|error| (error.kind(), error.to_string())),
            ));
        });
        coming
    }

    fn under_way(&self) -> MutexGuard<'_, HashMap<String, Coming>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::oneshot;

    use super::*;

    /// No attempt waits at all: nobody answers before it is over.
    const ATTEMPT: Duration = Duration::ZERO;

    fn addresses(port: u16) -> Vec<SocketAddr> {
        let hosts = ["10.0.0.7".parse(), "::1".parse()];
        let address = |host: Result<_, _>| SocketAddr::new(host.expect("an address"), port);
        hosts.map(address).to_vec()
    }

    #[tokio::test]
    async fn attempts_that_come_while_a_name_is_looked_up_wait_for_the_same() {
        let names = Names::default();
        let (answer, answered) = oneshot::channel();
        let looking_up = names.find_by("cache", 6379, |_| async {
            answered.await.map_err(io::Error::other)
        });
        let first = tokio::time::timeout(ATTEMPT, looking_up).await;
        assert!(first.is_err(), "the name server does not answer");
        let again = |_| async { panic!("it is looked up once more") };
        for _ in 0..10 {
            let other = names.find_by("cache", 6379, again);
            let other = tokio::time::timeout(ATTEMPT, other).await;
            assert!(other.is_err(), "it still does not");
        }
        let (last, ()) = tokio::join!(names.find_by("cache", 7000, again), async {
            answer.send(addresses(0)).expect("it is waited for");
        });
        assert_eq!(last.expect("an answer"), addresses(7000));
    }

    #[tokio::test]
    async fn what_was_answered_is_asked_anew_the_next_time_and_each_host_by_itself() {
        let names = Names::default();
        let nobody = |_| async { Err(io::Error::new(io::ErrorKind::NotFound, "no such host")) };
        let error = names.find_by("cache", 6379, nobody).await;
        let error = error.expect_err("there is none");
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (io::ErrorKind::NotFound, "no such host")
        );
        let never = |_| std::future::pending();
        drop(names.want("other", never));
        let found = names.find_by("cache", 6379, |host| async move {
            assert_eq!(host, "cache");
            Ok(addresses(0))
        });
        assert_eq!(found.await.expect("an answer"), addresses(6379));
        assert_eq!(names.under_way().len(), 1, "nothing is kept of it");
    }

    #[test]
    fn a_look_up_whose_runtime_is_gone_is_begun_anew() {
        let runtime = || {
            let mut builder = tokio::runtime::Builder::new_current_thread();
            builder.build().expect("a runtime")
        };
        let names = Names::default();
        let never = |_| std::future::pending();
        let gone = runtime();
        let coming = gone.block_on(async { names.want("cache", never) });
        drop(gone);
        assert!(coming.has_changed().is_err());
        let found = runtime().block_on(names.find_by("cache", 1, |_| async { Ok(addresses(0)) }));
        assert_eq!(found.expect("an answer"), addresses(1));
    }
}

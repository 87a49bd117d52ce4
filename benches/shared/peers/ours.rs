//! Ours.

use breakerbox::Policy;
use breakerbox_servers::Server;

use crate::fleet::Fleet;
use crate::peers::COOLDOWN;
use crate::peers::Design;
use crate::peers::INSTANCES;
use crate::peers::THRESHOLD;

pub(super) struct Shared(Fleet);

impl Shared {
    pub(super) fn start(server: &Server) -> Self {
        let policy = Policy::new().threshold(THRESHOLD).cooldown(COOLDOWN);
        Self(Fleet::start(server, INSTANCES, policy))
    }
}

impl Design for Shared {
    async fn call(&self, instance: usize, succeeds: bool) -> bool {
        let breaker = self.0.instances[instance].breaker;
        match breaker.acquire().await {
            Ok(permit) if succeeds => permit.success(),
            Ok(permit) => permit.failure(),
            Err(_) => return false,
        }
        true
    }

    fn sent(&self) -> Option<u64> {
        None
    }
}

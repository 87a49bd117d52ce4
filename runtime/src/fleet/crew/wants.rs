//! Tells all processes what somebody here wants of them.

use crate::fleet::crew::Crew;
use crate::member::Wish;
use crate::rules::fleet::Command;
use crate::rules::fleet::Force;
use crate::rules::fleet::Status;
use crate::store::StoreError;

impl Crew {
    /// Tells all what somebody here wants. A person has asked for it, so it is tried once more
    /// where it was not done; and where nobody knows whether it was, it is answered, to be tried
    /// again. What would do harm if it was done twice is tried again only where nothing has
    /// happened since: it would have.
    pub(super) async fn force(&mut self, mut wish: Wish) -> Option<Wish> {
        let force = wish.now()?;
        let known = self.member.known().epoch;
        if let Some(before) = wish.tell_in(known)
            && !wish.is_harmless()
        {
            match self.submit(self.view(), Command::Sync).await {
                Ok(reply) if reply.snapshot.epoch != before => return None,
                Ok(_) => {}
                Err(error) if error.is_about_one_circuit() => return None,
                Err(_) => return Some(wish),
            }
        }
        let is_cover = matches!(force, Force::Cover { .. });
        let command = Command::Force(force);
        let mut done = self.submit(self.view(), command.clone()).await;
        if matches!(done, Err(StoreError::Late))
            || matches!(done, Err(StoreError::TimedOut)) && wish.is_harmless()
        {
            done = self.submit(self.view(), command).await;
        }
        match done {
            Ok(reply) => {
                if let (true, Some(cover)) = (is_cover, &reply.snapshot.cover) {
                    wish.began(cover.id);
                }
                // Now that it is answered, what was heard meanwhile is in force, too.
                let resetting = wish.answered();
                self.hear(&reply, false);
                drop(resetting);
                None
            }
            Err(error) if error.is_about_one_circuit() => None,
            Err(_) => Some(wish),
        }
    }

    /// Tells all which numbers somebody here has changed, and says whether they know. What
    /// cannot be told now is told when it is known again how the circuit stands.
    pub(super) async fn renumber(&mut self) -> bool {
        loop {
            let sending = self.member.live().send();
            let Some((text, after)) = sending else {
                return true;
            };
            let command = Command::Force(Force::Renumber { text, after });
            let answer = self.submit(self.view(), command).await;
            match answer {
                Ok(reply) if reply.status == Status::Done => {
                    self.breaker.told_live(self.member, reply.snapshot.live);
                    self.hear(&reply, false);
                }
                Ok(_) => {
                    self.member.live().failed();
                    // Others have changed something, too; it is put on that.
                    if !self.look().await {
                        return false;
                    }
                }
                Err(_) => {
                    self.member.live().failed();
                    self.member.ask_again();
                    return false;
                }
            }
        }
    }
}

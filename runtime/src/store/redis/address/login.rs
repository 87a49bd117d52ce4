//! Who connects, and what proves it.

use std::fmt;

use crate::store::redis::address::AddressError;
use crate::store::redis::address::escape::unescape;

/// Who connects. Without a password nobody logs in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::store::redis) struct Login {
    pub(in crate::store::redis) user: Option<String>,
    pub(in crate::store::redis) password: Option<Password>,
}

/// A password, which nothing shows.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::store::redis) struct Password(String);

impl Login {
    pub(super) fn parse(text: &str) -> Result<Self, AddressError> {
        let (user, password) = match text.split_once(':') {
            Some((user, password)) => (unescape(user)?, Some(Password(unescape(password)?))),
            None => (unescape(text)?, None),
        };
        let login = Self {
            user: Some(user).filter(|user| !user.is_empty()),
            password: password.filter(|password| !password.0.is_empty()),
        };
        login.check()?;
        Ok(login)
    }

    pub(in crate::store::redis) fn new(user: Option<String>, password: Option<String>) -> Self {
        Self {
            user,
            password: password.map(Password),
        }
    }

    pub(in crate::store::redis) fn check(&self) -> Result<(), AddressError> {
        match (&self.user, &self.password) {
            (Some(_), None) => Err(AddressError::Password),
            (Some(_) | None, _) => Ok(()),
        }
    }
}

impl Password {
    /// For the server, and nobody else.
    pub(in crate::store::redis) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(a password)")
    }
}

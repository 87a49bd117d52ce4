//! A store in Redis.

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod differential;
#[cfg(test)]
mod twin;
mod wire;

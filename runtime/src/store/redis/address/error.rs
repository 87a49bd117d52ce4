//! Why what was said of a Redis cannot be used.
//!
//! No error of it quotes what was written, since that may be a part of a password.

/// Why an address of Redis cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// It begins with none of the schemes that are known.
    #[error(
        "an address of Redis begins with redis://, rediss://, redis+unix:// or unix://, or the same \
         with valkey, as in redis://localhost:6379"
    )]
    Scheme,
    /// It names no host.
    #[error("the address of Redis names no host, as in redis://localhost:6379")]
    Host,
    /// Its port is not one.
    #[error(
        "the port in the address of Redis is not a number from 1 to 65535; where it is a part of \
         a password, write / as %2F, ? as %3F, # as %23 and @ as %40"
    )]
    Port,
    /// Its database is not one.
    #[error("the database in the address of Redis is not a number, as in redis://localhost:6379/2")]
    Database,
    /// A `%` in it is followed by something else than two hexadecimal digits.
    #[error(
        "a % in the address of Redis is not followed by two hexadecimal digits; write % as %25"
    )]
    Escape,
    /// It has a parameter that is not known.
    #[error(
        "an address of Redis has no parameters but db, user and pass, and these with a socket; in \
         a password write ? as %3F and # as %23"
    )]
    Parameter,
    /// It names no socket.
    #[error("the address of Redis names no socket, as in redis+unix:///run/redis.sock")]
    Socket,
    /// A user was given without a password.
    #[error("the address of Redis has a user and no password, as in redis://user:password@host")]
    Password,
    /// A list of addresses is empty.
    #[error("Redis needs one address at least")]
    None,
    /// Addresses in a list that cannot be there: a socket, or one of another scheme.
    #[error("Sentinels and the nodes of a cluster are either all redis:// or all rediss://")]
    Mixed,
    /// The master that Sentinels are asked for has no name.
    #[error("Sentinels are asked for the name of a master, and it is empty")]
    Master,
    /// A database was given where there is none.
    #[error(
        "a cluster has no databases, and a Sentinel neither: say that of its master with \
         Redis::database"
    )]
    NoDatabase,
    /// TLS is not compiled in.
    #[error("rediss:// needs the feature `redis-tls` of breakerbox")]
    NoTls,
    /// There are files of TLS, and no address to speak it at.
    #[error(
        "certificates are of use with rediss:// alone, and the address of Redis is another one"
    )]
    NotOverTls,
    /// A file of TLS cannot be read or does not hold what it should.
    #[error("{0}")]
    Certificate(String),
    /// The prefix of the keys is not one.
    #[error(
        "the prefix of the keys in Redis has 1 to 128 bytes and no braces, bars, spaces or \
         control characters"
    )]
    Prefix,
    /// The lease is too short or too long.
    #[error("the lease of a connection to Redis is from 100ms to 60s")]
    Lease,
    /// The name of the process is not one.
    #[error("the name of an instance has 1 to 64 bytes and no bars or control characters")]
    Instance,
}

//! What the compiler says.

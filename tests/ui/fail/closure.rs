//! M86: a closure is an expression.
use breakerbox::circuit_breaker;

fn main() {
    #[circuit_breaker(service = "a")]
    let f = || 1;
    let _ = f();
}

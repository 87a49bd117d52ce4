//! M86 B220 B236: items that are no function with a body.
use breakerbox::circuit_breaker;

#[circuit_breaker(service = "a")]
pub struct Struct;

#[circuit_breaker(service = "a")]
enum Enum {}

#[circuit_breaker(service = "a")]
impl Struct {
    fn f() {}
}

#[circuit_breaker(service = "a")]
trait Trait {
    #[circuit_breaker(service = "a")]
    async fn no_body(&self) -> Result<(), breakerbox::Rejected>;
}

#[circuit_breaker(service = "a")]
mod module {}

#[circuit_breaker(service = "a")]
const CONSTANT: fn() -> u8 = || 1;

#[circuit_breaker(service = "a")]
static STATIC: u8 = 1;

#[circuit_breaker(service = "a")]
type Alias = u8;

#[circuit_breaker(service = "a")]
unsafe extern "C" {
    fn foreign();
}

#[circuit_breaker(service = "a")]
use std::fmt::Debug as _;

#[circuit_breaker(service = "a")]
macro_rules! make {
    () => {};
}

#[circuit_breaker(service = "a")]
make! {}

#[circuit_breaker(service = "a")]
const fn constant() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

#[async_trait::async_trait]
trait Boxed {
    #[circuit_breaker(service = "a")]
    async fn f(&self) -> Result<(), breakerbox::Rejected>;
}

#[circuit_breaker(service = "a")]
#[circuit_breaker(service = "b")]
async fn two() -> Result<(), breakerbox::Rejected> {
    Ok(())
}

// What is wrong with an attribute is not wrong with the item.
fn main() {
    let _: Struct = Struct;
    let _ = (CONSTANT, STATIC, two());
    const _: Result<(), breakerbox::Rejected> = constant();
    make!();
}

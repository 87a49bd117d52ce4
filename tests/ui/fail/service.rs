//! M85: services that have no name, or one that nobody can read.
use breakerbox::circuit_breaker;

type Answer = Result<(), breakerbox::Rejected>;

#[circuit_breaker]
async fn bare() -> Answer {
    Ok(())
}

#[circuit_breaker()]
async fn empty() -> Answer {
    Ok(())
}

#[circuit_breaker(threshold = 5)]
async fn without_service() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "")]
async fn empty_name() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a\nb")]
async fn control_characters() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789")]
async fn too_long() -> Answer {
    Ok(())
}

#[circuit_breaker(service = 5)]
async fn number() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", operation = "")]
async fn empty_operation() -> Answer {
    Ok(())
}

#[circuit_breaker(handle = breaker, service = "a", threshold = 5, cooldown = "5s", operation = "b", on_cancel = failure)]
async fn handle_and_numbers(breaker: &breakerbox::Breaker) -> Answer {
    Ok(())
}

fn main() {
    let _ = (bare(), empty(), without_service());
}

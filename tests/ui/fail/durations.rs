//! M85: durations that are none.
use breakerbox::circuit_breaker;

type Answer = Result<(), breakerbox::Rejected>;

#[circuit_breaker(service = "a", cooldown = "60", probe_timeout = "sixty")]
async fn without_unit() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", cooldown = 60, probe_timeout = 30s)]
async fn without_quotes() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", cooldown = "1.5s", probe_timeout = "-5s")]
async fn fraction() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", cooldown = "3 parsecs", probe_timeout = "5 minutes")]
async fn unknown_unit() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", cooldown = "30s1m", probe_timeout = "1s1s")]
async fn order() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", cooldown = "0s", probe_timeout = "", max_open_for = "0ms")]
async fn nothing() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", cooldown = true)]
async fn other_literal() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", on_cancel = after("2"))]
async fn after_without_unit() -> Answer {
    Ok(())
}

fn main() {}

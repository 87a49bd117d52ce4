//! M85: keys that are unknown, double, empty or in the wrong form; all at once.
use breakerbox::circuit_breaker;

type Answer = Result<(), breakerbox::Rejected>;

#[circuit_breaker(service = "a", treshold = 5, cooldown = "60", fails_on, probes = 0)]
async fn many() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", reset_timeout = "60s", failure_threshold = 5, window = "60s")]
async fn names_of_others() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", threshold = 5, threshold = 6, boxed, boxed)]
async fn twice() -> Answer {
    Ok(())
}

#[circuit_breaker(service("a"), threshold: 5)]
async fn other_forms() -> Answer {
    Ok(())
}

#[circuit_breaker("a")]
async fn only_a_value() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a" threshold = 5)]
async fn no_comma() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", threshold = 5 6, , 7)]
async fn stray() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", boxed = true, wrap_error())]
async fn flags() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", operation = name, crate = "breakerbox")]
async fn literals() -> Answer {
    Ok(())
}

#[circuit_breaker(service = , cooldown = "60s")]
async fn no_value() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", Threshold = 5)]
async fn upper_case() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", on_cancel = "ignore")]
async fn quoted_word() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", on_cancel = after())]
async fn after_nothing() -> Answer {
    Ok(())
}

fn main() {}

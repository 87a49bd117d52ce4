//! Predicates and closures in a form that cannot be asked.
use breakerbox::circuit_breaker;

type Answer = Result<(), breakerbox::Rejected>;

fn is_infra(_: &breakerbox::Rejected) -> bool {
    true
}

#[circuit_breaker(service = "a", fails_on = matches(is_infra))]
async fn binding() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", fails_on = matches(_), ignores = matches())]
async fn everything() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", fails_on = matches!(e, E::A))]
async fn macro_call() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", fails_on = matches(e, E::A))]
async fn two_patterns() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", fails_on = is_infra(), ignores = "timeout")]
async fn values() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", fails_on = || true, ignores = |a, b| a == b)]
async fn arguments() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", fails_on = async |e| check(e).await)]
async fn awaiting() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", classify = true, map_rejected = 5)]
async fn not_callable() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", fallback = async |rejected| cached().await)]
async fn async_fallback() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", fallback = || Ok(()))]
async fn fallback_without_argument() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", fallback = Ok(()), fallback_when = "any")]
async fn quoted_when() -> Answer {
    Ok(())
}

#[circuit_breaker(service = "a", fallback = Ok(()), fallback_when = 5)]
async fn other_when() -> Answer {
    Ok(())
}

fn main() {}

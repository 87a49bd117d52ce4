//! What a stack adds to a future: bytes, and depth of types.

use breakerbox::circuit_breaker;
use breakerbox::resilient;
use breakerbox::retry;
use breakerbox::timeout;

type Answer = Result<usize, breakerbox::Error<u8>>;

async fn leaf() {
    let buffer = [0_u8; 256];
    tokio::task::yield_now().await;
    std::hint::black_box(&buffer);
}

macro_rules! stacked {
    ($plain:ident, $alone:ident, $three:ident, $all:ident, ($($arg:ident: $ty:ty),*) $body:block) => {
        async fn $plain($($arg: $ty),*) -> Answer $body

        #[timeout("2s")]
        async fn $alone($($arg: $ty),*) -> Answer $body

        #[retry(idempotent)]
        #[circuit_breaker(service = "stack-cost")]
        #[timeout("2s")]
        async fn $three($($arg: $ty),*) -> Answer $body

        #[resilient(
            service = "stack-cost",
            fallback(|rejected| Err(rejected.into())),
            timeout("8s"),
            retry(idempotent),
            circuit_breaker,
            rate_limit("100/s", max_wait = "1ms"),
            bulkhead(max_concurrent = 5, max_wait = "1ms"),
            timeout("2s")
        )]
        async fn $all($($arg: $ty),*) -> Answer $body
    };
}

stacked!(plain, alone, three, all, () {
    leaf().await;
    Ok(1)
});
stacked!(plain_borrowing, alone_borrowing, three_borrowing, all_borrowing, (a: &[u8; 1024], b: &str) {
    leaf().await;
    Ok(a.len() + b.len())
});
stacked!(plain_owning, alone_owning, three_owning, all_owning, (a: [u8; 1024]) {
    leaf().await;
    Ok(a.len())
});
stacked!(plain_large, alone_large, three_large, all_large, () {
    let local = [1_u8; 65_536];
    leaf().await;
    Ok(usize::from(local[7]))
});

#[test]
fn three_layers_are_at_most_twice_the_plain_future() {
    macro_rules! sizes {
        ($plain:ident, $alone:ident, $three:ident, $all:ident($($argument:expr),*)) => {{
            let plain = size_of_val(&$plain($($argument),*));
            let alone = size_of_val(&$alone($($argument),*));
            let three = size_of_val(&$three($($argument),*));
            let all = size_of_val(&$all($($argument),*));
            println!("{}: {plain}, timeout {alone}, three {three}, all {all}", stringify!($plain));
            assert!(three <= 2 * plain, "{}: {plain}, {three}", stringify!($three));
            assert!(all <= plain + 256, "{}: {plain}, {all}", stringify!($all));
        }};
    }
    sizes!(plain, alone, three, all());
    sizes!(
        plain_borrowing,
        alone_borrowing,
        three_borrowing,
        all_borrowing(&[0; 1024], "")
    );
    sizes!(
        plain_owning,
        alone_owning,
        three_owning,
        all_owning([0; 1024])
    );
    sizes!(plain_large, alone_large, three_large, all_large());
}

/// B255
#[tokio::test]
async fn a_chain_of_twelve_functions_with_three_layers_can_be_spawned() {
    macro_rules! chain {
        ($($f:ident calls $g:ident;)*) => {
            $(
                #[retry(idempotent)]
                #[circuit_breaker(service = "stack-chain")]
                #[timeout("2s")]
                async fn $f() -> Answer {
                    $g().await
                }
            )*
        };
    }
    chain! {
        f01 calls three; f02 calls f01; f03 calls f02; f04 calls f03; f05 calls f04;
        f06 calls f05; f07 calls f06; f08 calls f07; f09 calls f08; f10 calls f09;
        f11 calls f10;
    }
    assert_eq!(tokio::spawn(f11()).await.unwrap(), Ok(1));
}

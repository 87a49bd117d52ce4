//! What a guard adds to a future: bytes, and depth of types.

use std::io;

use breakerbox::circuit_breaker;

type Answer = Result<usize, io::Error>;

/// One layer may add this much: the permit, a reference to it, and a state.
const LAYER: usize = 40;

async fn leaf() {
    let buffer = [0_u8; 256];
    tokio::task::yield_now().await;
    std::hint::black_box(&buffer);
}

macro_rules! layers {
    ($plain:ident, $guarded:ident, ($($arg:ident: $ty:ty),*) $body:block) => {
        async fn $plain($($arg: $ty),*) -> Answer $body

        #[circuit_breaker(service = "cost")]
        async fn $guarded($($arg: $ty),*) -> Answer $body
    };
}

layers!(plain, guarded, () {
    leaf().await;
    Ok(1)
});
layers!(plain_borrowing, guarded_borrowing, (a: &[u8; 1024], b: &str) {
    leaf().await;
    Ok(a.len() + b.len())
});
layers!(plain_owning, guarded_owning, (a: [u8; 1024]) {
    leaf().await;
    Ok(a.len())
});
layers!(plain_large, guarded_large, () {
    let local = [1_u8; 65_536];
    leaf().await;
    Ok(usize::from(local[7]))
});
layers!(plain_twice, guarded_twice, () {
    plain().await?;
    plain_borrowing(&[0; 1024], "x").await
});

layers!(plain_dropping, guarded_dropping, (a: Vec<[u8; 16]>, b: String, c: &str) {
    leaf().await;
    Ok(a.len() + b.len() + c.len())
});

#[test]
fn one_layer_adds_at_most_forty_bytes() {
    macro_rules! added {
        ($plain:ident, $guarded:ident($($argument:expr),*)) => {{
            let plain = size_of_val(&$plain($($argument),*));
            let guarded = size_of_val(&$guarded($($argument),*));
            println!("{}: plain {plain}, guarded {guarded}", stringify!($guarded));
            assert!(guarded <= plain + LAYER, "{}", stringify!($guarded));
        }};
    }
    added!(plain, guarded());
    added!(plain_borrowing, guarded_borrowing(&[0; 1024], ""));
    added!(plain_owning, guarded_owning([0; 1024]));
    added!(plain_dropping, guarded_dropping(vec![], String::new(), ""));
    added!(plain_large, guarded_large());
    added!(plain_twice, guarded_twice());
}

/// M89
#[test]
fn layers_add_up_and_do_not_multiply() {
    #[circuit_breaker(service = "cost-1")]
    async fn one() -> Answer {
        guarded_large().await
    }
    #[circuit_breaker(service = "cost-2")]
    async fn two() -> Answer {
        one().await
    }
    #[circuit_breaker(service = "cost-3")]
    async fn three() -> Answer {
        two().await
    }
    let plain = size_of_val(&plain_large());
    let guarded = size_of_val(&three());
    println!("four layers: plain {plain}, guarded {guarded}");
    assert!(
        guarded <= plain + 4 * (LAYER + 16),
        "plain {plain}, guarded {guarded}"
    );
}

#[test]
fn what_is_given_after_the_body_costs_no_more() {
    #[circuit_breaker(
        service = "cost-fallback",
        fails_on = |error| error.kind() == io::ErrorKind::TimedOut,
        fallback_when = any,
        fallback = |error| Err(error)
    )]
    async fn fallback() -> Answer {
        leaf().await;
        Ok(1)
    }
    let added = size_of_val(&fallback()) - size_of_val(&plain());
    println!("fallback: added {added}");
    assert!(added <= LAYER);
}

/// The handle that keeps the breaker of the key.
#[test]
fn a_key_costs_two_words() {
    #[circuit_breaker(service = "cost-key", key = "a".to_owned())]
    async fn keyed() -> Answer {
        leaf().await;
        Ok(1)
    }
    let added = size_of_val(&keyed()) - size_of_val(&plain());
    println!("key: added {added}");
    assert!(added <= LAYER + 16);
}

#[test]
fn a_boxed_body_costs_a_pointer() {
    #[circuit_breaker(service = "cost-boxed", boxed)]
    async fn boxed() -> Answer {
        guarded_large().await
    }
    println!("boxed: {}", size_of_val(&boxed()));
    assert!(size_of_val(&boxed()) <= 128);
}

macro_rules! chain {
    ($($f:ident calls $g:ident;)*) => {
        $(
            #[circuit_breaker(service = "chain")]
            async fn $f() -> Answer {
                $g().await
            }
        )*
    };
}

/// B255: under the recursion limit that every crate has.
#[tokio::test]
async fn a_chain_of_fifteen_guarded_functions_can_be_spawned() {
    chain! {
        f01 calls guarded; f02 calls f01; f03 calls f02; f04 calls f03; f05 calls f04;
        f06 calls f05; f07 calls f06; f08 calls f07; f09 calls f08; f10 calls f09;
        f11 calls f10; f12 calls f11; f13 calls f12; f14 calls f13;
    }
    assert_eq!(tokio::spawn(f14()).await.unwrap().unwrap(), 1);
}

/// B255: rustc works out the size of the outermost first if it is written first, and
/// has then to go all the way down in one go.
#[tokio::test]
async fn a_chain_written_from_the_outside_in_can_be_spawned() {
    chain! {
        f12 calls f11; f11 calls f10; f10 calls f09; f09 calls f08; f08 calls f07;
        f07 calls f06; f06 calls f05; f05 calls f04; f04 calls f03; f03 calls f02;
        f02 calls f01; f01 calls innermost;
    }
    #[circuit_breaker(service = "chain")]
    async fn innermost() -> Answer {
        tokio::task::yield_now().await;
        Ok(1)
    }
    assert_eq!(tokio::spawn(f12()).await.unwrap().unwrap(), 1);
}

/// `boxed` ends the chain for the compiler.
#[tokio::test]
async fn a_boxed_body_starts_a_chain_of_its_own() {
    #[circuit_breaker(service = "chain", boxed)]
    async fn middle() -> Answer {
        f12().await
    }
    chain! {
        f24 calls f23; f23 calls f22; f22 calls f21; f21 calls f20; f20 calls f19;
        f19 calls f18; f18 calls f17; f17 calls f16; f16 calls f15; f15 calls middle;
        f12 calls f11; f11 calls f10; f10 calls f09; f09 calls f08; f08 calls f07;
        f07 calls f06; f06 calls f05; f05 calls f04; f04 calls f03; f03 calls f02;
        f02 calls f01; f01 calls guarded;
    }
    assert_eq!(tokio::spawn(f24()).await.unwrap().unwrap(), 1);
}

/// B256
#[test]
fn a_small_stack_is_enough() {
    let small = std::thread::Builder::new().stack_size(256 * 1024);
    let thread = small.spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async { guarded_four_kilobytes().await.unwrap() })
    });
    assert_eq!(thread.unwrap().join().unwrap(), 1);
}

layers!(_plain_four_kilobytes, guarded_four_kilobytes, () {
    let local = [1_u8; 4096];
    leaf().await;
    Ok(usize::from(local[7]))
});

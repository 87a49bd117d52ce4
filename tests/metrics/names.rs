//! Services with names that have to be escaped.

use breakerbox::BuildError;
use breakerbox::Problem;
use breakerbox::Registry;

use super::Exporter;
use super::series::is_untouched;

/// B205
#[test]
fn a_service_may_have_any_printable_name_and_comes_back_from_the_scrape_as_it_is() {
    let names = [
        "Zahlungen \"A\"",
        r"C:\queue",
        r"ends with \",
        "größe 測試 🦀",
        "{service=\"x\",y=\"\"}",
        "# HELP me",
        "a,b=c} 1",
        "'",
        "\u{2028}\u{feff}",
        "NaN",
        &"ü".repeat(64),
    ];
    let mut builder = Registry::builder();
    for name in names {
        builder = builder.declare(name);
    }
    let scrape = Exporter::new().published(&builder.build().unwrap());
    for name in names {
        is_untouched(&scrape, name);
    }
}

/// B205: the exporter takes two backslashes, or one before a quote, for an escape that was
/// made already, and so shows another name. The scrape stays whole all the same.
#[test]
fn a_name_that_looks_escaped_does_not_break_the_scrape() {
    let registry = Registry::builder()
        .declare(r#"a\"b"#)
        .declare(r"\\server\queue")
        .build();
    let scrape = Exporter::new().published(&registry.unwrap());
    let (_, states) = scrape
        .families()
        .find(|(name, _)| *name == "breakerbox_state")
        .unwrap();
    let services = states.series.keys().map(|labels| &*labels["service"]);
    let shown = services.filter(|name| name.contains('\\') || name.contains('"'));
    assert!(shown.count() >= 6);
}

/// B205
#[test]
fn a_name_with_a_newline_is_refused() {
    let refused = Registry::builder().declare("a\nb").build();
    let Err(BuildError::Problems(problems)) = refused else {
        panic!("{refused:?}");
    };
    assert!(
        matches!(&*problems, [Problem::Name { name, .. }] if name == "a\nb"),
        "{problems:?}"
    );
}

//! The effective numbers are told once a service, and again when they change.

use std::sync::Arc;

use breakerbox::Event;
use breakerbox::Key;
use breakerbox::Policy;
use breakerbox::Registry;
use breakerbox::Setting;

use super::Folder;
use crate::observers::hearing;

type Told = (&'static str, Arc<[Setting]>);

fn configured(event: &Event) -> Option<Told> {
    match event {
        Event::Configured { service, settings } => Some((service, Arc::clone(settings))),
        _ => None,
    }
}

fn threshold((service, settings): &Told) -> (&'static str, String) {
    let setting = settings.iter().find(|it| it.key == Key::Threshold);
    (
        service,
        setting.map_or_else(String::new, Setting::to_string),
    )
}

#[test]
fn a_service_is_told_of_when_it_has_its_breaker_and_when_its_numbers_change() {
    let folder = Folder::new();
    let path = folder.write("a.toml", "[services.told]\nthreshold = 3\n");
    let builder = Registry::builder()
        .declare("told")
        .declare("untold")
        .config_file(&path);
    let (builder, heard) = hearing(builder, configured);
    let registry = builder.build().unwrap();
    assert_eq!(heard.by_now(), []);

    let breaker = registry.breaker("told").unwrap();
    let file = path.display();
    let from_file = format!("threshold = 3 ({file}:2)");
    assert_eq!(threshold(&heard.next()), ("told", from_file.clone()));
    breaker.update(|policy| policy.threshold(4)).unwrap();
    let live = "threshold = 4 (live change)".to_owned();
    assert_eq!(threshold(&heard.next()), ("told", live));
    breaker.clear_update();
    assert_eq!(threshold(&heard.next()), ("told", from_file));

    // The same from elsewhere is told, too; the very same is not.
    folder.write("a.toml", "\n[services.told]\nthreshold = 3\n");
    assert_eq!(registry.reload().unwrap().changes(), []);
    let moved = format!("threshold = 3 ({file}:3)");
    assert_eq!(threshold(&heard.next()), ("told", moved));
    assert_eq!(registry.reload().unwrap().changes(), []);
    breaker.update(|policy| policy).unwrap();
    breaker.update(|policy| policy.threshold(3)).unwrap();
    assert!(!breaker.clear_update());
    registry.close();
    assert_eq!(heard.to_the_end(), []);
}

#[test]
fn what_is_told_is_what_the_snapshot_shows() {
    let policy = Policy::new().threshold(2);
    let builder = Registry::builder().declare_with("told whole", policy);
    let (builder, heard) = hearing(builder, configured);
    let registry = builder.build().unwrap();
    let breaker = registry.breaker("told whole").unwrap();
    let (_, settings) = heard.next();
    assert_eq!(settings, breaker.snapshot().configuration);
    assert_eq!(settings.len(), policy.effective().count());
}

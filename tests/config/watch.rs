//! Files that are read again when they change. These wait for real time to pass.

use std::fs;

use breakerbox::BuildError;
use breakerbox::Event;
use breakerbox::Problem;
use breakerbox::Registry;
use breakerbox::Warning;

use super::Folder;
use crate::observers::Heard;
use crate::observers::eventually::eventually;
use crate::observers::hearing;

#[derive(Debug, PartialEq)]
enum Told {
    Good(usize),
    Wrong(String),
}

fn watching(path: &std::path::Path) -> (Registry, Heard<Told>) {
    let builder = Registry::builder()
        .declare("watched")
        .config_file(path)
        .watch();
    let (builder, heard) = hearing(builder, |event| match event {
        Event::Reloaded(reloaded) => Some(Told::Good(reloaded.changes().len())),
        Event::Warning(Warning::Configuration(error)) => Some(Told::Wrong(error.to_string())),
        _ => None,
    });
    (builder.build().expect("nothing is wrong"), heard)
}

fn threshold(registry: &Registry) -> Option<u32> {
    registry
        .breaker("watched")
        .expect("it is declared")
        .policy()
        .get_threshold()
}

fn text(threshold: u32) -> String {
    format!("[services.watched]\nthreshold = {threshold}\n")
}

#[test]
fn a_changed_file_is_in_force_soon_and_a_wrong_one_is_told_and_changes_nothing() {
    let folder = Folder::new();
    let path = folder.write("a.toml", text(3));
    let (registry, heard) = watching(&path);
    assert_eq!(threshold(&registry), Some(3));

    folder.write("a.toml", text(4));
    assert_eq!(heard.next(), Told::Good(1));
    assert_eq!(threshold(&registry), Some(4));

    folder.write("a.toml", text(0));
    let Told::Wrong(said) = heard.next() else {
        panic!("a wrong file is taken over");
    };
    let place = format!("{}:2: [services.watched] threshold: ", path.display());
    assert!(said.starts_with(&place), "{said}");
    assert_eq!(threshold(&registry), Some(4));

    // As it was before: good again, though nothing changes.
    folder.write("a.toml", text(4));
    assert_eq!(heard.next(), Told::Good(0));

    fs::remove_file(&path).unwrap();
    let Told::Wrong(said) = heard.next() else {
        panic!("a missing file is taken over");
    };
    assert!(said.contains("it cannot be read"), "{said}");
    assert_eq!(threshold(&registry), Some(4));
    folder.write("a.toml", text(5));
    assert_eq!(heard.next(), Told::Good(1));
    assert_eq!(threshold(&registry), Some(5));
    registry.close();
    assert_eq!(heard.to_the_end(), []);
}

#[test]
fn a_file_that_is_replaced_as_a_whole_is_seen() {
    let folder = Folder::new();
    let path = folder.write("a.toml", text(3));
    let (registry, heard) = watching(&path);
    for next in 4..6 {
        let new = folder.write("a.toml.new", text(next));
        fs::rename(new, &path).unwrap();
        assert_eq!(heard.next(), Told::Good(1));
        assert_eq!(threshold(&registry), Some(next));
    }
}

/// As Kubernetes replaces a mounted ConfigMap: the file's link stays, another link that is on
/// its way is renamed over.
#[cfg(unix)]
#[test]
fn a_file_behind_links_that_are_replaced_is_seen() {
    use std::os::unix::fs::symlink;

    let folder = Folder::new();
    let put = |version: u32, threshold| {
        let name = format!("..{version}");
        fs::create_dir(folder.path(&name)).unwrap();
        folder.write(&format!("{name}/a.toml"), text(threshold));
        symlink(&name, folder.path("..data_tmp")).unwrap();
        fs::rename(folder.path("..data_tmp"), folder.path("..data")).unwrap();
    };
    put(1, 3);
    let path = folder.path("a.toml");
    symlink("..data/a.toml", &path).unwrap();
    let (registry, heard) = watching(&path);
    put(2, 4);
    fs::remove_dir_all(folder.path("..1")).unwrap();
    assert_eq!(heard.next(), Told::Good(1));
    assert_eq!(threshold(&registry), Some(4));
}

/// The contents count, and not the time of the file.
#[test]
fn the_same_text_written_again_is_no_change() {
    let folder = Folder::new();
    let path = folder.write("a.toml", text(3));
    let (registry, heard) = watching(&path);
    folder.write("a.toml", text(3));
    folder.write("a.toml", text(4));
    assert_eq!(heard.next(), Told::Good(1));
    folder.write("a.toml", text(4));
    // Read on demand, it is not read once more by the watch.
    folder.write("a.toml", text(5));
    registry.reload().unwrap();
    assert_eq!(heard.next(), Told::Good(1));
    folder.write("a.toml", text(6));
    assert_eq!(heard.next(), Told::Good(1));
    registry.close();
    assert_eq!(heard.to_the_end(), []);
}

#[test]
fn a_registry_that_is_closed_no_longer_looks() {
    let folder = Folder::new();
    let path = folder.write("a.toml", text(3));
    let (closed, _) = watching(&path);
    closed.close();
    let (open, heard) = watching(&path);
    folder.write("a.toml", text(4));
    assert_eq!(heard.next(), Told::Good(1));
    // Another look of the one that is open is later than any of the closed one would be.
    folder.write("a.toml", text(5));
    eventually("the second change", || {
        (threshold(&open) == Some(5)).then_some(())
    });
    assert_eq!(threshold(&closed), Some(3));
    // On demand it reads.
    closed.reload().unwrap();
    assert_eq!(threshold(&closed), Some(5));
}

#[test]
fn watching_without_a_file_is_refused() {
    let refused = Registry::builder().config_toml("").watch().build();
    let Err(BuildError::Problems(problems)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(problems, [Problem::NothingToWatch]);
}

//! Files that cannot be read, or should not be.

use std::fs;
use std::path::Path;

use breakerbox::Registry;

use super::Folder;
use super::refused;
use super::with_path;

#[track_caller]
fn says(path: &Path, expected: &str) {
    let said = refused(Registry::builder().config_file(path));
    let [said] = &*said else {
        panic!("{said:?}");
    };
    let expected = with_path(expected, path);
    assert!(said.starts_with(&expected), "{said}\nnot {expected}");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let folder = Folder::new();
    says(
        &folder.path("none.toml"),
        "FILE: it cannot be read: No such file",
    );
}

#[test]
fn a_folder_is_not_a_file() {
    let folder = Folder::new();
    says(&folder.0, "FILE: it cannot be read: it is not a file");
}

/// Opening a pipe would wait for its other end, and reading it for ever.
#[cfg(unix)]
#[test]
fn what_is_endless_is_not_read() {
    says(
        Path::new("/dev/zero"),
        "FILE: it cannot be read: it is not a file",
    );
}

#[test]
fn a_file_of_a_mebibyte_is_read_and_a_longer_one_is_not() {
    let folder = Folder::new();
    let text = |length| {
        let mut text = "[services.long]\nthreshold = 3\n".to_owned();
        text.push_str(&"#".repeat(length - text.len()));
        text
    };
    let path = folder.write("long.toml", text(1 << 20));
    let builder = || Registry::builder().declare("long").config_file(&path);
    let registry = builder().build().unwrap();
    let long = registry.breaker("long").unwrap().policy();
    assert_eq!(long.get_threshold(), Some(3));
    folder.write("long.toml", text((1 << 20) + 1));
    let said = refused(builder());
    assert_eq!(said, [with_path("FILE: it is longer than 1 MiB", &path)]);
}

#[test]
fn a_file_that_is_not_utf8_is_told_with_the_line() {
    let folder = Folder::new();
    let path = folder.write("latin.toml", b"[defaults]\n# gr\xfc\xdfe\n");
    says(&path, "FILE:2: it is not UTF-8");
}

#[test]
fn every_file_is_told_of_that_is_wrong() {
    let folder = Folder::new();
    let one = folder.write("a.toml", "nonsense = 1\n");
    let two = folder.write("b.toml", "nonsense = 1\n");
    let three = folder.path("c.toml");
    let builder = Registry::builder()
        .config_file(&one)
        .config_file(&two)
        .config_file(&three);
    let said = refused(builder);
    assert_eq!(said.len(), 3, "{said:?}");
    for (said, path) in said.iter().zip([one, two, three]) {
        assert!(said.starts_with(&path.display().to_string()), "{said}");
    }
}

#[test]
fn an_empty_file_is_a_file() {
    let folder = Folder::new();
    let path = folder.write("empty.toml", "");
    assert!(Registry::builder().config_file(path).build().is_ok());
}

/// Each of two links in a row is followed, as those of a mounted ConfigMap.
#[cfg(unix)]
#[test]
fn a_file_behind_links_is_read() {
    use std::os::unix::fs::symlink;

    let folder = Folder::new();
    fs::create_dir(folder.path("..1")).unwrap();
    folder.write("..1/breakerbox.toml", "[services.linked]\nthreshold = 3\n");
    symlink("..1", folder.path("..data")).unwrap();
    symlink("..data/breakerbox.toml", folder.path("breakerbox.toml")).unwrap();
    let registry = Registry::builder()
        .declare("linked")
        .config_file(folder.path("breakerbox.toml"))
        .build()
        .unwrap();
    let policy = registry.breaker("linked").unwrap().policy();
    assert_eq!(policy.get_threshold(), Some(3));
}

//! What a process is called where nobody says so: by events, and by the journal.

/// The host and the number of this process.
pub(super) fn of_process() -> String {
    format!("{}:{}", host_name(), std::process::id())
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn host_name() -> String {
    let host = rustix::system::uname();
    tidy(&host.nodename().to_string_lossy())
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn host_name() -> String {
    let host = std::env::var("HOSTNAME").or_else(|_| std::env::var("COMPUTERNAME"));
    tidy(&host.unwrap_or_default())
}

/// A name that the journal takes, whatever a machine is called.
fn tidy(host: &str) -> String {
    let kept = host
        .chars()
        .filter(|char| char.is_ascii_graphic() && *char != '|');
    let host: String = kept.take(48).collect();
    match host.is_empty() {
        true => "somewhere".to_owned(),
        false => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_process_is_short_and_plain_whatever_its_host_is_called() {
        assert_eq!(tidy("w|eb\n1"), "web1");
        assert_eq!(tidy(""), "somewhere");
        assert_eq!(tidy("größe").len(), 3);
        let longest = format!("{}:{}", tidy(&"a".repeat(200)), u32::MAX);
        assert!(longest.len() <= 64, "{longest}");
        assert!(of_process().ends_with(&std::process::id().to_string()));
    }
}

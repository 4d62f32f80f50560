use std::borrow::Cow;

use super::invalid::checked_text;

checked_text! {
    /// The name of a Talos node: its VM name and its host name. The three role words are reserved.
    NodeName,
    "a node name like `cp-1`",
    r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$",
    |text| {
        if matches!(text, "global" | "controller" | "worker") {
            return Err("this word is reserved");
        }
        dns_label(text).map(Cow::Borrowed)
    }
}

checked_text! {
    /// The name of the whole cluster; it is part of the mark by which our VMs are recognised.
    ClusterName,
    "a cluster name like `home`",
    r"^[a-z0-9][a-z0-9-]{0,40}$",
    |text| {
        if text.is_empty() {
            Err("it is empty")
        } else if text.len() > 41 {
            Err("it is longer than 41 characters")
        } else if !text.bytes().all(|b| lower_alphanumeric(b) || b == b'-') {
            Err("only a-z, 0-9 and `-` are allowed")
        } else if text.starts_with('-') {
            Err("it must begin with a letter or digit")
        } else {
            Ok(Cow::Borrowed(text))
        }
    }
}

checked_text! {
    /// The name of a Proxmox host, as `GET /nodes` shows it; case matters.
    HostName,
    "a Proxmox host name like `pve1`",
    r"^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$",
    |text| host_label(text).map(Cow::Borrowed)
}

checked_text! {
    /// The name of a template VM.
    TemplateName,
    "a template name like `talos-1.12.0`",
    r"^[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*$",
    |text| domain(text).map(Cow::Borrowed)
}

checked_text! {
    /// A DNS search domain.
    DomainName,
    "a domain name like `home.arpa`",
    r"^[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*$",
    |text| domain(text).map(Cow::Borrowed)
}

checked_text! {
    /// The name of a Proxmox storage.
    StorageId,
    "a storage name like `local-lvm`",
    r"^[A-Za-z][A-Za-z0-9._-]{0,98}[A-Za-z0-9]$",
    |text| {
        if text.len() < 2 {
            Err("it needs at least two characters")
        } else if text.len() > 100 {
            Err("it is longer than 100 characters")
        } else if !text.starts_with(|c: char| c.is_ascii_alphabetic()) {
            Err("it must begin with a letter")
        } else if !text.ends_with(|c: char| c.is_ascii_alphanumeric()) {
            Err("it must end with a letter or digit")
        } else if !text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)) {
            Err("only letters, digits, `-`, `_` and `.` are allowed")
        } else {
            Ok(Cow::Borrowed(text))
        }
    }
}

checked_text! {
    /// The name of a bridge or an SDN virtual network.
    BridgeName,
    "a bridge name like `vmbr0`",
    r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}$",
    |text| word(text, 15, "Linux network names have at most 15 characters").map(Cow::Borrowed)
}

checked_text! {
    /// The name of a resource pool, up to three levels deep.
    PoolId,
    "a pool name like `talos` or `clusters/talos`",
    r"^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+){0,2}$",
    |text| {
        let levels: Vec<&str> = text.split('/').collect();
        if text.len() > 200 {
            Err("it is longer than 200 characters")
        } else if levels.len() > 3 {
            Err("pools nest at most three levels deep")
        } else if levels.iter().any(|level| level.is_empty()) {
            Err("a level of the name is empty")
        } else if !text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./".contains(&b)) {
            Err("only letters, digits, `-`, `_`, `.` and the separator `/` are allowed")
        } else {
            Ok(Cow::Borrowed(text))
        }
    }
}

checked_text! {
    /// A tag of a VM. Proxmox keeps tags in lower case, and so do we.
    Tag,
    "a tag like `talos`",
    r"^[A-Za-z0-9_][A-Za-z0-9_+.-]{0,99}$",
    |text| {
        // Proxmox takes `+` as well.
        word(&text.replace('+', "-"), 100, "it is longer than 100 characters")?;
        Ok(Cow::Owned(text.to_ascii_lowercase()))
    }
}

fn lower_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

/// A word that begins with a letter, a digit or `_` and goes on with `-` and `.` too.
pub(super) fn word<'t>(text: &'t str, longest: usize, too_long: &'static str) -> Result<&'t str, &'static str> {
    if text.is_empty() {
        Err("it is empty")
    } else if text.len() > longest {
        Err(too_long)
    } else if !text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
        Err("it must begin with a letter, a digit or `_`")
    } else if !text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)) {
        Err("only letters, digits, `-`, `_` and `.` are allowed")
    } else {
        Ok(text)
    }
}

/// A label in lower case, as a Talos host name must be.
fn dns_label(text: &str) -> Result<&str, &'static str> {
    if text.bytes().any(|b| b.is_ascii_uppercase()) {
        return Err("it must be in lower case");
    }
    host_label(text)
}

fn host_label(text: &str) -> Result<&str, &'static str> {
    if text.is_empty() {
        Err("it is empty")
    } else if text.len() > 63 {
        Err("it is longer than 63 characters")
    } else if !text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
        Err("only letters, digits and `-` are allowed")
    } else if text.starts_with('-') || text.ends_with('-') {
        Err("it must begin and end with a letter or digit")
    } else {
        Ok(text)
    }
}

fn domain(text: &str) -> Result<&str, &'static str> {
    if text.len() > 253 {
        return Err("it is longer than 253 characters");
    }
    text.split('.').try_for_each(|label| host_label(label).map(drop)).map(|()| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused<T: std::str::FromStr<Err = crate::model::Invalid> + std::fmt::Debug>(text: &str, why: &str) {
        assert_eq!(text.parse::<T>().expect_err("it is wrong").why(), Some(why));
    }

    #[test]
    fn node_names_are_dns_labels_in_lower_case() {
        assert_eq!("cp-1".parse::<NodeName>().unwrap().as_str(), "cp-1");
        assert!("7".parse::<NodeName>().is_ok());
        refused::<NodeName>("Cp-1", "it must be in lower case");
        refused::<NodeName>("cp_1", "only letters, digits and `-` are allowed");
        refused::<NodeName>("cp-", "it must begin and end with a letter or digit");
        refused::<NodeName>("worker", "this word is reserved");
        refused::<NodeName>(&"a".repeat(64), "it is longer than 63 characters");
    }

    #[test]
    fn tags_are_kept_in_lower_case() {
        assert_eq!("GPU.a100".parse::<Tag>().unwrap().as_str(), "gpu.a100");
        refused::<Tag>("a b", "only letters, digits, `-`, `_` and `.` are allowed");
        refused::<Tag>("+a", "it must begin with a letter, a digit or `_`");
    }

    #[test]
    fn pools_nest_three_deep() {
        assert!("a/b/c".parse::<PoolId>().is_ok());
        refused::<PoolId>("a/b/c/d", "pools nest at most three levels deep");
        refused::<PoolId>("a//b", "a level of the name is empty");
    }
}

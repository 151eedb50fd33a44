//! Names of machines on the network that may be reached.

use std::net::IpAddr;
use std::str::FromStr;

/// `api.example.com`, `*.example.com`, `localhost:8080`, `10.0.0.7`: one machine or the machines below a name, on the usual
/// ports or on the one given.
///
/// A name that leads to a private, loopback or link-local address is refused unless it says `private:` in front; a written
/// address or `localhost` says it already.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostPattern {
    name: String,
    below: bool,
    port: Option<u16>,
    private: bool,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no host: write a name such as `api.example.com`, `*.example.com` or `localhost:8080`")]
pub struct InvalidHost(String);

impl FromStr for HostPattern {
    type Err = InvalidHost;

    fn from_str(text: &str) -> Result<Self, InvalidHost> {
        let invalid = || InvalidHost(text.to_owned());
        let (private, rest) = text.strip_prefix("private:").map_or((false, text), |rest| (true, rest));
        let (rest, below) = rest.strip_prefix("*.").map_or((rest, false), |rest| (rest, true));
        let (name, port) = match rest.rsplit_once(':') {
            // An address of version 6 is written with brackets, and its colons are no ports.
            Some((_, tail)) if tail.contains(']') => (rest, None),
            Some((name, port)) => (name, Some(port.parse().map_err(|_| invalid())?)),
            None => (rest, None),
        };
        let name = bare(name).to_ascii_lowercase();
        let is_address = name.parse::<IpAddr>().is_ok();
        let legal = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.' | '_');
        let is_name = name.chars().all(legal) && name.split('.').all(|label| !label.is_empty());
        // `*.com` would be half of the network.
        if !(is_address || is_name) || below && (is_address || !name.contains('.')) {
            return Err(invalid());
        }
        Ok(Self { private: private || is_address || name == "localhost", name, below, port })
    }
}

impl std::fmt::Display for HostPattern {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let is_address = self.name.parse::<IpAddr>();
        if self.private && is_address.is_err() && self.name != "localhost" {
            formatter.write_str("private:")?;
        }
        if self.below {
            formatter.write_str("*.")?;
        }
        match is_address {
            Ok(IpAddr::V6(_)) => write!(formatter, "[{}]", self.name)?,
            _ => formatter.write_str(&self.name)?,
        }
        self.port.map_or(Ok(()), |port| write!(formatter, ":{port}"))
    }
}

impl HostPattern {
    /// Whether everything that `asked` means is meant by this one too.
    pub fn covers(&self, asked: &Self) -> bool {
        let name = if asked.below { self.below && self.has(&asked.name, true) } else { self.has(&asked.name, false) };
        let port = self.port == asked.port || self.port.is_none() && asked.port.is_none_or(is_usual);
        name && port && (self.private || !asked.private)
    }

    /// The same host, with private addresses as far as the grant for it has them.
    pub fn reaching(&self, granted: &Self) -> Self {
        Self { private: granted.private, ..self.clone() }
    }

    fn has(&self, name: &str, below: bool) -> bool {
        let is_below = || name.strip_suffix(&self.name).is_some_and(|rest| rest.ends_with('.'));
        if self.below { is_below() || below && name == self.name } else { name == self.name }
    }

    fn matches(&self, name: &str, port: u16) -> bool {
        self.has(name, false) && self.port.map_or(is_usual(port), |own| own == port)
    }
}

fn is_usual(port: u16) -> bool {
    matches!(port, 80 | 443)
}

/// How far a host may be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    Refused,
    /// Only addresses that everybody can reach.
    Public,
    /// Addresses of this machine and its network too.
    Private,
}

/// A host without the brackets around an address of version 6.
pub fn bare(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

/// What the patterns say about a host and port.
pub fn reach(patterns: &[HostPattern], host: &str, port: u16) -> Reach {
    let host = bare(host).trim_end_matches('.').to_ascii_lowercase();
    let matching = patterns.iter().filter(|pattern| pattern.matches(&host, port));
    matching.fold(Reach::Refused, |reach, pattern| match (reach, pattern.private) {
        (_, true) | (Reach::Private, _) => Reach::Private,
        (_, false) => Reach::Public,
    })
}

/// Whether an address is one that everybody on the network can reach.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let [first, second, ..] = address.octets();
            !(address.is_private()
                || address.is_loopback()
                || address.is_link_local()
                || address.is_unspecified()
                || address.is_broadcast()
                || address.is_multicast()
                || address.is_documentation()
                || first == 0
                || first >= 240
                // Shared by providers, and the networks for measuring.
                || first == 100 && (64..128).contains(&second)
                || first == 198 && (18..20).contains(&second)
                || (first, second) == (192, 0))
        }
        IpAddr::V6(address) => {
            let first = address.segments()[0];
            let carried = address.to_ipv4_mapped().or_else(|| {
                // Translated and tunnelled addresses carry one of version 4; those of 64:ff9b:1::/48 belong to the own network.
                let octets = address.octets();
                match address.segments() {
                    [0x64, 0xff9b, 0, 0, 0, 0, ..] => {
                        Some(std::net::Ipv4Addr::new(octets[12], octets[13], octets[14], octets[15]))
                    }
                    [0x2002, ..] => Some(std::net::Ipv4Addr::new(octets[2], octets[3], octets[4], octets[5])),
                    _ => None,
                }
            });
            match carried {
                Some(carried) => is_public(IpAddr::V4(carried)),
                // The addresses in use on the network all begin with the bits 001; documentation is in between.
                None => first & 0xe000 == 0x2000 && !(first == 0x2001 && address.segments()[1] == 0xdb8),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> HostPattern {
        text.parse().unwrap()
    }

    #[test]
    fn patterns_reach_what_they_name() {
        for (patterns, host, port, expected) in [
            (&["api.example.com"][..], "api.example.com", 443, Reach::Public),
            (&["api.example.com"], "API.Example.com.", 80, Reach::Public),
            (&["api.example.com"], "api.example.com", 8080, Reach::Refused),
            (&["api.example.com"], "example.com", 443, Reach::Refused),
            (&["api.example.com"], "evil-api.example.com", 443, Reach::Refused),
            (&["*.example.com"], "a.b.example.com", 443, Reach::Public),
            (&["*.example.com"], "example.com", 443, Reach::Refused),
            (&["*.example.com"], "badexample.com", 443, Reach::Refused),
            (&["localhost:8080"], "localhost", 8080, Reach::Private),
            (&["127.0.0.1:8080"], "127.0.0.1", 8080, Reach::Private),
            (&["[::1]:8080"], "[::1]", 8080, Reach::Private),
            (&["private:git.corp"], "git.corp", 443, Reach::Private),
            (&["git.corp"], "git.corp", 443, Reach::Public),
            (&[], "example.com", 443, Reach::Refused),
        ] {
            let patterns: Vec<_> = patterns.iter().map(|text| pattern(text)).collect();
            assert_eq!(reach(&patterns, host, port), expected, "{patterns:?} {host}:{port}");
        }
    }

    #[test]
    fn patterns_that_are_no_hosts_are_refused() {
        for text in
            ["", "*", "*.com", "a b", "http://x.com", "x.com/path", "x.com:port", "*.10.0.0.1", "a..b", "x:99999"]
        {
            assert_eq!(text.parse::<HostPattern>(), Err(InvalidHost(text.to_owned())), "{text}");
        }
    }

    #[test]
    fn a_pattern_is_written_as_it_is_read() {
        for text in
            ["api.example.com", "*.example.com", "localhost:8080", "[::1]:80", "10.0.0.7", "private:git.corp:8443"]
        {
            assert_eq!(pattern(text).to_string(), text);
        }
    }

    #[test]
    fn what_is_asked_is_covered_only_by_as_much() {
        for (granted, asked, expected) in [
            ("api.example.com", "api.example.com", true),
            ("*.example.com", "api.example.com", true),
            ("*.example.com", "*.api.example.com", true),
            ("*.example.com", "*.example.com", true),
            ("api.example.com", "*.example.com", false),
            ("*.api.example.com", "*.example.com", false),
            ("example.com", "example.com:8080", false),
            ("example.com", "example.com:443", true),
            ("git.corp", "private:git.corp", false),
            ("private:git.corp", "git.corp", true),
        ] {
            assert_eq!(pattern(granted).covers(&pattern(asked)), expected, "{granted} {asked}");
        }
    }

    #[test]
    fn addresses_of_this_machine_and_its_network_are_not_public() {
        for text in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "0.0.0.0",
            "100.64.0.1",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "::ffff:127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::808:808",
            "64:ff9b:0:1::808:808",
            "64::808:808",
            "2002:7f00:1::",
            "224.0.0.1",
            "255.255.255.255",
            "198.18.0.1",
            "192.0.0.8",
            "::7f00:1",
            "2001:db8::1",
            "ff02::1",
        ] {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
        for text in ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "172.32.0.1", "64:ff9b::808:808"] {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
    }
}

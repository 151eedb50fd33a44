//! Patterns of hosts that may be reached over the network.

use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;

/// One host or all subdomains of a name, on the default ports or on the given one: `api.example.com`, `*.example.com`,
/// `localhost:8080`, `10.0.0.7`.
///
/// A name that resolves to a private, loopback or link-local address is refused unless the pattern starts with `private:`.
/// IP addresses and `localhost` imply that prefix.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostPattern {
    name: String,
    subdomains: bool,
    port: Option<u16>,
    private: bool,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a host: write a name such as `api.example.com`, `*.example.com` or `localhost:8080`")]
pub struct InvalidHost(String);

impl FromStr for HostPattern {
    type Err = InvalidHost;

    fn from_str(text: &str) -> Result<Self, InvalidHost> {
        let invalid = || InvalidHost(text.to_owned());
        let (private, rest) = text.strip_prefix("private:").map_or((false, text), |rest| (true, rest));
        let (rest, subdomains) = rest.strip_prefix("*.").map_or((rest, false), |rest| (rest, true));
        let (name, port) = match rest.rsplit_once(':') {
            // The colons of an IPv6 address, which is in brackets, do not separate a port.
            Some((_, tail)) if tail.contains(']') => (rest, None),
            Some((name, port)) => (name, Some(port.parse().map_err(|_| invalid())?)),
            None => (rest, None),
        };
        let name = without_brackets(name).to_ascii_lowercase();
        let is_address = name.parse::<IpAddr>().is_ok();
        let legal = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '.' | '_');
        let is_name = name.chars().all(legal) && name.split('.').all(|label| !label.is_empty());
        // `*.com` would cover half of the internet.
        if !(is_address || is_name) || subdomains && (is_address || !name.contains('.')) {
            return Err(invalid());
        }
        Ok(Self { private: private || is_address || name == "localhost", name, subdomains, port })
    }
}

impl std::fmt::Display for HostPattern {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let is_address = self.name.parse::<IpAddr>();
        if self.private && is_address.is_err() && self.name != "localhost" {
            formatter.write_str("private:")?;
        }
        if self.subdomains {
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
    /// Whether every host that `requested` matches is matched by this pattern too.
    pub fn covers(&self, requested: &Self) -> bool {
        let name =
            (self.subdomains || !requested.subdomains) && self.matches_name(&requested.name, requested.subdomains);
        let port = self.port == requested.port || self.port.is_none() && requested.port.is_none_or(is_default_port);
        name && port && (self.private || !requested.private)
    }

    /// Returns this pattern with private addresses allowed if `granted` allows them.
    pub fn with_access_of(&self, granted: &Self) -> Self {
        Self { private: granted.private, ..self.clone() }
    }

    /// With `or_itself`, a pattern for subdomains also matches the parent name.
    fn matches_name(&self, name: &str, or_itself: bool) -> bool {
        let is_subdomain = || name.strip_suffix(&self.name).is_some_and(|rest| rest.ends_with('.'));
        if self.subdomains { is_subdomain() || or_itself && name == self.name } else { name == self.name }
    }

    fn matches(&self, name: &str, port: u16) -> bool {
        self.matches_name(name, false) && self.port.map_or(is_default_port(port), |own| own == port)
    }
}

fn is_default_port(port: u16) -> bool {
    matches!(port, 80 | 443)
}

/// Which addresses of a host may be reached, from none to all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HostAccess {
    Refused,
    /// Only public addresses.
    Public,
    /// Also addresses of this machine and its network.
    Private,
}

/// Removes the brackets around an IPv6 address.
pub fn without_brackets(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

/// Returns the access that the patterns grant to a host and port.
pub fn host_access(patterns: &[HostPattern], host: &str, port: u16) -> HostAccess {
    let host = without_brackets(host).trim_end_matches('.').to_ascii_lowercase();
    let matching = patterns.iter().filter(|pattern| pattern.matches(&host, port));
    let granted = matching.map(|pattern| if pattern.private { HostAccess::Private } else { HostAccess::Public });
    granted.max().unwrap_or(HostAccess::Refused)
}

/// Whether an address is reachable from the public internet.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let [first, second, ..] = address.octets();
            !(address.is_private()
                || address.is_loopback()
                || address.is_link_local()
                || address.is_multicast()
                || address.is_documentation()
                || first == 0
                || first >= 240
                // Carrier-grade NAT, and networks for benchmarks.
                || first == 100 && (64..128).contains(&second)
                || first == 198 && (18..20).contains(&second)
                || (first, second) == (192, 0))
        }
        IpAddr::V6(address) => {
            // Translated and tunneled addresses embed an IPv4 address; those of 64:ff9b:1::/48 are local.
            let embedded = address.to_ipv4_mapped().or(match address.octets() {
                [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d] | [0x20, 0x02, a, b, c, d, ..] => {
                    Some(Ipv4Addr::new(a, b, c, d))
                }
                _ => None,
            });
            let [first, second, ..] = address.segments();
            match embedded {
                Some(embedded) => is_public(IpAddr::V4(embedded)),
                // All public addresses start with the bits 001; 2001:db8::/32 is for documentation.
                None => first & 0xe000 == 0x2000 && (first, second) != (0x2001, 0xdb8),
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
    fn patterns_grant_access_to_the_hosts_they_match() {
        for (patterns, host, port, expected) in [
            (&["api.example.com"][..], "api.example.com", 443, HostAccess::Public),
            (&["api.example.com"], "API.Example.com.", 80, HostAccess::Public),
            (&["api.example.com"], "api.example.com", 8080, HostAccess::Refused),
            (&["api.example.com"], "example.com", 443, HostAccess::Refused),
            (&["api.example.com"], "evil-api.example.com", 443, HostAccess::Refused),
            (&["*.example.com"], "a.b.example.com", 443, HostAccess::Public),
            (&["*.example.com"], "example.com", 443, HostAccess::Refused),
            (&["*.example.com"], "badexample.com", 443, HostAccess::Refused),
            (&["localhost:8080"], "localhost", 8080, HostAccess::Private),
            (&["127.0.0.1:8080"], "127.0.0.1", 8080, HostAccess::Private),
            (&["[::1]:8080"], "[::1]", 8080, HostAccess::Private),
            (&["private:git.corp"], "git.corp", 443, HostAccess::Private),
            (&["git.corp"], "git.corp", 443, HostAccess::Public),
            (&[], "example.com", 443, HostAccess::Refused),
        ] {
            let patterns: Vec<_> = patterns.iter().map(|text| pattern(text)).collect();
            assert_eq!(host_access(&patterns, host, port), expected, "{patterns:?} {host}:{port}");
        }
    }

    #[test]
    fn invalid_patterns_are_refused() {
        for text in
            ["", "*", "*.com", "a b", "http://x.com", "x.com/path", "x.com:port", "*.10.0.0.1", "a..b", "x:99999"]
        {
            assert_eq!(text.parse::<HostPattern>(), Err(InvalidHost(text.to_owned())), "{text}");
        }
    }

    #[test]
    fn a_pattern_survives_parsing_and_formatting() {
        for text in
            ["api.example.com", "*.example.com", "localhost:8080", "[::1]:80", "10.0.0.7", "private:git.corp:8443"]
        {
            assert_eq!(pattern(text).to_string(), text);
        }
    }

    #[test]
    fn a_pattern_covers_only_narrower_ones() {
        for (granted, requested, expected) in [
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
            assert_eq!(pattern(granted).covers(&pattern(requested)), expected, "{granted} {requested}");
        }
    }

    #[test]
    fn addresses_of_this_machine_and_its_network_are_not_public() {
        let addresses = "127.0.0.1 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 0.0.0.0 100.64.0.1 224.0.0.1 \
            255.255.255.255 198.18.0.1 192.0.0.8 :: ::1 fe80::1 fc00::1 ff02::1 2001:db8::1 ::7f00:1 \
            ::ffff:127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::808:808 64:ff9b:0:1::808:808 64::808:808 2002:7f00:1::";
        for text in addresses.split_whitespace() {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
        for text in ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "172.32.0.1", "64:ff9b::808:808"] {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
    }
}

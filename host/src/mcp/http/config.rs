//! What the server was told about HTTP: where it listens, by which names it is reached, and the token.

use crate::listening::token::{Token, TokenProblem};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

/// Everything to know before the first request.
pub struct HttpConfig {
    pub address: SocketAddr,
    pub token: Token,
    /// The text of a token that was made just now, which nobody knows yet.
    pub untold: Option<String>,
    /// The names of a proxy before the server. Without one it is reached by those of this machine.
    pub names: Vec<Name>,
}

/// What the command line and the environment say.
#[derive(Debug, Default)]
pub struct Told {
    pub address: String,
    pub behind_tls_proxy: bool,
    pub names: Vec<String>,
    pub token_file: Option<PathBuf>,
    /// `SKILLCELL_HTTP_TOKEN`. A file is the stronger.
    pub token: Option<String>,
}

/// Why the server does not listen.
#[derive(Debug, thiserror::Error)]
pub enum HttpProblem {
    #[error("`{0}` is no address to listen on\nhint: say `--http 127.0.0.1:8080`, or only the port")]
    Address(String),
    #[error(
        "other machines can reach `{address}`, and what is sent there is not encrypted\n\
         hint: say `--http 127.0.0.1:{port}`, or put a proxy that speaks TLS before it and add \
         `--behind-tls-proxy --http-host NAME`",
        port = address.port()
    )]
    Unencrypted { address: SocketAddr },
    #[error(
        "nobody said by which name the proxy is reached\nhint: add `--http-host NAME`, as in `--http-host skills.example.com`"
    )]
    Nameless,
    #[error("`{0}` is no name of a host\nhint: say only the name, as in `--http-host skills.example.com`")]
    Name(String),
    #[error(transparent)]
    Token(#[from] TokenProblem),
    #[error("cannot listen on {address}: {reason}\nhint: say `--http 127.0.0.1:0` for a port that is free")]
    Taken { address: SocketAddr, reason: std::io::Error },
}

impl HttpConfig {
    pub fn resolve(told: Told) -> Result<Self, HttpProblem> {
        let address = address(&told.address).ok_or(HttpProblem::Address(told.address))?;
        let names: Vec<Name> = told.names.iter().map(|name| name.parse()).collect::<Result<_, _>>()?;
        if !told.behind_tls_proxy && !address.ip().to_canonical().is_loopback() {
            return Err(HttpProblem::Unencrypted { address });
        }
        if told.behind_tls_proxy && names.is_empty() {
            return Err(HttpProblem::Nameless);
        }
        let (token, untold) = match (told.token_file, told.token) {
            (Some(file), _) => (Token::in_file(&file)?, None),
            (None, Some(text)) => (Token::given(&text, "SKILLCELL_HTTP_TOKEN")?, None),
            (None, None) => Token::fresh().map(|(token, text)| (token, Some(text)))?,
        };
        Ok(Self { address, token, untold, names })
    }
}

/// `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`, `:8080` or `8080`. Names are not looked up: what they mean may change.
fn address(text: &str) -> Option<SocketAddr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
    let is_here = host.is_empty() || host.eq_ignore_ascii_case("localhost");
    let port: u16 = port.parse().ok()?;
    is_here.then_some(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port))
}

/// By which name a proxy is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// In lower case; an IPv6 address in brackets.
    host: String,
    port: u16,
}

/// The port that nobody has to name.
const HTTPS: u16 = 443;

impl Name {
    /// How a `Host` header may say it.
    pub fn spellings(&self) -> impl Iterator<Item = String> {
        let short = (self.port == HTTPS).then(|| self.host.clone());
        short.into_iter().chain([format!("{}:{}", self.host, self.port)])
    }
}

impl FromStr for Name {
    type Err = HttpProblem;

    fn from_str(text: &str) -> Result<Self, HttpProblem> {
        let name = text.to_ascii_lowercase();
        // The colons of an IPv6 address are before its bracket.
        let (host, port) = match name.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()),
            _ => (&*name, Some(HTTPS)),
        };
        let is_host = match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(address) => address.parse::<Ipv6Addr>().is_ok(),
            None => host.split('.').all(is_label),
        };
        match port {
            Some(port) if is_host => Ok(Self { host: host.to_owned(), port }),
            _ => Err(HttpProblem::Name(text.to_owned())),
        }
    }
}

fn is_label(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(address: &str) -> Told {
        Told { address: address.to_owned(), token: Some("0123456789abcdef".to_owned()), ..Told::default() }
    }

    #[test]
    fn an_address_may_be_only_a_port() {
        for (text, meant) in [
            ("8080", "127.0.0.1:8080"),
            (":8080", "127.0.0.1:8080"),
            ("localhost:0", "127.0.0.1:0"),
            ("127.0.0.9:1", "127.0.0.9:1"),
            ("[::1]:80", "[::1]:80"),
        ] {
            assert_eq!(HttpConfig::resolve(told(text)).map(|config| config.address.to_string()).unwrap(), meant);
        }
        for text in ["", ":", "host", "example.com:80", "127.0.0.1", "::1", "[::1]", "127.0.0.1:99999", "http://x:1"] {
            assert!(matches!(HttpConfig::resolve(told(text)), Err(HttpProblem::Address(_))), "{text}");
        }
    }

    #[test]
    fn only_a_proxy_makes_other_machines_welcome() {
        for text in ["0.0.0.0:80", "[::]:80", "192.0.2.1:80", "[::ffff:192.0.2.1]:80"] {
            assert!(matches!(HttpConfig::resolve(told(text)), Err(HttpProblem::Unencrypted { .. })), "{text}");
            let proxied = |names: &[&str]| {
                let names = names.iter().map(|name| (*name).to_owned()).collect();
                HttpConfig::resolve(Told { behind_tls_proxy: true, names, ..told(text) })
            };
            assert!(matches!(proxied(&[]), Err(HttpProblem::Nameless)), "{text}");
            assert!(matches!(proxied(&["https://a.example"]), Err(HttpProblem::Name(_))), "{text}");
            let names = proxied(&["A.example"]).map(|config| config.names).unwrap();
            assert_eq!(names, [Name { host: "a.example".to_owned(), port: 443 }]);
        }
    }

    #[test]
    fn a_name_is_a_host_and_maybe_a_port() {
        let spellings = |text: &str| text.parse::<Name>().map(|name| name.spellings().collect::<Vec<_>>()).ok();
        assert_eq!(spellings("Skills.Example.COM").unwrap(), ["skills.example.com", "skills.example.com:443"]);
        assert_eq!(spellings("a.example:443").unwrap(), ["a.example", "a.example:443"]);
        assert_eq!(spellings("a.example:8443").unwrap(), ["a.example:8443"]);
        assert_eq!(spellings("[2001:db8::1]").unwrap(), ["[2001:db8::1]", "[2001:db8::1]:443"]);
        assert_eq!(spellings("[2001:db8::1]:1").unwrap(), ["[2001:db8::1]:1"]);
        for text in ["", "*", "a..b", "a.example/", "a@b", "a b", "a:b", "a:", "[::1", "::1", "[x]", "a.example:70000"]
        {
            assert_eq!(spellings(text), None, "{text}");
        }
    }

    #[test]
    fn without_a_token_one_is_made() {
        assert_eq!(HttpConfig::resolve(told("0")).map(|config| config.untold).unwrap(), None);
        let made = HttpConfig::resolve(Told { token: None, ..told("0") }).unwrap();
        assert!(made.token.is_in(format!("Bearer {}", made.untold.unwrap()).as_bytes()));
        let short = HttpConfig::resolve(Told { token: Some("short".to_owned()), ..told("0") });
        assert!(matches!(short, Err(HttpProblem::Token(TokenProblem::Short { .. }))));
    }
}

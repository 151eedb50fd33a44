//! The settings of HTTP: the address, the host names and the token.

use http_server::token::{Token, TokenProblem};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

pub struct HttpConfig {
    pub address: SocketAddr,
    pub token: Token,
    /// The text of the token if it was generated, to be printed.
    pub generated_token: Option<String>,
    /// The names of the proxy in front of the server, in all spellings. Without a proxy it has those of this machine.
    pub names: Vec<String>,
}

/// Arguments and environment variables, unresolved.
#[derive(Debug, Default)]
pub struct HttpArgs {
    pub address: String,
    pub behind_tls_proxy: bool,
    pub names: Vec<String>,
    pub token_file: Option<PathBuf>,
    /// `SKILLCELL_HTTP_TOKEN`. A token file takes precedence.
    pub token: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum HttpProblem {
    #[error("`{0}` is not an address to listen on\nhint: use `--http 127.0.0.1:8080`, or only the port")]
    Address(String),
    #[error(
        "other machines can reach `{address}`, and what is sent there is not encrypted\n\
         hint: use `--http 127.0.0.1:{port}`, or put a TLS proxy in front of it and add \
         `--behind-tls-proxy --http-host NAME`",
        port = address.port()
    )]
    Unencrypted { address: SocketAddr },
    #[error(
        "the host name of the proxy is missing\nhint: add `--http-host NAME`, as in `--http-host skills.example.com`"
    )]
    MissingName,
    #[error("`{0}` is not a host name\nhint: use only the name, as in `--http-host skills.example.com`")]
    Name(String),
    #[error(transparent)]
    Token(#[from] TokenProblem),
    #[error("cannot listen on {address}: {reason}\nhint: use `--http 127.0.0.1:0` for a free port")]
    Listen { address: SocketAddr, reason: std::io::Error },
}

impl HttpConfig {
    pub fn resolve(args: HttpArgs) -> Result<Self, HttpProblem> {
        let address = address(&args.address).ok_or(HttpProblem::Address(args.address))?;
        let names: Vec<_> = args.names.iter().map(|name| spellings(name)).collect::<Result<_, _>>()?;
        if !args.behind_tls_proxy && !address.ip().to_canonical().is_loopback() {
            return Err(HttpProblem::Unencrypted { address });
        }
        if args.behind_tls_proxy && names.is_empty() {
            return Err(HttpProblem::MissingName);
        }
        let (token, generated_token) = match (args.token_file, args.token) {
            (Some(file), _) => (Token::from_file(&file)?, None),
            (None, Some(text)) => (Token::from_text(&text, "SKILLCELL_HTTP_TOKEN")?, None),
            (None, None) => Token::generate().map(|(token, text)| (token, Some(text)))?,
        };
        Ok(Self { address, token, generated_token, names: names.concat() })
    }
}

/// Parses `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`, `:8080` or `8080`. Other names are not resolved, because their
/// address may change.
fn address(text: &str) -> Option<SocketAddr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
    let is_local = host.is_empty() || host.eq_ignore_ascii_case("localhost");
    let port: u16 = port.parse().ok()?;
    is_local.then_some(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port))
}

/// The default port of a proxy.
const HTTPS_PORT: u16 = 443;

/// Returns the forms in which a `Host` header may contain a name of the proxy, in lower case.
pub fn spellings(text: &str) -> Result<Vec<String>, HttpProblem> {
    let name = text.to_ascii_lowercase();
    // The colons of an IPv6 address are before its bracket.
    let (host, port) = match name.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()),
        _ => (&*name, Some(HTTPS_PORT)),
    };
    let is_host = match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => host.split('.').all(is_label),
    };
    match port {
        Some(HTTPS_PORT) if is_host => Ok(vec![host.to_owned(), format!("{host}:{HTTPS_PORT}")]),
        Some(port) if is_host => Ok(vec![format!("{host}:{port}")]),
        _ => Err(HttpProblem::Name(text.to_owned())),
    }
}

fn is_label(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(address: &str) -> HttpArgs {
        HttpArgs { address: address.to_owned(), token: Some("0123456789abcdef".to_owned()), ..HttpArgs::default() }
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
            assert_eq!(HttpConfig::resolve(args(text)).map(|config| config.address.to_string()).unwrap(), meant);
        }
        for text in ["", ":", "host", "example.com:80", "127.0.0.1", "::1", "[::1]", "127.0.0.1:99999", "http://x:1"] {
            assert!(matches!(HttpConfig::resolve(args(text)), Err(HttpProblem::Address(_))), "{text}");
        }
    }

    #[test]
    fn other_machines_can_connect_only_through_a_proxy() {
        for text in ["0.0.0.0:80", "[::]:80", "192.0.2.1:80", "[::ffff:192.0.2.1]:80"] {
            assert!(matches!(HttpConfig::resolve(args(text)), Err(HttpProblem::Unencrypted { .. })), "{text}");
            let proxied = |names: &[&str]| {
                let names = names.iter().map(|name| (*name).to_owned()).collect();
                HttpConfig::resolve(HttpArgs { behind_tls_proxy: true, names, ..args(text) })
            };
            assert!(matches!(proxied(&[]), Err(HttpProblem::MissingName)), "{text}");
            assert!(matches!(proxied(&["https://a.example"]), Err(HttpProblem::Name(_))), "{text}");
            let names = proxied(&["A.example"]).map(|config| config.names).unwrap();
            assert_eq!(names, ["a.example", "a.example:443"]);
        }
    }

    #[test]
    fn a_name_is_a_host_with_an_optional_port() {
        assert_eq!(spellings("Skills.Example.COM").unwrap(), ["skills.example.com", "skills.example.com:443"]);
        assert_eq!(spellings("a.example:443").unwrap(), ["a.example", "a.example:443"]);
        assert_eq!(spellings("a.example:8443").unwrap(), ["a.example:8443"]);
        assert_eq!(spellings("[2001:db8::1]").unwrap(), ["[2001:db8::1]", "[2001:db8::1]:443"]);
        assert_eq!(spellings("[2001:db8::1]:1").unwrap(), ["[2001:db8::1]:1"]);
        for text in ["", "*", "a..b", "a.example/", "a@b", "a b", "a:b", "a:", "[::1", "::1", "[x]", "a.example:70000"]
        {
            assert!(matches!(spellings(text), Err(HttpProblem::Name(_))), "{text}");
        }
    }

    #[test]
    fn without_a_token_one_is_generated() {
        assert_eq!(HttpConfig::resolve(args("0")).map(|config| config.generated_token).unwrap(), None);
        let config = HttpConfig::resolve(HttpArgs { token: None, ..args("0") }).unwrap();
        assert!(config.token.is_in_header(format!("Bearer {}", config.generated_token.unwrap()).as_bytes()));
        let short = HttpConfig::resolve(HttpArgs { token: Some("short".to_owned()), ..args("0") });
        assert!(matches!(short, Err(HttpProblem::Token(TokenProblem::Short { .. }))));
    }
}

//! Requirements, as in `beautifulsoup4[html5lib] >=4.12; python_version < "4"`, and whether they apply to Python in the sandbox.

use crate::name::Name;
use pep440_rs::{Operator, Version, VersionSpecifier, VersionSpecifiers};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// In bytes.
const MAX_LENGTH: usize = 4096;

/// Of parentheses in a marker.
const MAX_DEPTH: usize = 32;

/// What markers can ask about Python in the sandbox.
const ENVIRONMENT: [(&str, &str); 12] = [
    ("os_name", "posix"),
    ("sys_platform", "wasi"),
    ("platform_machine", "wasm32"),
    ("platform_python_implementation", "CPython"),
    ("python_implementation", "CPython"),
    ("platform_release", "0.0.0"),
    ("platform_system", "wasi"),
    ("platform_version", "0.0.0"),
    ("python_version", PYTHON_MINOR),
    ("python_full_version", guests::script::PYTHON_VERSION),
    ("implementation_name", "cpython"),
    ("implementation_version", guests::script::PYTHON_VERSION),
];

/// The version without its last part.
pub const PYTHON_MINOR: &str = "3.14";

/// A package that is needed, in certain versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    pub name: Name,
    pub extras: BTreeSet<Name>,
    pub versions: VersionSpecifiers,
    marker: Option<Marker>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a requirement: {reason}", text.escape_debug())]
pub struct InvalidRequirement {
    text: String,
    reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Marker {
    All(Vec<Marker>),
    Any(Vec<Marker>),
    Compare(Operand, Comparison, Operand),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Operand {
    Variable(&'static str),
    Extra,
    Text(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Version(Operator),
    In,
    NotIn,
}

/// The version of Python in the sandbox.
pub fn python_version() -> Version {
    guests::script::PYTHON_VERSION.parse().expect("the version of CPython is a version")
}

impl Requirement {
    /// Whether the requirement applies to a package that is needed with these extras.
    pub fn applies(&self, extras: &BTreeSet<Name>) -> bool {
        let Some(marker) = &self.marker else { return true };
        std::iter::once("").chain(extras.iter().map(Name::as_str)).any(|extra| marker.holds(extra))
    }

    pub fn has_marker(&self) -> bool {
        self.marker.is_some()
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extras: Vec<&str> = self.extras.iter().map(Name::as_str).collect();
        let extras = if extras.is_empty() { String::new() } else { format!("[{}]", extras.join(",")) };
        let versions: Vec<String> = self.versions.iter().map(ToString::to_string).collect();
        write!(formatter, "{}{extras}{}", self.name, versions.join(","))
    }
}

impl FromStr for Requirement {
    type Err = InvalidRequirement;

    fn from_str(text: &str) -> Result<Self, InvalidRequirement> {
        let shown: String = text.chars().take(200).collect();
        let invalid = |reason: String| InvalidRequirement { text: shown.clone(), reason };
        if text.len() > MAX_LENGTH {
            return Err(invalid("it is too long".to_owned()));
        }
        let (text, marker) = text.split_once(';').map_or((text, None), |(text, marker)| (text, Some(marker)));
        let text = text.trim();
        let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
        let (name, rest) = text.split_at(text.find(|letter| !is_of_name(letter)).unwrap_or(text.len()));
        let name: Name = name.parse().map_err(|error: crate::name::InvalidName| invalid(error.to_string()))?;
        let rest = rest.trim_start();
        let (extras, rest) = match rest.strip_prefix('[') {
            Some(rest) => rest.split_once(']').ok_or_else(|| invalid("`]` is missing".to_owned()))?,
            None => ("", rest),
        };
        let extras = extras.split(',').map(str::trim).filter(|extra| !extra.is_empty()).map(str::parse);
        let extras: Result<BTreeSet<Name>, _> = extras.collect();
        let extras = extras.map_err(|error| invalid(error.to_string()))?;
        let rest = rest.trim();
        if rest.starts_with('@') {
            return Err(invalid("addresses are not supported; add the wheel itself with `--wheel FILE`".to_owned()));
        }
        let rest = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(rest);
        let versions = VersionSpecifiers::from_str(rest).map_err(|_| {
            invalid(format!("`{}` does not say which versions, as `==6.0.2` does", rest.escape_debug()))
        })?;
        let marker = marker.map(Parser::parse).transpose().map_err(invalid)?;
        Ok(Self { name, extras, versions, marker })
    }
}

impl Marker {
    fn holds(&self, extra: &str) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.holds(extra)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(extra)),
            Self::Compare(left, comparison, right) => {
                if *left == Operand::Extra || *right == Operand::Extra {
                    return compare_extras(left.value(extra), *comparison, right.value(extra));
                }
                compare(left.value(extra), *comparison, right.value(extra), matches!(left, Operand::Text(_)))
            }
        }
    }
}

impl Operand {
    fn value<'a>(&'a self, extra: &'a str) -> &'a str {
        match self {
            Self::Variable(value) => value,
            Self::Extra => extra,
            Self::Text(text) => text,
        }
    }
}

/// Extras are names, so their spelling does not matter.
fn compare_extras(left: &str, comparison: Comparison, right: &str) -> bool {
    let name = |text: &str| text.parse::<Name>().ok();
    match comparison {
        Comparison::Version(Operator::Equal) => name(left) == name(right),
        Comparison::Version(Operator::NotEqual) => name(left) != name(right),
        _ => compare(left, comparison, right, false),
    }
}

/// Compares as versions if both are, and else as text. `flipped` means that the version to be compared is on the right.
fn compare(left: &str, comparison: Comparison, right: &str, flipped: bool) -> bool {
    let operator = match comparison {
        Comparison::In => return right.contains(left),
        Comparison::NotIn => return !right.contains(left),
        Comparison::Version(operator) => operator,
    };
    let (version, operator, pattern) =
        if flipped { (right, mirrored(operator), left) } else { (left, operator, right) };
    if let (Ok(version), Ok(versions)) =
        (Version::from_str(version), VersionSpecifier::from_str(&format!("{operator}{pattern}")))
    {
        return versions.contains(&version);
    }
    match operator {
        Operator::Equal | Operator::ExactEqual => version == pattern,
        Operator::NotEqual => version != pattern,
        Operator::LessThan => version < pattern,
        Operator::LessThanEqual => version <= pattern,
        Operator::GreaterThan => version > pattern,
        Operator::GreaterThanEqual => version >= pattern,
        _ => false,
    }
}

fn mirrored(operator: Operator) -> Operator {
    match operator {
        Operator::LessThan => Operator::GreaterThan,
        Operator::LessThanEqual => Operator::GreaterThanEqual,
        Operator::GreaterThan => Operator::LessThan,
        Operator::GreaterThanEqual => Operator::LessThanEqual,
        other => other,
    }
}

/// A recursive-descent parser of markers: `or`, `and`, parentheses, comparisons.
struct Parser<'text> {
    rest: &'text str,
    depth: usize,
}

impl<'text> Parser<'text> {
    fn parse(text: &'text str) -> Result<Marker, String> {
        let mut parser = Parser { rest: text, depth: 0 };
        let marker = parser.any()?;
        if parser.rest.trim().is_empty() {
            Ok(marker)
        } else {
            Err(format!("`{}` is left over", parser.rest.trim().escape_debug()))
        }
    }

    fn any(&mut self) -> Result<Marker, String> {
        let mut parts = vec![self.all()?];
        while self.word("or") {
            parts.push(self.all()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Marker::Any(parts) })
    }

    fn all(&mut self) -> Result<Marker, String> {
        let mut parts = vec![self.one()?];
        while self.word("and") {
            parts.push(self.one()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Marker::All(parts) })
    }

    fn one(&mut self) -> Result<Marker, String> {
        self.rest = self.rest.trim_start();
        if let Some(rest) = self.rest.strip_prefix('(') {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return Err("its marker is nested too deeply".to_owned());
            }
            self.rest = rest;
            let marker = self.any()?;
            self.rest = self.rest.trim_start().strip_prefix(')').ok_or("`)` is missing")?;
            self.depth -= 1;
            return Ok(marker);
        }
        let left = self.operand()?;
        let comparison = self.comparison()?;
        Ok(Marker::Compare(left, comparison, self.operand()?))
    }

    fn operand(&mut self) -> Result<Operand, String> {
        self.rest = self.rest.trim_start();
        if let Some(quote) = self.rest.chars().next().filter(|letter| matches!(letter, '"' | '\'')) {
            let (text, rest) = self.rest[1..].split_once(quote).ok_or("a quote is missing")?;
            self.rest = rest;
            return Ok(Operand::Text(text.to_owned()));
        }
        let end = self.rest.find(|letter: char| !letter.is_ascii_alphanumeric() && !matches!(letter, '_' | '.'));
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        if name == "extra" {
            return Ok(Operand::Extra);
        }
        // Old wheels write `os.name`.
        let modern = name.replace('.', "_");
        let known = ENVIRONMENT.iter().find(|(known, _)| *known == modern);
        known
            .map(|(_, value)| Operand::Variable(value))
            .ok_or_else(|| format!("its marker asks about `{}`", name.escape_debug()))
    }

    fn comparison(&mut self) -> Result<Comparison, String> {
        const SYMBOLS: [(&str, Operator); 8] = [
            ("===", Operator::ExactEqual),
            ("==", Operator::Equal),
            ("!=", Operator::NotEqual),
            ("<=", Operator::LessThanEqual),
            (">=", Operator::GreaterThanEqual),
            ("~=", Operator::TildeEqual),
            ("<", Operator::LessThan),
            (">", Operator::GreaterThan),
        ];
        if self.word("in") {
            return Ok(Comparison::In);
        }
        if self.word("not") {
            return if self.word("in") { Ok(Comparison::NotIn) } else { Err("`in` is missing after `not`".to_owned()) };
        }
        self.rest = self.rest.trim_start();
        for (symbol, operator) in SYMBOLS {
            if let Some(rest) = self.rest.strip_prefix(symbol) {
                self.rest = rest;
                return Ok(Comparison::Version(operator));
            }
        }
        Err("its marker compares nothing".to_owned())
    }

    /// Takes a keyword, if it is next.
    fn word(&mut self, word: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(word);
        let ends = |rest: &&str| !rest.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
        match rest.filter(ends) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wheel::{Fit, WheelName};

    fn applies(marker: &str, extras: &[&str]) -> bool {
        let extras = extras.iter().map(|extra| extra.parse().unwrap()).collect();
        format!("x; {marker}").parse::<Requirement>().unwrap_or_else(|error| panic!("{error}")).applies(&extras)
    }

    #[test]
    fn requirements_are_read_as_metadata_writes_them() {
        for (text, shown) in [
            ("PyYAML", "pyyaml"),
            ("PyYAML==6.0.2", "pyyaml==6.0.2"),
            ("typing_extensions (>=4.0,<5)", "typing-extensions>=4.0,<5"),
            ("requests[socks, security] ~= 2.1 ; python_version > '3'", "requests[security,socks]~=2.1"),
            ("a", "a"),
        ] {
            assert_eq!(text.parse::<Requirement>().unwrap().to_string(), shown, "{text}");
        }
        for text in [
            "",
            "==1",
            "a b",
            "a @ https://h/a.whl",
            "a==",
            "a>=x",
            "a[b",
            "a; x == '1'",
            "a; os_name",
            "a; os_name == '1",
        ] {
            assert!(text.parse::<Requirement>().is_err(), "{text}");
        }
        let deep = format!("a; {}os_name == 'posix'{}", "(".repeat(1000), ")".repeat(1000));
        assert!(deep.parse::<Requirement>().is_err());
    }

    #[test]
    fn the_versions_of_python_agree() {
        let (major, minor) = (python_version().release()[0], python_version().release()[1]);
        assert_eq!(format!("{major}.{minor}"), PYTHON_MINOR);
        let wheel = |minor: u64| format!("a-1-cp3{minor}-none-any.whl").parse::<WheelName>().unwrap().fit;
        assert_eq!((wheel(minor), wheel(minor + 1)), (Fit::Pure, Fit::Other));
    }

    #[test]
    fn markers_are_about_python_in_the_sandbox() {
        for marker in [
            "python_version >= '3.8'",
            "'3.8' < python_version",
            "python_version == '3.*'",
            "python_full_version >= '3.14.0' and sys_platform == 'wasi'",
            "os.name == 'posix'",
            "python_implementation == 'CPython'",
            "platform_python_implementation != 'PyPy' or extra == 'x'",
            "(sys_platform == 'win32' or sys_platform == \"wasi\")",
            "sys_platform not in 'win32 darwin'",
            "implementation_name == 'cpython'",
        ] {
            assert!(applies(marker, &[]), "{marker}");
        }
        for marker in [
            "python_version < '3.10'",
            "sys_platform == 'win32'",
            "extra == 'dev'",
            "'linux' in sys_platform",
            "platform_system == 'Windows'",
        ] {
            assert!(!applies(marker, &[]), "{marker}");
        }
        assert!(applies("extra == 'Dev_Tools'", &["dev-tools"]));
        assert!(!applies("extra == 'dev' and python_version < '3'", &["dev"]));
    }
}

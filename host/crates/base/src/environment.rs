//! Access to environment variables. No other module reads them.

/// Returns an environment variable, or `None` if it is unset or blank.
#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

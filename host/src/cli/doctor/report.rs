//! The report of `doctor`, as text and as JSON.

use base::printable::{counted, printable_up_to};
use serde::Serialize;
use serde_json::{Value, json};
use terminal::{Output, Tone};

/// The longest line, in characters.
const MAX_LENGTH: usize = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Ok,
    /// Something may not work as intended.
    Warn,
    /// Something does not work.
    Fail,
}

#[derive(Debug, Serialize)]
pub struct Check {
    state: State,
    what: String,
    /// How to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

impl Check {
    /// Escapes and truncates the texts.
    fn new(state: State, what: &str, advice: Option<&str>) -> Self {
        let printable = |text: &str| printable_up_to(text, MAX_LENGTH);
        Self { state, what: printable(what), advice: advice.map(printable) }
    }

    pub fn ok(what: impl AsRef<str>) -> Self {
        Self::new(State::Ok, what.as_ref(), None)
    }

    pub fn warn(what: impl AsRef<str>, advice: impl AsRef<str>) -> Self {
        Self::new(State::Warn, what.as_ref(), Some(advice.as_ref()))
    }

    pub fn fail(what: impl AsRef<str>, advice: impl AsRef<str>) -> Self {
        Self::new(State::Fail, what.as_ref(), Some(advice.as_ref()))
    }

    /// A warning from an error message, whose hint becomes the advice.
    pub fn warned(error: &impl ToString) -> Self {
        let message = error.to_string();
        let (what, advice) =
            message.split_once("\nhint: ").map_or((&*message, None), |(what, hint)| (what, Some(hint)));
        Self::new(State::Warn, what, advice)
    }

    /// A failure from an error message, whose hint becomes the advice.
    pub fn failed(error: &impl ToString) -> Self {
        Self { state: State::Fail, ..Self::warned(error) }
    }

    fn lines(&self, output: Output) -> impl Iterator<Item = String> {
        let (tone, state) = match self.state {
            State::Ok => (Tone::Good, "ok  "),
            State::Warn => (Tone::Warning, "warn"),
            State::Fail => (Tone::Bad, "fail"),
        };
        let state = output.paint(tone, state);
        let advice = self.advice.iter().map(|advice| format!("        {advice}"));
        std::iter::once(format!("  {state}  {}", self.what)).chain(advice)
    }
}

#[derive(Default)]
pub struct Report {
    sections: Vec<(&'static str, Vec<Check>)>,
}

impl Report {
    pub fn add(&mut self, section: &'static str, checks: Vec<Check>) {
        self.sections.push((section, checks));
    }

    pub fn has_failed(&self) -> bool {
        self.count(State::Fail) > 0
    }

    pub fn lines(&self, output: Output) -> Vec<String> {
        let mut lines = Vec::new();
        for (section, checks) in &self.sections {
            lines.push(output.paint(Tone::Heading, section));
            lines.extend(checks.iter().flat_map(|check| check.lines(output)));
            lines.push(String::new());
        }
        let (warnings, failures) = (self.count(State::Warn), self.count(State::Fail));
        lines.push(match (warnings, failures) {
            (0, 0) => "everything is fine".to_owned(),
            _ => format!("{}, {}", counted(failures, "failure"), counted(warnings, "warning")),
        });
        lines
    }

    pub fn view(&self) -> Value {
        let section = |(name, checks): &(&str, Vec<Check>)| json!({"name": name, "checks": checks});
        json!({
            "sections": self.sections.iter().map(section).collect::<Vec<_>>(),
            "warnings": self.count(State::Warn),
            "failures": self.count(State::Fail),
        })
    }

    fn count(&self, state: State) -> usize {
        self.sections.iter().flat_map(|(_, checks)| checks).filter(|check| check.state == state).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_becomes_advice_and_control_characters_are_escaped() {
        let mut report = Report::default();
        report.add("roots", vec![Check::ok("a\nb\u{202e}"), Check::failed(&"it broke\nhint: fix it")]);
        let lines =
            ["roots", "  ok    a\\nb\\u{202e}", "  fail  it broke", "        fix it", "", "1 failure, 0 warnings"];
        assert_eq!(report.lines(Output::plain()), lines);
        assert!(report.has_failed());
    }
}

//! What `doctor` found out, for people and as JSON.

use crate::printable::{counted, printable_up_to};
use crate::terminal::{Output, Tone};
use serde::Serialize;
use serde_json::{Value, json};

/// Longest line that is shown, in characters.
const LONGEST: usize = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Ok,
    /// Something will not work as it may be meant.
    Warn,
    /// Something does not work.
    Fail,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
pub struct Check {
    state: State,
    what: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

impl Check {
    pub fn ok(what: impl AsRef<str>) -> Self {
        Self { state: State::Ok, what: shown(what.as_ref()), advice: None }
    }

    pub fn warn(what: impl AsRef<str>, advice: impl AsRef<str>) -> Self {
        Self { state: State::Warn, advice: Some(shown(advice.as_ref())), ..Self::ok(what) }
    }

    pub fn fail(what: impl AsRef<str>, advice: impl AsRef<str>) -> Self {
        Self { state: State::Fail, ..Self::warn(what, advice) }
    }

    /// What an error says, with its hint as what to do.
    pub fn failed(error: &impl ToString) -> Self {
        Self { state: State::Fail, ..Self::told(&error.to_string()) }
    }

    /// The same for what does not stop anything else.
    pub fn warned(message: &impl ToString) -> Self {
        Self { state: State::Warn, ..Self::told(&message.to_string()) }
    }

    fn told(message: &str) -> Self {
        let (what, advice) = message.split_once("\nhint: ").map_or((message, None), |(what, hint)| (what, Some(hint)));
        Self { advice: advice.map(shown), ..Self::ok(what) }
    }

    fn lines(&self, output: Output) -> impl Iterator<Item = String> {
        let (tone, state) = match self.state {
            State::Ok => (Tone::Good, "ok  "),
            State::Warn => (Tone::Warning, "warn"),
            State::Fail => (Tone::Bad, "fail"),
        };
        let state = output.toned(tone, state);
        let advice = self.advice.iter().map(|advice| format!("        {advice}"));
        std::iter::once(format!("  {state}  {}", self.what)).chain(advice)
    }
}

fn shown(text: &str) -> String {
    printable_up_to(text, LONGEST)
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
            lines.push(output.toned(Tone::Heading, section));
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
    fn a_hint_is_what_to_do_and_no_line_breaks_out() {
        let mut report = Report::default();
        report.add("roots", vec![Check::ok("a\nb\u{202e}"), Check::failed(&"it broke\nhint: mend it")]);
        let lines = ["roots", "  ok    a\\nb\\u{202e}", "  fail  it broke", "        mend it", ""];
        let shown = report.lines(Output::plain());
        assert_eq!(shown[..5], lines);
        assert_eq!(shown[5], "1 failure, 0 warnings");
        assert!(report.has_failed());
    }
}

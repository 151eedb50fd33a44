//! Problems of the scorer, for lists of problems.

use super::{MAX_FAILURES, Scorers};

/// A problem of the scorer that did not stop anything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScorerProblem {
    /// Its name in this binary, or that of its file.
    pub name: String,
    /// A stable name, like those of other problems.
    pub code: &'static str,
    pub message: String,
    pub advice: String,
}

impl Scorers {
    pub fn problems(&self) -> Vec<ScorerProblem> {
        let health = self.health();
        let problem = |code, message: &str, advice: &str| ScorerProblem {
            name: health.scorer.name.to_string(),
            code,
            message: message.to_owned(),
            advice: advice.to_owned(),
        };
        let is_suspended = health.in_a_row >= MAX_FAILURES;
        let failed = health.failure.as_ref().map(|failure| {
            let until = match (is_suspended, self.has_file()) {
                (true, true) => "; it is suspended until its file changes",
                (true, false) => "; it is suspended until the server restarts",
                (false, _) => "",
            };
            let message = format!("{failure}; skills were ranked by their keywords instead{until}");
            problem("scorer-failed", &message, "fix the scorer, or choose another with `matching.scorer`")
        });
        let refused = health.refusal.as_ref().map(|refusal| {
            let (message, advice) = refusal.split_once("\nhint: ").unwrap_or((refusal, "restore the file, or fix it"));
            problem("scorer-not-exchanged", &format!("the previous version stays: {message}"), advice)
        });
        failed.into_iter().chain(refused).collect()
    }
}

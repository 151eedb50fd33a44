//! What is wrong with the scorer, for lists of problems.

use super::{MOST_FAILURES, Scorers};

/// Something wrong with the scorer that did not stop anybody else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// Its name in this binary, or that of its file.
    pub name: String,
    /// A stable word, as problems have.
    pub code: &'static str,
    pub message: String,
    pub advice: String,
}

impl Scorers {
    pub fn troubles(&self) -> Vec<Trouble> {
        let conduct = self.conduct();
        let trouble = |code, message: &str, advice: &str| Trouble {
            name: conduct.scorer.name.to_string(),
            code,
            message: message.to_owned(),
            advice: advice.to_owned(),
        };
        let rests = conduct.in_a_row >= MOST_FAILURES;
        let failed = conduct.failure.as_ref().map(|failure| {
            let until = match (rests, self.has_file()) {
                (true, true) => "; it rests until its file changes",
                (true, false) => "; it rests until the server starts anew",
                (false, _) => "",
            };
            let message = format!("{failure}; skills were ranked by their keywords instead{until}");
            trouble("scorer-failed", &message, "mend the scorer, or choose another with `matching.scorer`")
        });
        let refused = conduct.refusal.as_ref().map(|refusal| {
            // What to do about it is in the second line.
            let (message, advice) =
                refusal.split_once("\nhint: ").unwrap_or((refusal, "put the file back, or mend it"));
            trouble("scorer-not-exchanged", &format!("the one before goes on: {message}"), advice)
        });
        failed.into_iter().chain(refused).collect()
    }
}

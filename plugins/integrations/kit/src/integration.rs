//! Maps the generated traits to a plain integration.

use crate::http::Http;
use crate::{QueryError, Question};

/// The functions of a component of world `integration`.
pub trait Integration {
    /// Examples of supported questions, the most common first.
    const QUESTIONS: &'static [&'static str];

    /// Answers a question in plain text. `progress` shows one short line immediately.
    fn ask(question: &Question, http: &dyn Http, progress: &dyn Fn(&str)) -> Result<String, QueryError>;
}

/// Exports a type as the component of an integration: `export_integration!(crate::GitHub);`.
#[macro_export]
macro_rules! export_integration {
    ($integration:ty) => {
        #[cfg(target_family = "wasm")]
        mod exported {
            #![expect(unsafe_code, reason = "generated: the exports of the component")]

            struct Component;

            impl $crate::bindings::exports::skillcell::plugin::query::Guest for Component {
                fn ask(question: $crate::Question) -> Result<String, $crate::QueryError> {
                    $crate::integration::answer::<$integration>(&question)
                }

                fn questions() -> Vec<String> {
                    let questions = <$integration as $crate::Integration>::QUESTIONS;
                    questions.iter().map(|question| (*question).to_owned()).collect()
                }
            }

            $crate::bindings::export!(Component with_types_in $crate::bindings);
        }
    };
}

/// Answers using the network and the log of the host.
#[cfg(target_family = "wasm")]
pub fn answer<I: Integration>(question: &Question) -> Result<String, QueryError> {
    use crate::bindings::skillcell::plugin::{log, progress};

    std::panic::set_hook(Box::new(|panic| log::write(log::Level::Warn, &panic.to_string())));
    I::ask(question, &crate::http::outgoing::Outgoing, &progress::report)
}

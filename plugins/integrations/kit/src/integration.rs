//! From the generated traits to a plain integration, and nothing else.

use crate::http::Http;
use crate::{QueryError, Question};

/// What a component of world `integration` has to be able to do.
pub trait Integration {
    /// Questions that are understood, the most usual first.
    const QUESTIONS: &'static [&'static str];

    /// Answers a question in plain text. `progress` shows one short line at once.
    fn ask(question: &Question, http: &dyn Http, progress: &dyn Fn(&str)) -> Result<String, QueryError>;
}

/// Makes a crate the component of one integration: `export_integration!(crate::GitHub);`.
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

/// Answers through the network and the log of the host.
#[cfg(target_family = "wasm")]
pub fn answer<I: Integration>(question: &Question) -> Result<String, QueryError> {
    use crate::bindings::skillcell::plugin::{log, progress};

    std::panic::set_hook(Box::new(|panic| log::write(log::Level::Warn, &panic.to_string())));
    I::ask(question, &crate::http::outgoing::Outgoing, &progress::report)
}

//! The user of the token.

use crate::hub::Hub;
use integration_kit::QueryError;
use integration_kit::json::Json;
use integration_kit::text::Answer;

pub fn answer(hub: &Hub) -> Result<String, QueryError> {
    hub.progress("reading the current user");
    let user = hub.get("/user", "the user of this token")?;
    let mut answer = Answer::new(&format!("GitHub knows you as {}", user.text("login").unwrap_or("an unnamed user")));
    for (title, field) in [("name", "name"), ("company", "company"), ("e-mail", "email"), ("profile", "html_url")] {
        if let Some(value) = user.text(field) {
            answer.item(&format!("{title}: {value}"));
        }
    }
    Ok(answer.finish())
}

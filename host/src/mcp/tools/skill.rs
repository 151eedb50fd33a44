//! `skill`: a skill by its name, exactly as it is written.

use crate::analytics::Event;
use crate::mcp::answer::{Answer, ToolError};
use crate::mcp::arguments::Arguments;
use crate::mcp::server::Skillcell;
use crate::printable::printable;

pub async fn skill(server: &Skillcell, mut arguments: Arguments) -> Result<Answer, ToolError> {
    let name = arguments.required_text("name")?;
    arguments.finish()?;
    let found = server.catalog.skill(&name).await?;
    if let Ok(served) = &found {
        server.usage.raise(Event::served_by_name(&served.skill.summary.address));
    }
    Ok(match found {
        Ok(served) if server.surface().skill_header => {
            let shown = printable(&served.skill.summary.shown_name);
            let folder = server.shown_folder(&served.skill);
            Answer::Text(format!("Loading: {shown}\nBase directory: {folder}\n\n{}", served.text))
        }
        Ok(served) => Answer::Text(served.text.as_ref().to_owned()),
        Err(error) => Answer::no_skill(&name, &error),
    })
}

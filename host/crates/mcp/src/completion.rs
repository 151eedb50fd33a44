//! Completion of skill names and of the arguments of resource templates.

use crate::answer::{Result, failed, invalid};
use crate::prompts::ANY_SKILL;
use crate::resources;
use crate::server::Server;
use base::printable::{printable, visible};
use bindings::catalog::LookupKind;
use library::files;
use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};

pub async fn complete(server: &Server, request: CompleteRequestParams) -> Result<CompleteResult> {
    let argument = request.argument.name.as_str();
    let values = match &request.r#ref {
        Reference::Prompt(prompt) if prompt.name == ANY_SKILL && argument == "name" => names(server).await?,
        Reference::Prompt(prompt) if prompt.name == ANY_SKILL => Vec::new(),
        Reference::Prompt(prompt) => match server.catalog.skill(&prompt.name).await.map_err(failed)? {
            // Prompts of single skills have no arguments.
            Ok(_) => Vec::new(),
            Err(_) => return Err(unknown("prompt", &prompt.name)),
        },
        Reference::Resource(resource) => match (resource.uri.as_str(), argument) {
            (resources::DOCUMENT | resources::COLLECTION | resources::FILE, "skill") => names(server).await?,
            (resources::FILE, "file") => {
                match request.context.as_ref().and_then(|context| context.get_argument("skill")) {
                    Some(skill) => files_of(server, skill).await?,
                    None => Vec::new(),
                }
            }
            (resources::DOCUMENT | resources::COLLECTION | resources::FILE, _) => Vec::new(),
            (other, _) => return Err(unknown("resource template", other)),
        },
        _ => return Err(invalid("ref is neither a prompt nor a resource template")),
    };
    let (values, total) = rank(values, &request.argument.value);
    let more = total > values.len();
    let info = CompletionInfo::with_pagination(values, u32::try_from(total).ok(), more);
    Ok(CompleteResult::new(info.map_err(|message| ErrorData::internal_error(message, None))?))
}

fn unknown(what: &str, name: &str) -> ErrorData {
    invalid(format!("there is no {what} `{}`", printable(name)))
}

async fn names(server: &Server) -> Result<Vec<String>> {
    let index = server.fresh_index().await?;
    Ok(index.skills.iter().map(|skill| visible(skill.display_name.clone())).collect())
}

async fn files_of(server: &Server, name: &str) -> Result<Vec<String>> {
    let wanted = name.to_owned();
    let asked = server.catalog.ask_fresh(
        move |engine, snapshot| {
            let Ok(found) = engine.skill_of(&wanted, LookupKind::Name)? else { return Ok(None) };
            let file = found.summary.file;
            let opened = engine.files_of(&file)?.and_then(|belonging| files::open(snapshot, &belonging));
            let files = opened.map(|opened| opened.files).unwrap_or_default();
            Ok(Some((file, files.into_iter().map(|file| visible(file.path)).collect())))
        },
        |found| found.as_ref().map(|(file, _)| vec![file.clone()]),
    );
    Ok(asked.await.map_err(failed)?.map(|(_, files)| files).unwrap_or_default())
}

/// Returns values that start with the typed text, then those that contain it, ignoring case; and how many there are.
fn rank(values: Vec<String>, typed: &str) -> (Vec<String>, usize) {
    let typed = typed.to_lowercase();
    let fits = |value: &String| {
        let value = value.to_lowercase();
        let last = value.rsplit(['/', ':']).next().unwrap_or_default();
        let ranks = [value.starts_with(&typed), last.starts_with(&typed), value.contains(&typed)];
        ranks.iter().position(|fits| *fits)
    };
    let mut found: Vec<(usize, String)> = values.into_iter().filter_map(|value| Some((fits(&value)?, value))).collect();
    found.sort_unstable();
    let total = found.len();
    (found.into_iter().map(|(_, value)| value).take(CompletionInfo::MAX_VALUES).collect(), total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_start_with_the_typed_text_come_first() {
        let values = ["ui/csv", "csv-report", "x-csv", "pdf"].map(str::to_owned).to_vec();
        assert_eq!(rank(values, "CSV").0, ["csv-report", "ui/csv", "x-csv"]);
        let many: Vec<String> = (0..250).map(|number| format!("skill-{number:03}")).collect();
        let (values, total) = rank(many, "skill");
        assert_eq!((values.len(), total), (100, 250));
    }
}

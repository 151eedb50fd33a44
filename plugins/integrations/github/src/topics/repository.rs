//! Facts about a repository.

use crate::hub::Hub;
use crate::topics::issues::names;
use integration_kit::QueryError;
use integration_kit::json::{Json, Value};
use integration_kit::text::Answer;
use integration_kit::time::ago;

pub fn answer(hub: &Hub) -> Result<String, QueryError> {
    let repo = hub.repo()?;
    hub.progress(&format!("reading facts about {repo}"));
    let facts = hub.get(&repo.path(""), &format!("repository {repo}"))?;
    let release = hub.find(&repo.path("/releases/latest"))?;

    let mut answer = Answer::new(&format!("Repository {}", facts.text("full_name").unwrap_or(&repo.to_string())));
    answer.line(facts.text("description").unwrap_or("It has no description."));
    answer.line(facts.text("html_url").unwrap_or_default());
    answer.section("Facts");
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            answer.item(&format!("{name}: {value}"));
        }
    };
    let owned = |path: &str| facts.text(path).map(str::to_owned);
    fact("default branch", owned("default_branch"));
    fact("language", owned("language"));
    fact("visibility", Some(visibility(&facts)));
    fact("fork of", owned("parent.full_name"));
    fact("last release", Some(release.as_ref().map_or_else(|| "none".to_owned(), |release| last(release, hub.now()))));
    fact("open issues and pull requests", facts.number("open_issues_count").map(|number| number.to_string()));
    fact("stars", facts.number("stargazers_count").map(|number| number.to_string()));
    fact("forks", facts.number("forks_count").map(|number| number.to_string()));
    fact("license", owned("license.spdx_id").or_else(|| owned("license.name")));
    let topics = names(facts.list("topics"), "");
    fact("topics", (!topics.is_empty()).then_some(topics));
    fact("homepage", owned("homepage"));
    fact("last push", facts.text("pushed_at").map(|moment| ago(moment, hub.now())));
    fact("created", facts.text("created_at").map(|moment| ago(moment, hub.now())));
    Ok(answer.finish())
}

fn visibility(facts: &Value) -> String {
    let private = if facts.is("private") { "private" } else { "public" };
    let visibility = facts.text("visibility").unwrap_or(private);
    if facts.is("archived") { format!("{visibility}, archived") } else { visibility.to_owned() }
}

fn last(release: &Value, now: u64) -> String {
    let tag = release.text("tag_name").unwrap_or("without a tag");
    let name = release.text("name").filter(|name| *name != tag).map(|name| format!(" \"{name}\"")).unwrap_or_default();
    let when = release.text("published_at").map(|moment| format!(", {}", ago(moment, now))).unwrap_or_default();
    let link = release.text("html_url").map(|link| format!(", {link}")).unwrap_or_default();
    format!("{tag}{name}{when}{link}")
}

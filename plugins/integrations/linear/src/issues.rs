//! Lists of issues: assigned to the user, of a cycle, bugs, and search results.

use crate::criteria::{Criteria, Cycle, named_team};
use crate::graphql::Linear;
use crate::lines::{capitalized, day, done, list, sort};
use crate::queries::{CYCLES, ISSUES, MY_TEAMS, SEARCH, TEAMS};
use integration_kit::QueryError;
use integration_kit::json::{Json, Value, json};
use integration_kit::service::paging::Pages;
use integration_kit::text::{Answer, line};

/// Maximum number of pages of issues. A page has 50.
const PAGES: usize = 4;

/// Maximum number of pages of search results. The best come first.
const SEARCH_PAGES: usize = 1;

/// Maximum number of pages of teams and cycles.
const TEAM_PAGES: usize = 2;

pub fn answer(linear: &Linear, criteria: &Criteria) -> Result<String, QueryError> {
    if let Some(cycle) = criteria.cycle {
        return of_cycle(linear, criteria, cycle);
    }
    let filter = whole_filter(linear, criteria)?;
    let mut found = read(linear, &filter)?;
    sort(&mut found.items, criteria.priority.is_some());
    let title = format!("{} in Linear: {}", capitalized(&criteria.describe()), found.items.len());
    let mut answer = Answer::new(&title);
    finish(linear, &mut answer, &found);
    Ok(answer.finish())
}

pub fn search(linear: &Linear, term: &str, criteria: &Criteria) -> Result<String, QueryError> {
    let mut filter = whole_filter(linear, criteria)?;
    if let Some(cycle) = criteria.cycle {
        filter["cycle"] = cycle.filter();
    }
    linear.report(&format!("searching issues for {term}"));
    let variables = json!({"term": term, "filter": filter});
    let found = linear.list(SEARCH, &variables, "searchIssues", "issues that match in Linear", SEARCH_PAGES)?;
    let count = found.items.len();
    let mut answer =
        Answer::new(&format!("{} in Linear that match `{term}`: {count}", capitalized(&criteria.describe())));
    finish(linear, &mut answer, &found);
    Ok(answer.finish())
}

/// Lists the issues of a cycle for the teams of the user, or for the named team.
fn of_cycle(linear: &Linear, criteria: &Criteria, cycle: Cycle) -> Result<String, QueryError> {
    let teams = match &criteria.team {
        Some(name) => teams_named(linear, name)?,
        None => my_teams(linear)?,
    };
    linear.report(&format!("reading the {} cycles", cycle.word()));
    let mut filter = cycle.filter();
    filter["team"] = json!({"id": {"in": ids(&teams)}});
    let cycles = linear.list(CYCLES, &json!({"filter": filter}), "cycles", "the cycles in Linear", TEAM_PAGES)?.items;
    let title = capitalized(&criteria.describe());
    if cycles.is_empty() {
        let names: Vec<_> = teams.iter().map(team_name).collect();
        let mut answer = Answer::new(&format!("{title} in Linear: 0"));
        answer.note(&match names.len() {
            0 => "You are not in any team.".to_owned(),
            _ => format!("There is no {} cycle in these teams: {}.", cycle.word(), names.join(", ")),
        });
        return Ok(answer.finish());
    }
    let mut filter = criteria.filter();
    filter["cycle"] = json!({"id": {"in": ids(&cycles)}});
    // The cycles already belong to the named teams.
    if let Some(filter) = filter.as_object_mut() {
        filter.remove("team");
    }
    let mut found = read(linear, &filter)?;
    sort(&mut found.items, criteria.priority.is_some());
    let mut answer = Answer::new(&format!("{title} in Linear: {}", found.items.len()));
    for cycle in &cycles {
        answer.section(&cycle_title(cycle));
        let id = cycle.text("id");
        let issues: Vec<_> = found.items.iter().filter(|issue| issue.text("cycle.id") == id).collect();
        for issue in &issues {
            list(&mut answer, issue, linear.now);
        }
        if issues.is_empty() {
            answer.line("No issues.");
        }
    }
    answer.note_cut(found.cut, found.items.len(), "issues");
    Ok(answer.finish())
}

/// Adds the teams of the user to the filter, if it is limited to them.
fn whole_filter(linear: &Linear, criteria: &Criteria) -> Result<Value, QueryError> {
    let mut filter = criteria.filter();
    if criteria.my_teams && criteria.team.is_none() {
        filter["team"] = json!({"id": {"in": ids(&my_teams(linear)?)}});
    }
    Ok(filter)
}

/// As in `Engineering (ENG), cycle 14 Login: 2026-03-02 to 2026-03-16, 45 % done`.
fn cycle_title(cycle: &Value) -> String {
    let number = cycle.number("number").map(|number| format!(" {number}")).unwrap_or_default();
    let name = cycle.text("name").map(|name| format!(" {name}")).unwrap_or_default();
    let team = cycle.at("team").map(team_name).unwrap_or_default();
    let mut facts = Vec::new();
    if let (Some(start), Some(end)) = (cycle.text("startsAt"), cycle.text("endsAt")) {
        facts.push(format!("{} to {}", day(start), day(end)));
    }
    facts.extend(done(cycle));
    format!("{team}, cycle{number}{name}: {}", facts.join(", "))
}

fn team_name(team: &Value) -> String {
    let key = team.text("key").unwrap_or("?");
    team.text("name").map_or_else(|| key.to_owned(), |name| format!("{name} ({key})"))
}

fn my_teams(linear: &Linear) -> Result<Vec<Value>, QueryError> {
    linear.report("reading your teams");
    Ok(linear.list(MY_TEAMS, &json!({}), "viewer.teams", "your teams in Linear", TEAM_PAGES)?.items)
}

fn teams_named(linear: &Linear, name: &str) -> Result<Vec<Value>, QueryError> {
    linear.report(&format!("looking for team {name}"));
    let what = format!("team {} in Linear", line(name));
    let variables = json!({"filter": named_team(name)});
    let teams = linear.list(TEAMS, &variables, "teams", &what, TEAM_PAGES)?.items;
    if teams.is_empty() { Err(QueryError::NotFound(what)) } else { Ok(teams) }
}

fn ids(things: &[Value]) -> Vec<&str> {
    things.iter().filter_map(|thing| thing.text("id")).collect()
}

fn read(linear: &Linear, filter: &Value) -> Result<Pages, QueryError> {
    linear.report("reading issues");
    linear.list(ISSUES, &json!({"filter": filter}), "issues", "the issues in Linear", PAGES)
}

fn finish(linear: &Linear, answer: &mut Answer, found: &Pages) {
    if !found.items.is_empty() {
        answer.line("");
    }
    for issue in &found.items {
        list(answer, issue, linear.now);
    }
    answer.note_cut(found.cut, found.items.len(), "issues");
}

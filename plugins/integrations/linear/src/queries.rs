//! The GraphQL queries. All are read-only, and none contains inserted values.

/// The fields for one line about an issue.
macro_rules! issue_line {
    () => {
        "identifier title url priority priorityLabel dueDate updatedAt \
         state { name type } assignee { displayName } project { name } \
         cycle { id number } labels(first: 5) { nodes { name } }"
    };
}

/// Issues that pass a filter, the most recently changed first.
pub const ISSUES: &str = concat!(
    "query Issues($filter: IssueFilter, $first: Int, $after: String) { ",
    "issues(filter: $filter, first: $first, after: $after, orderBy: updatedAt) { nodes { ",
    issue_line!(),
    " } pageInfo { hasNextPage endCursor } } }"
);

/// Issues that match a term, the best match first.
pub const SEARCH: &str = concat!(
    "query Search($term: String!, $filter: IssueFilter, $first: Int, $after: String) { ",
    "searchIssues(term: $term, filter: $filter, first: $first, after: $after) { nodes { ",
    issue_line!(),
    " } pageInfo { hasNextPage endCursor } totalCount } }"
);

/// One issue with all details.
pub const ISSUE: &str = concat!(
    "query Issue($id: String!) { issue(id: $id) { ",
    issue_line!(),
    " description estimate createdAt branchName creator { displayName } team { key name } ",
    "parent { identifier title } children(first: 20) { nodes { identifier title state { name } } } ",
    "comments(first: 30) { nodes { body createdAt user { displayName } botActor { name } } ",
    "pageInfo { hasNextPage } } } }"
);

/// The teams of the user.
pub const MY_TEAMS: &str = "query MyTeams($first: Int, $after: String) { viewer { \
     teams(first: $first, after: $after) { nodes { id key name } pageInfo { hasNextPage endCursor } } } }";

/// Teams by name or key.
pub const TEAMS: &str = "query Teams($filter: TeamFilter, $first: Int, $after: String) { \
     teams(filter: $filter, first: $first, after: $after) { nodes { id key name } \
     pageInfo { hasNextPage endCursor } } }";

/// Cycles that pass a filter.
pub const CYCLES: &str = "query Cycles($filter: CycleFilter, $first: Int, $after: String) { \
     cycles(filter: $filter, first: $first, after: $after) { nodes { \
     id number name startsAt endsAt progress team { id key name } } pageInfo { hasNextPage endCursor } } }";

/// Projects with their last update.
pub const PROJECTS: &str = "query Projects($filter: ProjectFilter, $first: Int, $after: String) { \
     projects(filter: $filter, first: $first, after: $after, orderBy: updatedAt) { nodes { \
     name url progress health startDate targetDate updatedAt status { name type } lead { displayName } \
     lastUpdate { body health createdAt user { displayName } } } pageInfo { hasNextPage endCursor } } }";

#[cfg(test)]
mod tests {
    use super::*;

    /// The host permits a single query operation only.
    #[test]
    fn each_is_one_query_with_matching_braces() {
        for query in [ISSUES, SEARCH, ISSUE, MY_TEAMS, TEAMS, CYCLES, PROJECTS] {
            assert!(query.starts_with("query "), "{query}");
            let mut depth = 0_usize;
            let mut ends = 0;
            for char in query.chars() {
                match char {
                    '{' => depth += 1,
                    '}' => {
                        depth -= 1;
                        ends += usize::from(depth == 0);
                    }
                    _ => {}
                }
            }
            assert_eq!((depth, ends), (0, 1), "{query}");
            assert!(!query.contains('"'), "a value is written into {query}");
        }
    }
}

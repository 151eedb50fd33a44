//! Which tools of MCP servers skills mention, and whether this server offers them.

use super::close::close;
use super::lint::Known;
use crate::bindings::catalog::Mention;
use crate::mcp::surface::Surface;
use crate::mcp::tools::ToolName;
use crate::printable::quoted;
use serde::Serialize;

/// What clients call this server where nobody chose another name.
const OURS: &str = "skillcell";

/// Most mentions that are told.
pub const MOST: u32 = 10_000;

/// Whether this server offers a tool.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "offer", rename_all = "kebab-case")]
pub enum Offer {
    /// It does.
    Offered,
    /// It has the tool, and this configuration leaves it out.
    LeftOut,
    /// It has no such tool; these are called about the same.
    Unknown { close: Vec<String> },
    /// The name is another server's, which has a tool that this server offers under its own name.
    OfferedAs { name: String },
    /// The tool is another server's, of which nothing is known here.
    Elsewhere,
}

/// What is wrong with a mention, as a problem tells it.
pub struct Wrong {
    pub code: &'static str,
    pub message: String,
    pub advice: String,
}

impl Offer {
    pub fn of(mention: &Mention, surface: &Surface) -> Self {
        let offered = |tool: &ToolName| surface.tools.contains(tool);
        match (is_ours(&mention.server), ToolName::called(&mention.tool)) {
            (true, Some(tool)) if offered(&tool) => Self::Offered,
            (true, Some(_)) => Self::LeftOut,
            (true, None) => Self::Unknown { close: close_names(&mention.tool, surface) },
            (false, Some(tool)) if offered(&tool) => Self::OfferedAs { name: full_name(OURS, tool.name()) },
            (false, _) => Self::Elsewhere,
        }
    }

    /// What is wrong, if anything is that can be known here.
    pub fn wrong(&self, mention: &Mention) -> Option<Wrong> {
        let tool = &mention.tool;
        match self {
            Self::Offered | Self::OfferedAs { .. } | Self::Elsewhere => None,
            Self::LeftOut => Some(Wrong {
                code: "tool-left-out",
                message: format!("the tool `{tool}` is left out by this configuration"),
                advice: "add it to `tools`, or choose another `profile`, in the operator's file".to_owned(),
            }),
            Self::Unknown { close } => Some(Wrong {
                code: "unknown-tool",
                message: format!("{OURS} has no tool `{tool}`"),
                advice: match close.as_slice() {
                    [] => "remove it, or name one of the tools in docs/tools.md".to_owned(),
                    close => format!("close names are {}", quoted(close)),
                },
            }),
        }
    }

    /// In a few words, behind the name of the tool.
    pub fn told(&self) -> String {
        match self {
            Self::Offered => "offered".to_owned(),
            Self::LeftOut => "left out by this configuration".to_owned(),
            Self::Unknown { close } if close.is_empty() => "unknown".to_owned(),
            Self::Unknown { close } => format!("unknown; close names are {}", quoted(close)),
            Self::OfferedAs { name } => format!("another server's; this server offers it as `{name}`"),
            Self::Elsewhere => "another server's, which cannot be known here".to_owned(),
        }
    }
}

/// The name by which a model calls a tool.
pub fn full_name(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{tool}")
}

/// Whether a client may mean this server by that name. In a plugin of Claude Code it has the plugin's name in front.
fn is_ours(server: &str) -> bool {
    let in_plugin = server.strip_prefix("plugin_").and_then(|server| server.strip_suffix(OURS));
    server == OURS || in_plugin.is_some_and(|plugin| plugin.len() > 1 && plugin.ends_with('_'))
}

/// The kinds of problems that a mention can have.
pub fn codes() -> [Known; 2] {
    let known = |code: &str, summary: &str, advice: &str| Known {
        code: code.to_owned(),
        severity: "warning",
        summary: summary.to_owned(),
        advice: advice.to_owned(),
        mechanical: false,
    };
    [
        known(
            "tool-left-out",
            "a skill mentions a tool that this configuration leaves out",
            "add it to `tools`, or choose another `profile`, in the operator's file",
        ),
        known(
            "unknown-tool",
            "a skill mentions a tool of this server that there is not",
            "remove it, or name one of the tools in docs/tools.md",
        ),
    ]
}

/// Names of offered tools that somebody who wrote this may have meant, the closest first.
fn close_names(tool: &str, surface: &Surface) -> Vec<String> {
    let close = close(tool, surface.tools.iter().map(|tool| tool.name()));
    close.into_iter().map(|name| full_name(OURS, name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::types::Location;
    use crate::mcp::surface::{Overrides, Profile};

    fn offer(server: &str, tool: &str, tools: &[ToolName]) -> Offer {
        let file = Location { root: 0, path: "a.md".to_owned() };
        let (server, tool) = (server.to_owned(), tool.to_owned());
        let mention = Mention { skill: "a".to_owned(), file, line: 1, column: 1, server, tool };
        let overrides = Overrides { tools: (!tools.is_empty()).then(|| tools.to_vec()), ..Overrides::default() };
        Offer::of(&mention, &Profile::default().surface(overrides))
    }

    #[test]
    fn every_tool_is_offered_under_the_names_that_clients_give_the_server() {
        for tool in ToolName::ALL {
            for server in ["skillcell", "plugin_team_skillcell"] {
                assert_eq!(offer(server, tool.name(), &[]), Offer::Offered, "{server} {tool:?}");
            }
            let name = format!("mcp__skillcell__{}", tool.name());
            assert_eq!(offer("sx", tool.name(), &[]), Offer::OfferedAs { name }, "{tool:?}");
        }
        assert_eq!(offer("skillcell", "skills.list", &[]), Offer::Offered);
    }

    #[test]
    fn a_tool_that_the_operator_left_out_is_not_offered() {
        assert_eq!(offer("skillcell", "query", &[ToolName::Skill]), Offer::LeftOut);
        assert_eq!(offer("sx", "query", &[ToolName::Skill]), Offer::Elsewhere);
    }

    #[test]
    fn an_unknown_tool_has_names_that_are_close() {
        let close = |tool: &str| match offer("skillcell", tool, &[]) {
            Offer::Unknown { close } => close.join(" ").replace("mcp__skillcell__", ""),
            other => panic!("{tool}: {other:?}"),
        };
        assert_eq!(close("qery"), "query");
        assert_eq!(close("skill_resource"), "skill-resource skill");
        assert_eq!(close("search"), "skills_search");
        assert_eq!(close("Run-Script"), "run_script");
        assert_eq!(close("x"), "");
    }

    #[test]
    fn of_other_servers_nothing_is_known() {
        for server in ["github", "skillcell2", "my_skillcell", "plugin_skillcell", "plugin__skillcell"] {
            assert_eq!(offer(server, "get_issue", &[]), Offer::Elsewhere, "{server}");
        }
    }
}

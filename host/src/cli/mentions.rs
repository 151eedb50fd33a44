//! The MCP tools that skills mention, and whether this server offers them.

use super::did_you_mean::close_names;
use super::lint::CodeInfo;
use base::printable::quoted;
use bindings::catalog::Mention;
use mcp::surface::Surface;
use mcp::tools::ToolName;
use serde::Serialize;

/// The default name of this server in clients.
const SERVER_NAME: &str = "skillcell";

/// The most mentions that are reported.
pub const MAX_MENTIONS: u32 = 10_000;

const UNLISTED_ADVICE: &str = "add it to `tools`, or choose another `profile`, in the operator's file";
const UNKNOWN_ADVICE: &str = "remove it, or name one of the tools in docs/tools.md";

/// Whether this server offers a tool.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "offer", rename_all = "kebab-case")]
pub enum Offer {
    Offered,
    /// This server has the tool, but its configuration does not offer it.
    #[serde(rename = "left-out")]
    Unlisted,
    /// This server has no such tool; `close` has the full names of similar ones, closest first.
    Unknown {
        close: Vec<String>,
    },
    /// The tool of another server, which this server offers under its own name.
    OfferedAs {
        name: String,
    },
    /// The tool of another server, about which nothing is known.
    Elsewhere,
}

/// Why a mention is a problem.
pub struct MentionProblem {
    pub code: &'static str,
    pub message: String,
    pub advice: String,
}

impl Offer {
    pub fn of(mention: &Mention, surface: &Surface) -> Self {
        let offered = |tool: &ToolName| surface.tools.contains(tool);
        match (is_ours(&mention.server), ToolName::find(&mention.tool)) {
            (true, Some(tool)) if offered(&tool) => Self::Offered,
            (true, Some(_)) => Self::Unlisted,
            (true, None) => {
                let close = close_names(&mention.tool, surface.tools.iter().map(|tool| tool.name()));
                Self::Unknown { close: close.iter().map(|name| full_name(SERVER_NAME, name)).collect() }
            }
            (false, Some(tool)) if offered(&tool) => Self::OfferedAs { name: full_name(SERVER_NAME, tool.name()) },
            (false, _) => Self::Elsewhere,
        }
    }

    pub fn problem(&self, mention: &Mention) -> Option<MentionProblem> {
        let tool = &mention.tool;
        match self {
            Self::Offered | Self::OfferedAs { .. } | Self::Elsewhere => None,
            Self::Unlisted => Some(MentionProblem {
                code: "tool-left-out",
                message: format!("this configuration does not offer the tool `{tool}`"),
                advice: UNLISTED_ADVICE.to_owned(),
            }),
            Self::Unknown { close } => Some(MentionProblem {
                code: "unknown-tool",
                message: format!("{SERVER_NAME} has no tool `{tool}`"),
                advice: match close.as_slice() {
                    [] => UNKNOWN_ADVICE.to_owned(),
                    close => format!("close names are {}", quoted(close)),
                },
            }),
        }
    }

    /// Describes the offer in a few words, to follow the name of the tool.
    pub fn describe(&self) -> String {
        match self {
            Self::Offered => "offered".to_owned(),
            Self::Unlisted => "not offered by this configuration".to_owned(),
            Self::Unknown { close } if close.is_empty() => "unknown".to_owned(),
            Self::Unknown { close } => format!("unknown; close names are {}", quoted(close)),
            Self::OfferedAs { name } => format!("another server's; this server offers it as `{name}`"),
            Self::Elsewhere => "another server's; not checked".to_owned(),
        }
    }
}

/// The full name by which a model calls a tool.
pub fn full_name(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{tool}")
}

/// Whether a client may use this name for this server. In a plugin of Claude Code the plugin's name is a prefix.
fn is_ours(server: &str) -> bool {
    let in_plugin = server.strip_prefix("plugin_").and_then(|server| server.strip_suffix(SERVER_NAME));
    server == SERVER_NAME || in_plugin.is_some_and(|plugin| plugin.len() > 1 && plugin.ends_with('_'))
}

/// The problem codes that a mention can have.
pub fn codes() -> [CodeInfo; 2] {
    [
        ("tool-left-out", "a skill mentions a tool that this configuration does not offer", UNLISTED_ADVICE),
        ("unknown-tool", "a skill mentions a tool that this server does not have", UNKNOWN_ADVICE),
    ]
    .map(|(code, summary, advice)| CodeInfo {
        code: code.to_owned(),
        severity: "warning",
        summary: summary.to_owned(),
        advice: advice.to_owned(),
        mechanical: false,
        deceptive: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindings::types::Location;
    use mcp::surface::Profile;

    fn offer(server: &str, tool: &str, tools: &[ToolName]) -> Offer {
        let file = Location { root: 0, path: "a.md".to_owned() };
        let (server, tool) = (server.to_owned(), tool.to_owned());
        let mention = Mention { skill: "a".to_owned(), file, line: 1, column: 1, server, tool };
        let mut surface = Profile::default().surface();
        if !tools.is_empty() {
            surface.tools = tools.to_vec();
        }
        Offer::of(&mention, &surface)
    }

    #[test]
    fn every_tool_is_offered_under_the_server_names_of_clients() {
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
    fn a_tool_disabled_by_the_operator_is_not_offered() {
        assert_eq!(offer("skillcell", "query", &[ToolName::Skill]), Offer::Unlisted);
        assert_eq!(offer("sx", "query", &[ToolName::Skill]), Offer::Elsewhere);
    }

    #[test]
    fn an_unknown_tool_gets_suggestions() {
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
    fn tools_of_other_servers_are_not_judged() {
        for server in ["github", "skillcell2", "my_skillcell", "plugin_skillcell", "plugin__skillcell"] {
            assert_eq!(offer(server, "get_issue", &[]), Offer::Elsewhere, "{server}");
        }
    }
}

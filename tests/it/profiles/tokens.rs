//! What tools and instructions cost a model, in tokens of four characters.

use super::{PROFILES, add_skill, serve_as, text, tools};
use crate::library;

/// A profile, and the most tokens of its tools and of its instructions. `unified` and `ccski` list all skills in both or one of them.
const LIMITS: [(&str, usize, usize); 6] = [
    ("unified", 1_400, 450),
    ("sk", 250, 50),
    ("ccski", 800, 100),
    ("skilljack", 1_300, 100),
    ("sx", 350, 100),
    ("skills-mcp", 900, 200),
];

#[test]
fn tools_and_instructions_cost_no_more_than_they_may() {
    let folder = library(&[]);
    for number in 0..12 {
        let description = format!(
            "Does the thing with number {number} as the team wants it, step by step. Use it when asked to do it, or when a file of that kind has to be read, changed, checked or written anew."
        );
        add_skill(folder.path(), &format!("skill-number-{number}"), &description);
    }
    assert_eq!(LIMITS.map(|(profile, ..)| profile), PROFILES.map(|(profile, _)| profile));
    for (profile, max_tools, max_instructions) in LIMITS {
        let mut session = serve_as(profile, folder.path()).env("GITHUB_TOKEN", "SECRET-TOKEN").silent();
        session.wait_for_log("generation 1");
        let initialized = session.initialize("2025-11-25");
        let instructions = text(&initialized["result"]["instructions"]).chars().count().div_ceil(4);
        let cost = |tool: &serde_json::Value| {
            [text(&tool["name"]), text(&tool["description"]), &tool["inputSchema"].to_string()].concat().chars().count()
        };
        let tools = tools(&mut session).iter().map(cost).sum::<usize>().div_ceil(4);
        assert!(tools <= max_tools, "{profile}: the tools cost {tools} tokens");
        assert!(instructions <= max_instructions, "{profile}: the instructions cost {instructions} tokens");
    }
}

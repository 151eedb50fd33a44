//! `skillcell demo`: a short session between a client and the real server, on the bundled skills.

#![expect(clippy::print_stdout, reason = "here a person reads standard output; the server is another process")]

mod client;

use anyhow::Context as _;
use client::Client;
use serde_json::{Value, json};
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

pub fn run() -> anyhow::Result<ExitCode> {
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let library = folder.path().join("skills");
    unpack(&library).context("cannot unpack the bundled skills")?;
    let mut demo = Demo { client: Client::start(&library)?, show: Show { colour: std::io::stdout().is_terminal() } };
    demo.play()?;
    Ok(ExitCode::SUCCESS)
}

fn unpack(folder: &Path) -> std::io::Result<()> {
    for (path, bytes) in skillcell_artifacts::BUNDLED_SKILLS {
        let file = folder.join(path);
        std::fs::create_dir_all(file.parent().unwrap_or(folder))?;
        std::fs::write(file, bytes)?;
    }
    Ok(())
}

struct Demo {
    client: Client,
    show: Show,
}

impl Demo {
    fn play(&mut self) -> anyhow::Result<()> {
        self.show.title("skillcell: an MCP server and a client, talking over stdio");

        self.show.step("1. What is there?");
        let list = self.ask("skills_list", &json!({}))?;
        let skills = list["skills"].as_array().map(Vec::as_slice).unwrap_or_default();
        self.show
            .answer(&format!("{} skills, in folders with a SKILL.md and in a tree of Markdown files", skills.len()));
        for skill in skills {
            Show::entry(text(&skill["skillPath"]), text(&skill["meta"]["description"]));
        }

        self.show.step("2. The right skill for a task, with everything it inherits");
        let found = self.ask("get_skill", &json!({"context": "build a React login form component"}))?;
        self.show.answer(&format!(
            "{}, score {}, for {}",
            text(&found["skill_path"]),
            found["score"],
            words(&found["matched_keywords"])
        ));
        for header in text(&found["content"]).lines().filter(|line| line.starts_with("=== ")) {
            Show::line(header);
        }
        Show::entry("its own files", &files(&found["assets"]));
        Show::entry("inherited", &[files(&found["inherited_assets"]), files(&found["inherited_scripts"])].join(", "));

        self.show.step("3. A question that two skills answer");
        let question = "add login with authentication";
        let found = self.ask("get_skill", &json!({"context": question}))?;
        self.show.answer("ambiguous, so the model is asked to choose:");
        for candidate in found["candidates"].as_array().into_iter().flatten() {
            Show::entry(text(&candidate["skill_path"]), text(&candidate["description"]));
        }
        let found = self.ask("get_skill", &json!({"context": question, "skill_path": "api/auth"}))?;
        self.show.answer(&format!(
            "{}, with {} characters of instructions",
            text(&found["skill_path"]),
            text(&found["content"]).len()
        ));

        self.show.step("4. A word that must occur");
        let found = self.ask("skills_search", &json!({"query": "index", "limit": 3}))?;
        self.show.answer(&format!("{} skills contain it, the best three first", found["total"]));
        for hit in found["results"].as_array().into_iter().flatten() {
            Show::entry(text(&hit["skillPath"]), text(&hit["excerpt"]));
        }

        self.show.step("5. A path that tries to climb out");
        let refused =
            self.ask("get_asset", &json!({"skill_path": "ui/react/auth", "file": "../../../../etc/passwd"}))?;
        self.show.answer(&format!("refused: {}", text(&refused)));

        println!();
        self.show.title("Serve your own folder with `skillcell serve ./my-skills`.");
        Ok(())
    }

    fn ask(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<Value> {
        self.show.question(tool, arguments);
        self.client.call(tool, arguments)
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn words(value: &Value) -> String {
    value.as_array().into_iter().flatten().map(text).collect::<Vec<_>>().join(", ")
}

fn files(entries: &Value) -> String {
    entries.as_array().into_iter().flatten().map(|entry| text(&entry["file"])).collect::<Vec<_>>().join(", ")
}

/// How the session looks on a terminal, and without colour elsewhere.
struct Show {
    colour: bool,
}

impl Show {
    fn title(&self, text: &str) {
        println!("{}", self.styled("1", text));
    }

    fn step(&self, text: &str) {
        println!("\n{}", self.styled("1;36", text));
    }

    fn question(&self, tool: &str, arguments: &Value) {
        println!("  {} {tool} {arguments}", self.styled("33", "->"));
    }

    fn answer(&self, text: &str) {
        println!("  {} {}", self.styled("32", "<-"), text.replace('\n', "\n     "));
    }

    fn line(text: &str) {
        println!("     {text}");
    }

    /// A name and what it is about, cut to one line.
    fn entry(name: &str, about: &str) {
        let room = 92;
        let cut = about.char_indices().nth(room).map_or(about.len(), |(at, _)| at);
        let dots = if cut < about.len() { "…" } else { "" };
        println!("     {name:<18} {}{dots}", &about[..cut]);
    }

    fn styled(&self, style: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{style}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

//! `skill-resource`: any file of a skill, a folder of them, or the list.

use super::get_asset::{asset_served, traversal, unreadable};
use super::run_script::gone;
use super::{Hints, Tool, ToolName};
use crate::answer::{self, Answer, MAX_BYTES, Result, failed};
use crate::resources::{contents, uri_of};
use crate::server::Server;
use analytics::Event;
use base::printable::{counted, printable, printable_up_to, quoted};
use bindings::catalog::{AssetError, FoundAsset, FoundSkill, LookupError, LookupKind};
use bindings::library::ReadError;
use bindings::types::{Location, SkillModel};
use call::Call;
use guests::call::Broken;
use guests::engine::EngineInstance;
use library::files::{self, SkillFile, SkillFolder};
use library::snapshot::Snapshot;
use rmcp::model::{ContentBlock, ResourceContents};
use schemars::JsonSchema;
use scripts::{kept, runs_undeclared};
use serde::Deserialize;
use views::json_length;

/// The most files named in a message.
const MAX_QUOTED: usize = 20;

#[derive(Deserialize, JsonSchema)]
pub struct SkillResource {
    skill: String,
    path: String,
}

impl Tool for SkillResource {
    const NAME: &'static str = "skill-resource";
    const TITLE: &'static str = "Read files of a skill";
    const PURPOSE: &'static str = "Read files of a skill: `path` is a file, a folder, empty for a list, or the `uri` of a \
        file that a script wrote.";
    const HINTS: Hints = &[(ToolName::Skill, "load the skill itself")];

    async fn call(self, server: &Server, call: &Call) -> Result<Answer> {
        if kept::is_run_uri(&self.path) {
            return Ok(match server.scripts.kept_file(&call.caller, &self.path) {
                Some(file) => file_answer(self.path, &file.path, file.bytes.to_vec()),
                None => answer::refused(gone(&self.path)),
            });
        }
        let (name, path) = (self.skill.clone(), self.path.clone());
        let limit = server.terms.operator.max_size_bytes;
        let asked = server.catalog.ask_fresh(
            move |engine, snapshot| find(engine, snapshot, &name, &path, limit),
            // A missing file may be inherited from any file above by now.
            |found| match found {
                Ok(Found { content: Content::Missing(_), .. }) | Err(_) => None,
                Ok(found) => Some(found.sources.clone()),
            },
        );
        Ok(match asked.await.map_err(failed)? {
            Err(error) => answer::no_skill(&self.skill, &error),
            Ok(Found { skill, content, .. }) => {
                call.usage.record_all(content.events(&skill.summary.address));
                answer(server, &skill, &self.path, content)
            }
        })
    }
}

struct Found {
    skill: FoundSkill,
    content: Content,
    /// The files that the answer depends on.
    sources: Vec<Location>,
}

/// What is at a path below a skill.
enum Content {
    /// All files, and the scripts among them.
    List(Vec<SkillFile>, Vec<String>),
    File(FoundAsset, Vec<u8>),
    /// As many files as fit into one answer, and the omitted ones.
    Folder(Vec<(String, Vec<u8>)>, Vec<SkillFile>),
    /// Nothing; the skill has these files.
    Missing(Vec<SkillFile>),
    Unsafe,
    Unreadable(String),
}

impl Content {
    /// Returns one event for each file that is served. The type of files in a folder is not known.
    fn events(&self, skill: &str) -> Vec<Event> {
        match self {
            Self::File(found, bytes) => vec![asset_served(found, bytes.len())],
            Self::Folder(files, _) => {
                let event = |(file, bytes): &(String, Vec<u8>)| Event::AssetServed {
                    skill_path: skill.to_owned(),
                    file: file.clone(),
                    asset_type: "other".to_owned(),
                    is_inherited: false,
                    size_bytes: bytes.len(),
                };
                files.iter().map(event).collect()
            }
            Self::List(..) | Self::Missing(_) | Self::Unsafe | Self::Unreadable(_) => Vec::new(),
        }
    }
}

fn find(
    engine: &mut EngineInstance,
    snapshot: &Snapshot,
    name: &str,
    path: &str,
    operator_limit: u64,
) -> Result<Result<Found, LookupError>, Broken> {
    let skill = match engine.skill_of(name, LookupKind::Name)? {
        Ok(skill) => skill,
        Err(error) => return Ok(Err(error)),
    };
    let settings = engine.settings_of(skill.summary.file.root)?;
    let limit = settings.assets.max_size_bytes;
    let mut sources: Vec<Location> =
        std::iter::once(skill.summary.file.clone()).chain(settings.sources.iter().cloned()).collect();
    let belonging = engine.files_of(&skill.summary.file)?;
    let opened = || belonging.as_ref().and_then(|belonging| files::open(snapshot, belonging));
    let files = || opened().map(|opened| opened.files).unwrap_or_default();
    let plain: Vec<&str> = path.split('/').filter(|segment| !matches!(*segment, "" | ".")).collect();
    let plain = plain.join("/");
    if !path.starts_with('/') && plain.is_empty() {
        let files = files();
        let scripts = settings.scripts;
        let is_folder = skill.summary.model == SkillModel::Folder;
        let runs = |file: &&SkillFile| is_folder && runs_undeclared(&scripts, &file.path);
        let runnable = files.iter().filter(runs).map(|file| file.path.clone()).collect();
        return Ok(Ok(Found { skill, content: Content::List(files, runnable), sources }));
    }
    let content = match engine.asset_of(&skill.summary.address, path)? {
        Ok(found) => {
            sources.extend(found.sources.iter().cloned());
            match snapshot.read(&found.asset, limit) {
                Ok(bytes) => Content::File(found, bytes),
                // A skill may declare a folder.
                Err(ReadError::NotAFile) => everything_below(&plain, opened(), limit),
                Err(error) => Content::Unreadable(unreadable(&found, &error, operator_limit)),
            }
        }
        Err(AssetError::UnsafePath) => Content::Unsafe,
        Err(AssetError::NoSkill(error)) => return Ok(Err(error)),
        Err(AssetError::NoFile(_)) => everything_below(&plain, opened(), limit),
    };
    Ok(Ok(Found { skill, content, sources }))
}

/// Returns the files below a folder, if there are any.
fn everything_below(folder: &str, opened: Option<SkillFolder>, limit: u64) -> Content {
    let Some(SkillFolder { folder: handle, files }) = opened else { return Content::Missing(Vec::new()) };
    let inside = |file: &SkillFile| file.path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    let (inside, others): (Vec<SkillFile>, Vec<SkillFile>) = files.into_iter().partition(inside);
    if inside.is_empty() {
        return Content::Missing(others);
    }
    let (mut read, mut omitted, mut room) = (Vec::new(), Vec::new(), MAX_BYTES);
    for file in inside {
        let fits = usize::try_from(file.size).is_ok_and(|size| size <= room);
        let bytes = if fits { handle.read(&file.path, limit).ok() } else { None };
        match bytes {
            Some(bytes) => {
                let used = std::str::from_utf8(&bytes).map_or(bytes.len() / 3 * 4 + 4, json_length);
                room = room.saturating_sub(used + 100);
                read.push((file.path, bytes));
            }
            None => omitted.push(file),
        }
    }
    Content::Folder(read, omitted)
}

fn file_answer(uri: String, path: &str, bytes: Vec<u8>) -> Answer {
    match contents(uri, path, bytes) {
        ResourceContents::TextResourceContents { text, .. } => answer::text(text),
        blob => Answer::success(vec![ContentBlock::resource(blob)]),
    }
}

fn answer(server: &Server, skill: &FoundSkill, path: &str, content: Content) -> Answer {
    let uri = &skill.summary.uri;
    let name = printable(&skill.summary.display_name);
    match content {
        Content::List(files, _) if files.is_empty() => {
            answer::text(format!("`{name}` has no files besides its instructions"))
        }
        Content::List(files, runnable) => {
            let mut used = 0;
            // On one line each, so that no name forges another.
            let names = files.iter().map(|file| printable_up_to(&file.path, usize::MAX)).take_while(|path| {
                used += json_length(path);
                used <= MAX_BYTES
            });
            let names: Vec<String> = names.collect();
            let mut text = names.join("\n");
            let more = files.len() - names.len();
            if more > 0 {
                text = format!("{text}\n… and {}: request a folder", counted(more, "more file"));
            }
            let runtime =
                |file: &String| Some(format!("{file} ({})", server.scripts.runtime_of(file, server.audience())?));
            let runnable: Vec<String> = runnable.iter().filter_map(runtime).take(MAX_QUOTED).collect();
            if !runnable.is_empty() && server.surface.tools.contains(&ToolName::RunScript) {
                text = format!("{text}\n\nrun_script runs: {}", runnable.join(", "));
            }
            answer::text(text)
        }
        Content::File(found, bytes) => file_answer(uri_of(uri, &found.asset.file), &found.asset.file, bytes),
        Content::Folder(files, omitted) => {
            let block = |(path, bytes): (String, _)| ContentBlock::resource(contents(uri_of(uri, &path), &path, bytes));
            let mut blocks: Vec<ContentBlock> = files.into_iter().map(block).collect();
            if !omitted.is_empty() {
                let bytes: u64 = omitted.iter().map(|file| file.size).sum();
                let names: Vec<String> = omitted.iter().take(MAX_QUOTED).map(|file| file.path.clone()).collect();
                let count = counted(omitted.len(), "more file");
                let verb = if omitted.len() == 1 { "is" } else { "are" };
                let hint = format!("request one at a time, such as {}", quoted(&names));
                let note = format!("{count} with {bytes} bytes {verb} omitted: {hint}");
                blocks.push(ContentBlock::text(note));
            }
            Answer::success(blocks)
        }
        Content::Unsafe => answer::refused(traversal(path)),
        Content::Unreadable(why) => answer::refused(why),
        Content::Missing(files) => {
            let names: Vec<String> = files.into_iter().take(MAX_QUOTED).map(|file| file.path).collect();
            let path = printable(path);
            answer::refused(match &names[..] {
                [] => format!(
                    "`{name}` has no `{path}`, and no other files\nhint: its instructions say which files it has"
                ),
                _ => format!("`{name}` has no file or folder `{path}`\nhint: it has {}", quoted(&names)),
            })
        }
    }
}

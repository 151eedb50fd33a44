//! `skill-resource`: any file of a skill, a folder of them, or the list.

use crate::analytics::Event;
use crate::bindings::catalog::{AssetError, Called, FoundAsset, FoundSkill, LookupError};
use crate::bindings::library::ReadError;
use crate::bindings::types::Location;
use crate::library::files::{self, Opened, SkillFile};
use crate::library::resources::ResourceFolder;
use crate::library::snapshot::Snapshot;
use crate::mcp::answer::{Answer, MOST_BYTES, ToolError, json_length};
use crate::mcp::arguments::Arguments;
use crate::mcp::contents::contents;
use crate::mcp::server::Skillcell;
use crate::mcp::tools::get_asset::{asset_served, traversal, unreadable};
use crate::printable::{counted, printable, quoted};
use crate::runtime::call::Broken;
use crate::worlds::engine::EngineInstance;
use rmcp::model::{ContentBlock, ResourceContents};
use std::sync::Arc;

/// Most files named when the one asked for is not there.
const MOST_NAMED: usize = 20;

pub async fn skill_resource(server: &Skillcell, mut arguments: Arguments) -> Result<Answer, ToolError> {
    let name = arguments.required_text("skill")?;
    let path = arguments.required_text("path")?;
    arguments.finish()?;
    let (wanted, below) = (name.clone(), path.clone());
    let limit = server.config.operator.max_size_bytes;
    let question =
        move |engine: &mut EngineInstance, snapshot: &Arc<Snapshot>| look(engine, snapshot, &wanted, &below, limit);
    let answered = server.catalog.ask_fresh(question, |found| {
        let found = found.as_ref().ok()?;
        // What is not there may be inherited from any file above by now.
        (!matches!(found.looked, Looked::Nothing(_))).then(|| found.sources.clone())
    });
    Ok(match answered.await? {
        Err(error) => Answer::no_skill(&name, &error),
        Ok(Found { skill, looked, .. }) => {
            server.usage.raise_all(looked.events(&skill.summary.address));
            answer(&skill, &path, looked)
        }
    })
}

/// A skill, and what is at a path below it.
struct Found {
    skill: FoundSkill,
    looked: Looked,
    /// The files that decide about it.
    sources: Vec<Location>,
}

/// What is at a path below a skill.
enum Looked {
    List(Vec<SkillFile>),
    File(FoundAsset, Vec<u8>),
    /// As many files as one answer holds, and those that are left out.
    Folder(Vec<(String, Vec<u8>)>, Vec<SkillFile>),
    Nothing(Vec<SkillFile>),
    Unsafe,
    Unreadable(String),
}

impl Looked {
    /// One for each file that is served. Of files in a folder nobody asked what they are.
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
            Self::List(_) | Self::Nothing(_) | Self::Unsafe | Self::Unreadable(_) => Vec::new(),
        }
    }
}

fn look(
    engine: &mut EngineInstance,
    snapshot: &Snapshot,
    name: &str,
    path: &str,
    operator_limit: u64,
) -> Result<Result<Found, LookupError>, Broken> {
    let skill = match engine.skill_of(name, Called::ByName)? {
        Ok(skill) => skill,
        Err(error) => return Ok(Err(error)),
    };
    let settings = engine.settings_of(skill.summary.file.root)?;
    let limit = settings.assets.max_size_bytes;
    let mut sources: Vec<Location> = std::iter::once(skill.summary.file.clone()).chain(settings.sources).collect();
    let belonging = engine.files_of(&skill.summary.file)?;
    let opened = || belonging.as_ref().and_then(|belonging| files::open(snapshot, belonging));
    let files = || opened().map(|opened| opened.files).unwrap_or_default();
    let plain: Vec<&str> = path.split('/').filter(|segment| !matches!(*segment, "" | ".")).collect();
    let plain = plain.join("/");
    if !path.starts_with('/') && plain.is_empty() {
        return Ok(Ok(Found { skill, looked: Looked::List(files()), sources }));
    }
    let looked = match engine.asset_of(&skill.summary.address, path)? {
        Ok(found) => {
            sources.extend(found.sources.iter().cloned());
            match snapshot.read(&found.asset, limit) {
                Ok(bytes) => Looked::File(found, bytes),
                // A skill may declare a folder.
                Err(ReadError::NotAFile) => everything_below(&plain, opened(), limit),
                Err(error) => Looked::Unreadable(unreadable(&found, &error, operator_limit)),
            }
        }
        Err(AssetError::UnsafePath) => Looked::Unsafe,
        Err(AssetError::NoSkill(error)) => return Ok(Err(error)),
        Err(AssetError::NoFile(_)) => everything_below(&plain, opened(), limit),
    };
    Ok(Ok(Found { skill, looked, sources }))
}

/// The files below a folder, if there are any.
fn everything_below(folder: &str, opened: Option<Opened>, limit: u64) -> Looked {
    let Some(Opened { folder: handle, files }) = opened else { return Looked::Nothing(Vec::new()) };
    let inside = |file: &SkillFile| file.path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    let (inside, others): (Vec<SkillFile>, Vec<SkillFile>) = files.into_iter().partition(inside);
    if inside.is_empty() { Looked::Nothing(others) } else { read_all(&handle, inside, limit) }
}

fn read_all(folder: &ResourceFolder, files: Vec<SkillFile>, limit: u64) -> Looked {
    let mut read = Vec::new();
    let mut left_out = Vec::new();
    let mut room = MOST_BYTES;
    for file in files {
        let size = usize::try_from(file.size).unwrap_or(usize::MAX);
        let bytes: Result<Vec<u8>, ReadError> =
            if size > room { Err(ReadError::NotFound) } else { folder.read(&file.path, limit) };
        match bytes {
            Ok(bytes) => {
                let used = std::str::from_utf8(&bytes).map_or(bytes.len() / 3 * 4 + 4, json_length);
                room = room.saturating_sub(used + 100);
                read.push((file.path, bytes));
            }
            Err(_) => left_out.push(file),
        }
    }
    Looked::Folder(read, left_out)
}

fn answer(skill: &FoundSkill, path: &str, looked: Looked) -> Answer {
    let uri = &skill.summary.uri;
    let name = printable(&skill.summary.shown_name);
    match looked {
        Looked::List(files) if files.is_empty() => {
            Answer::Text(format!("`{name}` has no files besides its instructions"))
        }
        Looked::List(files) => {
            let (shown, more) = fitted(&files);
            let mut text = shown.join("\n");
            if more > 0 {
                text = format!("{text}\n… and {}: ask for a folder", counted(more, "more file"));
            }
            Answer::Text(text)
        }
        Looked::File(found, bytes) => match contents(uri, &found.asset.file, bytes) {
            ResourceContents::TextResourceContents { text, .. } => Answer::Text(text),
            blob => Answer::Blocks(vec![ContentBlock::resource(blob)]),
        },
        Looked::Folder(files, left_out) => {
            let mut blocks: Vec<ContentBlock> =
                files.into_iter().map(|(path, bytes)| ContentBlock::resource(contents(uri, &path, bytes))).collect();
            if !left_out.is_empty() {
                let bytes: u64 = left_out.iter().map(|file| file.size).sum();
                let names: Vec<String> = left_out.iter().take(MOST_NAMED).map(|file| file.path.clone()).collect();
                let count = counted(left_out.len(), "more file");
                let verb = if left_out.len() == 1 { "is" } else { "are" };
                let hint = format!("ask for one at a time, such as {}", quoted(&names));
                let note = format!("{count} with {bytes} bytes {verb} left out: {hint}");
                blocks.push(ContentBlock::text(note));
            }
            Answer::Blocks(blocks)
        }
        Looked::Unsafe => Answer::Refused(traversal(path)),
        Looked::Unreadable(why) => Answer::Refused(why),
        Looked::Nothing(files) => {
            let names: Vec<String> = files.into_iter().take(MOST_NAMED).map(|file| file.path).collect();
            let path = printable(path);
            Answer::Refused(match &names[..] {
                [] => format!(
                    "`{name}` has no `{path}`, and no other files\nhint: its instructions say which files it has"
                ),
                _ => format!("`{name}` has no file or folder `{path}`\nhint: it has {}", quoted(&names)),
            })
        }
    }
}

/// The names that fit into one answer, and how many do not.
fn fitted(files: &[SkillFile]) -> (Vec<&str>, usize) {
    let mut room = MOST_BYTES;
    let fits = files.iter().take_while(|file| {
        let length = json_length(&file.path);
        let fits = length <= room;
        room = room.saturating_sub(length);
        fits
    });
    let shown: Vec<&str> = fits.map(|file| file.path.as_str()).collect();
    let more = files.len() - shown.len();
    (shown, more)
}

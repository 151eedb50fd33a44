//! `skillcell client`: what a client has to be told about this server, and telling it.

mod answer;
pub mod document;
pub mod entry;
mod json;
pub mod merge;
pub mod places;
pub mod program;
mod setting;
mod toml;
pub mod writing;

use super::Roots;
use super::serve::start::{self, Surroundings};
use crate::config::places::Places;
use crate::config::variable;
use crate::mcp::surface::Profile;
use crate::terminal;
use answer::{Answer, Done};
use anyhow::Context as _;
use clap::{Args, ValueEnum as _};
use entry::Entry;
use merge::{Merged, NoMerge};
use places::{Bases, Client, Place, Scope};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use writing::{NoChange, Readers};

#[derive(Args)]
pub struct ClientArguments {
    /// Which client
    #[arg(value_enum)]
    client: Client,
    /// Folders of skills; a comma separates several
    #[arg(value_name = "DIR")]
    folders: Vec<String>,
    #[command(flatten)]
    more: Roots,
    /// Which other server to stand in for
    #[arg(long, value_enum, value_name = "NAME")]
    profile: Option<Profile>,
    /// What the server is called in the client; skills that name tools expect `skillcell`
    #[arg(long, value_name = "NAME", default_value = answer::USUAL_NAME)]
    name: String,
    /// For whom: in your own settings, or in those of the project in this folder
    #[arg(long, value_enum, default_value = "user")]
    scope: Scope,
    #[command(flatten)]
    deed: Deed,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What is to be done with the client's file. By default it is left alone.
#[derive(Args)]
struct Deed {
    /// Write it into the client's file, and keep everything else that is there
    #[arg(long)]
    write: bool,
    /// With `--write`: also if there is another entry of this name
    #[arg(long, requires = "write")]
    force: bool,
    /// Take the entry of this name out of the client's file
    #[arg(long, conflicts_with_all = ["write", "folders", "profile"])]
    remove: bool,
}

/// Why the client's file was left alone.
#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error(
        "{} cannot be understood: {reason}\nhint: nothing was changed; mend it first, for the client cannot read it either",
        file.display()
    )]
    Malformed { file: PathBuf, reason: document::Malformed },
    #[error("{}: {reason}\nhint: nothing was changed; see what is there", file.display())]
    NoMerge { file: PathBuf, reason: NoMerge },
    #[error(transparent)]
    NoChange(#[from] NoChange),
}

impl Refused {
    fn new(file: &Path, reason: NoMerge) -> Self {
        match reason {
            NoMerge::Malformed(reason) => Self::Malformed { file: file.to_owned(), reason },
            reason => Self::NoMerge { file: file.to_owned(), reason },
        }
    }
}

pub fn run(arguments: ClientArguments) -> anyhow::Result<ExitCode> {
    let ClientArguments { client, folders, more, profile, name, scope, deed, json } = arguments;
    let working_folder = std::env::current_dir().context("the working folder cannot be found")?;
    let place = places::of(client, scope);
    let home = variable("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let bases = Bases { home: home.as_deref(), project: &working_folder, variable: &variable };
    let homeless = || format!("{}, so nobody knows where settings are\nhint: set HOME", Places::missing(variable));
    let file = place.file(&bases).with_context(homeless)?;
    let entry = Entry::new(name, words(&folders, &more, profile, &working_folder)?, scope)?;
    if !deed.remove {
        entry.check_for(client, place.title)?;
        warn_if_it_ends(&entry, &working_folder);
    }
    let (done, backup) = carry_out(&deed, client, &place, &file, &entry)?;
    let answer = Answer { client, place, file, entry, done, backup };
    if json {
        terminal::print_json(&answer.view())?;
    } else {
        terminal::print_lines(&answer.lines())?;
    }
    Ok(ExitCode::from(u8::from(matches!(answer.done, Done::Differs(_)))))
}

/// What the program is started with. Nothing depends on where that happens.
fn words(
    folders: &[String],
    more: &Roots,
    profile: Option<Profile>,
    working_folder: &Path,
) -> anyhow::Result<Vec<String>> {
    let mut words = vec!["serve".to_owned()];
    let lists = folders.iter().chain(&more.folders).flat_map(|list| list.split(','));
    for folder in lists.map(str::trim).filter(|folder| !folder.is_empty()) {
        let folder = absolute(working_folder, Path::new(folder));
        if !folder.is_dir() {
            terminal::note(&format!("{} is no folder now; it is served as soon as it is one", folder.display()));
        }
        words.push(entry::text(&folder)?);
    }
    words.extend(more.user.then(|| "--user".to_owned()));
    words.extend(more.plugins.then(|| "--plugins".to_owned()));
    if let Some(config) = &more.config {
        words.extend(["--config".to_owned(), entry::text(&absolute(working_folder, config))?]);
    }
    if let Some(profile) = profile.and_then(|profile| profile.to_possible_value()) {
        words.extend(["--profile".to_owned(), profile.get_name().to_owned()]);
    }
    Ok(words)
}

/// Tells if a server with this entry would end as soon as it is started here. Somebody may mend that later, so nothing is refused.
fn warn_if_it_ends(entry: &Entry, working_folder: &Path) {
    let Some(serve) = start::parsed(entry.arguments.iter().map(String::as_str)) else { return };
    if let Err(error) = start::check(serve, &Surroundings { variable: &variable, working_folder }) {
        let error =
            format!("{error:#}").replace("`skillcell serve ./my-skills`", "`skillcell client CLIENT ./my-skills`");
        terminal::note(&format!("a server that is started like this ends at once: {error}"));
    }
}

/// A path that does not depend on where somebody is. Links stay as they are, unless the way leads back through one.
fn absolute(working_folder: &Path, path: &Path) -> PathBuf {
    let whole: PathBuf = working_folder.join(path).components().collect();
    let climbs = whole.components().any(|part| part == std::path::Component::ParentDir);
    if climbs { whole.canonicalize().unwrap_or(whole) } else { whole }
}

fn carry_out(
    deed: &Deed,
    client: Client,
    place: &Place,
    file: &Path,
    entry: &Entry,
) -> Result<(Done, Option<PathBuf>), Refused> {
    let readers = if place.scope == Scope::User { Readers::Owner } else { Readers::Usual };
    let refused = |reason| Refused::new(file, reason);
    let mut done = Done::Shown;
    let changed = if deed.remove {
        writing::change(file, readers, |text| {
            let taken = merge::take(text, place, &entry.name).map_err(refused)?;
            done = if taken.is_some() { Done::Removed } else { Done::Absent };
            Ok::<_, Refused>(taken)
        })?
    } else if deed.write {
        writing::change(file, readers, |text| {
            let merged = merge::put(text, place, client, entry, deed.force).map_err(refused)?;
            let (came, text) = match merged {
                Merged::Added(text) => (Done::Added, Some(text)),
                Merged::Replaced(text) => (Done::Replaced, Some(text)),
                Merged::Same => (Done::Same, None),
                Merged::Differs(lines) => (Done::Differs(lines), None),
            };
            done = came;
            Ok::<_, Refused>(text)
        })?
    } else {
        None
    };
    Ok((done, changed.and_then(|changed| changed.backup)))
}

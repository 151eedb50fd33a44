//! `skillcell plugin list`: lists every component in the binary or in the operator's file.

use super::check::{self, grouped};
use super::contents::World;
use crate::cli::table::table;
use crate::compose;
use crate::config::{self, CliArgs, Config};
use base::digest::Sha256;
use base::place::Audience;
use base::printable::printable;
use catalog::scorers::options::{ScorerChoice, ScorerFile};
use clap::Args;
use guests::executor::Executor;
use guests::load;
use guests::scorer::{Bundled, ScorerWorld};
use guests::script::{Language, Role, ScriptWorld};
use scripts::Runner;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use terminal::{self, Output};

#[derive(Args)]
pub struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The operator's configuration; by default `SKILLCELL_CONFIG`, or `~/.config/skillcell/config.yaml`
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Serialize)]
pub struct Plugin {
    pub name: String,
    pub world: World,
    /// Whether a server with this configuration uses it.
    pub in_use: bool,
    /// The extensions of the scripts that a runtime runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    extensions: Vec<String>,
    /// `skillcell` for bundled plugins, otherwise the file.
    pub from: String,
    /// In bytes, of native code for bundled plugins. Missing for the built-in keyword scorer and for unreadable files.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Sha256>,
    /// Whether the configuration pins the digest.
    pinned: bool,
    /// Why it cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

pub fn run(arguments: List) -> anyhow::Result<ExitCode> {
    let plugins = plugins(&config::resolve(CliArgs { config: arguments.config, ..CliArgs::default() })?)?;
    terminal::print_report(arguments.json, &plugins, &lines(&plugins, Output::standard()))?;
    Ok(ExitCode::from(u8::from(plugins.iter().any(|plugin| plugin.problem.is_some()))))
}

/// Every plugin that a server with this configuration could use.
pub fn plugins(config: &Config) -> anyhow::Result<Vec<Plugin>> {
    let cache = compose::code_cache(config.user_folders.as_ref());
    let executor = Arc::new(Executor::for_scripts(cache.clone()).map_err(compose::wasm_error)?);
    let scripts = ScriptWorld::new(executor).map_err(compose::wasm_error)?;
    let scorers = ScorerWorld::new(cache).map_err(compose::wasm_error)?;
    let mut plugins = vec![Plugin::bundled("engine", World::Engine, skillcell_artifacts::ENGINE, true)];
    plugins.extend(list_runtimes(config, &scripts));
    plugins.extend(list_scorers(config, &scorers));
    Ok(plugins)
}

fn list_runtimes(config: &Config, world: &ScriptWorld) -> Vec<Plugin> {
    let used = |runner: &Runner, plugin: Plugin| {
        let runs = config.scripts.runners.iter().filter(|(_, runs)| *runs == runner).map(|(extension, _)| extension);
        let allowed = runs.filter(|extension| config.scripts.allowed_extensions.contains(*extension));
        let extensions: Vec<String> = allowed.cloned().collect();
        Plugin { in_use: config.scripts.enabled && !extensions.is_empty(), extensions, ..plugin }
    };
    let bundled = Language::all().map(|language| {
        let problem = world.bundled(language).err().map(|error| error.for_audience(Audience::Local));
        let plugin = Plugin::bundled(language.name(), World::ScriptRuntime, language.compressed(), true);
        used(&Runner::Bundled(language), Plugin { problem, ..plugin })
    });
    let component = |runner: &Runner| if let Runner::Component(path) = runner { Some(path.clone()) } else { None };
    let files: BTreeSet<PathBuf> = config.scripts.runners.values().filter_map(component).collect();
    let from_files = files.into_iter().map(|path| {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let load =
            |bytes: &[u8], digest| world.load(bytes, digest, Role::Runtime).err().map(|fault| format!("it {fault}"));
        used(&Runner::Component(path.clone()), Plugin::file(&name, World::ScriptRuntime, &path, load))
    });
    bundled.chain(from_files).collect()
}

fn list_scorers(config: &Config, world: &ScorerWorld) -> Vec<Plugin> {
    let keyword = Plugin {
        size: None,
        sha256: None,
        ..Plugin::bundled("keyword", World::Scorer, &[], config.scorers.choice == ScorerChoice::Keyword)
    };
    let bundled = Bundled::all().map(|which| {
        let problem = world.bundled(which).err().map(|error| error.for_audience(Audience::Local));
        let in_use = config.scorers.choice == ScorerChoice::Bundled(which);
        Plugin { problem, ..Plugin::bundled(which.name(), World::Scorer, which.code(), in_use) }
    });
    let from_files = config.scorers.own().into_iter().map(|(name, file)| {
        let ScorerFile { path, sha256 } = &file;
        let load = |_: &[u8], _| world.from_file(path, *sha256).err().map(|error| error.for_audience(Audience::Local));
        Plugin {
            in_use: config.scorers.choice == ScorerChoice::Component(file.clone()),
            pinned: sha256.is_some(),
            ..Plugin::file(&name, World::Scorer, path, load)
        }
    });
    std::iter::once(keyword).chain(bundled).chain(from_files).collect()
}

impl Plugin {
    fn bundled(name: &str, world: World, code: &[u8], in_use: bool) -> Self {
        Self {
            name: name.to_owned(),
            world,
            in_use,
            extensions: Vec::new(),
            from: "skillcell".to_owned(),
            size: Some(code.len()),
            sha256: Some(Sha256::of(code)),
            pinned: false,
            problem: None,
        }
    }

    /// A plugin from a file. `load` returns why it cannot be used.
    fn file(name: &str, world: World, path: &Path, load: impl FnOnce(&[u8], Sha256) -> Option<String>) -> Self {
        let mut plugin = Self { from: path.display().to_string(), ..Self::bundled(name, world, &[], false) };
        (plugin.size, plugin.sha256, plugin.problem) = match load::read(path, check::MAX_BYTES) {
            Ok(bytes) => {
                let digest = Sha256::of(&bytes);
                (Some(bytes.len()), Some(digest), load(&bytes, digest))
            }
            Err(fault) => (None, None, Some(format!("it {fault}"))),
        };
        plugin
    }

    fn row(&self) -> Vec<String> {
        /// Enough to distinguish files; the JSON has the whole digest.
        const DIGITS: usize = 12;
        let in_use = match (self.in_use, self.extensions.is_empty()) {
            (false, _) => String::new(),
            (true, true) => "in use".to_owned(),
            (true, false) => self.extensions.join(" "),
        };
        let digest = self.sha256.map(|digest| digest.hex()[..DIGITS].to_owned()).unwrap_or_default();
        vec![
            printable(&self.name),
            self.world.name().to_owned(),
            in_use,
            self.size.map(grouped).unwrap_or_default(),
            digest,
            if self.pinned { "pinned" } else { "" }.to_owned(),
            printable(&self.from),
        ]
    }
}

fn lines(plugins: &[Plugin], output: Output) -> Vec<String> {
    let heading = ["NAME", "WORLD", "IN USE", "BYTES", "SHA256", "", "FROM"];
    let mut lines = table(output, &heading, plugins.iter().map(Plugin::row));
    lines.extend(plugins.iter().filter_map(|plugin| {
        Some(format!("\n`{}` cannot be used: {}", printable(&plugin.name), plugin.problem.as_ref()?))
    }));
    lines
}

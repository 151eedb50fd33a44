//! The resolved settings of scripts.

use crate::check::extension;
use base::place::{Audience, Place};
use bindings::catalog::ScriptLimits;
use guests::script::Language;
use sandbox::limits::Limits;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Debug, Clone)]
pub struct Options {
    pub enabled: bool,
    /// Whether scripts run that a folder skill has but does not declare.
    pub undeclared: bool,
    pub limits: Limits,
    pub runs_at_once: usize,
    /// Scripts see the same time and the same random numbers in every run.
    pub deterministic: bool,
    /// With a leading dot, in lower case.
    pub allowed_extensions: BTreeSet<String>,
    pub runners: BTreeMap<String, Runner>,
}

/// What runs the scripts of one extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Runner {
    /// The script is itself WebAssembly.
    Itself,
    Bundled(Language),
    /// A component of world `script-runtime`.
    Component(PathBuf),
}

impl Runner {
    /// Returns the name of the runtime, or the component.
    pub fn name(&self, audience: Audience) -> String {
        match self {
            Self::Itself => "wasm".to_owned(),
            Self::Bundled(language) => language.name().to_owned(),
            Self::Component(path) => Place::file(path).for_audience(audience).into_owned(),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        let mut runners = BTreeMap::from([(".wasm".to_owned(), Runner::Itself)]);
        for language in Language::all() {
            runners.extend(language.extensions().iter().map(|name| ((*name).to_owned(), Runner::Bundled(language))));
        }
        Self {
            enabled: true,
            undeclared: true,
            limits: Limits::default(),
            runs_at_once: std::thread::available_parallelism().map_or(1, NonZero::get),
            deterministic: false,
            allowed_extensions: runners.keys().cloned().collect(),
            runners,
        }
    }
}

impl Options {
    /// Names what runs a file, if scripts of its extension run.
    pub fn runtime_of(&self, file: &str, audience: Audience) -> Option<String> {
        let extension = extension(file);
        let runs = self.enabled && self.allowed_extensions.contains(&extension);
        Some(self.runners.get(&extension).filter(|_| runs)?.name(audience))
    }

    /// The runtimes that a script may start to run another script.
    pub fn bundled_runtimes(&self) -> Arc<[&'static str]> {
        let allowed = self.runners.iter().filter(|(extension, _)| self.allowed_extensions.contains(*extension));
        let bundled = allowed.filter_map(|(_, runner)| match runner {
            Runner::Bundled(language) => Some(language.name()),
            Runner::Itself | Runner::Component(_) => None,
        });
        bundled.collect()
    }

    /// The limits that the engine needs to report content that tries to exceed them.
    pub fn terms(&self) -> ScriptLimits {
        ScriptLimits {
            enabled: self.enabled,
            undeclared: self.undeclared,
            timeout_seconds: self.limits.time.as_secs(),
            max_output_bytes: self.limits.output as u64,
            memory_bytes: self.limits.memory as u64,
            fuel: self.limits.fuel,
            scratch_bytes: self.limits.scratch_bytes,
            scratch_files: self.limits.scratch_files,
            allowed_extensions: self.allowed_extensions.iter().cloned().collect(),
        }
    }
}

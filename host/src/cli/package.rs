//! `skillcell package`: adds Python packages for scripts, and shows and checks those that are there.

use super::{failure, table};
use crate::compose;
use crate::config::{self, CliArgs, Config};
use anyhow::Context as _;
use base::environment::variable;
use base::printable::{counted, printable_up_to};
use base::user_folders::UserFolders;
use clap::{Args, Subcommand, ValueEnum};
use guests::executor::Executor;
use guests::script::{PYTHON_VERSION, ScriptWorld};
use packages::change::{self, Report, Request, Update};
use packages::download::{Client, IndexAddress};
use packages::installed::check_python;
use packages::known;
use packages::lock::{LOCAL, Lock, Locked};
use packages::name::Name;
use packages::requirement::Requirement;
use packages::store::Store;
use packages::wheel::MAX_WHEEL_BYTES;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use terminal::progress::Progress;
use terminal::{Output, Tone};

#[derive(Args)]
pub struct PackageArguments {
    #[command(subcommand)]
    command: Command,
    /// The operator's configuration; by default `SKILLCELL_CONFIG`, or `~/.config/skillcell/config.yaml`
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    /// Add packages and what they need, as wheels of pure Python; exit code 1 if that is not possible
    ///
    /// Examples:
    ///   skillcell package add pyyaml pypdf==6.0.0
    ///   skillcell package add --preset documents
    ///   skillcell package add --wheel ./ours-1.0-py3-none-any.whl
    #[command(verbatim_doc_comment)]
    Add(Add),
    /// List the installed packages; exit code 1 if they cannot be used
    ///
    /// Example: skillcell package list --json
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove packages, and what only they need
    ///
    /// Example: skillcell package remove pyyaml
    Remove {
        #[arg(required = true, value_name = "NAME")]
        names: Vec<Name>,
    },
    /// Replace packages by their newest versions, within what was asked for; without names, all of them
    ///
    /// Example: skillcell package update pyyaml
    Update {
        #[arg(value_name = "NAME")]
        names: Vec<Name>,
        #[command(flatten)]
        index: Index,
    },
    /// Check the lock file, the wheels and the archive, and that the sandbox makes this archive of these wheels; exit code 1 if
    /// something is wrong
    ///
    /// Example: skillcell package verify
    Verify {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
struct Add {
    /// Names, each with a version or a range if the newest is not wanted, as in `PyYAML==6.0.2`
    #[arg(value_name = "NAME[==VERSION]", required_unless_present_any = ["preset", "wheels"], value_parser = requirement)]
    packages: Vec<Requirement>,
    /// Add a set of packages
    #[arg(long, value_enum)]
    preset: Option<Preset>,
    /// Add a wheel from a file. Without names, no index is asked
    #[arg(long = "wheel", value_name = "FILE")]
    wheels: Vec<PathBuf>,
    #[command(flatten)]
    index: Index,
}

#[derive(Args)]
pub struct Index {
    /// The index to ask; by default `PIP_INDEX_URL`, `packages.index` of the operator's file, or the public one
    #[arg(long = "index", value_name = "URL")]
    address: Option<IndexAddress>,
}

/// A named set of packages.
#[derive(Clone, Copy, ValueEnum)]
enum Preset {
    /// What skills for documents use: PDF, Excel, XML, YAML, HTML, Markdown, tables, templates, dates
    Documents,
}

impl Preset {
    fn packages(self) -> impl Iterator<Item = Requirement> {
        let names = match self {
            Self::Documents => known::DOCUMENTS,
        };
        names.into_iter().map(|name| name.parse().expect("the name of a package"))
    }
}

fn requirement(text: &str) -> Result<Requirement, String> {
    let requirement: Requirement =
        text.parse().map_err(|error: packages::requirement::InvalidRequirement| error.to_string())?;
    if requirement.has_marker() {
        Err("a requirement on the command line has no condition".to_owned())
    } else {
        Ok(requirement)
    }
}

pub fn run(arguments: PackageArguments) -> anyhow::Result<ExitCode> {
    let config = config::resolve(CliArgs { config: arguments.config, ..CliArgs::default() })?;
    let store = compose::package_store(&config);
    let store =
        store.with_context(|| format!("{}, so there is no folder for packages", UserFolders::why_missing(variable)))?;
    match arguments.command {
        Command::Add(add) => {
            let wheels: Vec<(String, Vec<u8>)> =
                add.wheels.iter().map(|path| read_wheel(path)).collect::<Result<_, _>>()?;
            let names = add.packages.into_iter().chain(add.preset.into_iter().flat_map(Preset::packages));
            let request = Request { add: names.collect(), wheels, ..Request::default() };
            let is_offline = request.add.is_empty() && add.index.address.is_none();
            let client = if is_offline { None } else { Some(client(&config, add.index)?) };
            make(&config, &store, client.as_ref(), request)
        }
        Command::Remove { names } => make(&config, &store, None, Request { remove: names, ..Request::default() }),
        Command::Update { names, index } => {
            let update = if names.is_empty() { Update::All } else { Update::Only(names) };
            make(&config, &store, Some(&client(&config, index)?), Request { update, ..Request::default() })
        }
        Command::List { json } => list(&store, json),
        Command::Verify { json } => verify(&config, &store, json),
    }
}

pub fn client(config: &Config, index: Index) -> anyhow::Result<Client> {
    let mut options = config.packages.clone();
    // A flag overrides the environment, and so does not depend on it.
    match index.address {
        Some(address) => {
            options =
                config::packages::with_environment(options, |name| variable(name).filter(|_| name != "PIP_INDEX_URL"))?;
            options.index = address;
        }
        None => options = config::packages::with_environment(options, variable)?,
    }
    Ok(Client::new(options))
}

fn read_wheel(path: &Path) -> anyhow::Result<(String, Vec<u8>)> {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .with_context(|| format!("{} is not a file name", path.display()))?;
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_WHEEL_BYTES + 1).read_to_end(&mut bytes));
    read.with_context(|| format!("cannot read {}", path.display()))?;
    anyhow::ensure!(
        bytes.len() as u64 <= MAX_WHEEL_BYTES,
        "{} is larger than {} MiB",
        path.display(),
        MAX_WHEEL_BYTES >> 20
    );
    Ok((name.to_owned(), bytes))
}

fn world(config: &Config) -> anyhow::Result<Arc<ScriptWorld>> {
    let executor =
        Executor::for_scripts(compose::code_cache(config.user_folders.as_ref())).map_err(compose::wasm_error)?;
    ScriptWorld::new(Arc::new(executor)).map_err(compose::wasm_error)
}

/// Makes a change, and reports it.
fn make(config: &Config, store: &Store, client: Option<&Client>, request: Request) -> anyhow::Result<ExitCode> {
    let runtime = compose::tokio_runtime()?;
    let world = world(config)?;
    let progress = Progress::start_indeterminate("changing packages");
    let changed = runtime.block_on(change::change(store, &world, client, request));
    drop(progress);
    runtime.shutdown_background();
    match changed {
        Ok(report) => {
            for note in &report.notes {
                terminal::print_note(&format!("note: {note}"));
            }
            terminal::print_lines(&change_lines(&report, Output::standard()))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => failure::report(&error.to_string(), false),
    }
}

fn change_lines(report: &Report, output: Output) -> Vec<String> {
    let change = |(name, versions): (&Name, &(Option<_>, Option<_>))| match versions {
        (None, Some(after)) => format!("{} {name} {after}", output.paint(Tone::Good, "+")),
        (Some(before), None) => format!("{} {name} {before}", output.paint(Tone::Bad, "-")),
        (Some(before), Some(after)) => format!("{} {name} {before} -> {after}", output.paint(Tone::Warning, "~")),
        (None, None) => String::new(),
    };
    let mut lines: Vec<String> = report.changes.iter().map(change).collect();
    if lines.is_empty() {
        lines.push("no version has changed".to_owned());
    }
    lines.push(summary(&report.lock));
    lines
}

/// How many packages there are, and the digest of their archive.
pub fn summary(lock: &Lock) -> String {
    let count = counted(lock.packages.len(), "package");
    match &lock.archive {
        Some(digest) => format!("{count} for Python {PYTHON_VERSION} in the sandbox, {digest}"),
        None => count,
    }
}

/// Why the packages cannot be used, without compiling anything.
pub fn problem(store: &Store, lock: &Lock) -> Option<String> {
    if let Err(error) = check_python(lock) {
        return Some(error.to_string());
    }
    lock.archive.and_then(|digest| store.archive(&digest).err()).map(|error| error.to_string())
}

fn list(store: &Store, json: bool) -> anyhow::Result<ExitCode> {
    let lock = match store.lock() {
        Ok(lock) => lock,
        Err(error) => return failure::report(&error.to_string(), json),
    };
    let problem = problem(store, &lock);
    let output = Output::standard();
    let heading = ["NAME", "VERSION", "", "SHA256", "FROM"];
    let mut lines = table::table(output, &heading, lock.packages.iter().map(|package| row(package, &lock)));
    if lock.packages.is_empty() {
        lines.clear();
    }
    lines.push(summary(&lock));
    terminal::print_report(json, &view(&lock, problem.as_deref()), &lines)?;
    match problem {
        Some(problem) if !json => failure::report(&problem, false),
        problem => Ok(ExitCode::from(u8::from(problem.is_some()))),
    }
}

fn row(package: &Locked, lock: &Lock) -> Vec<String> {
    let is_requested = lock.requested.iter().any(|wanted| wanted.name == package.name);
    let from = if package.source == LOCAL { package.file.clone() } else { package.source.clone() };
    vec![
        package.name.to_string(),
        package.version.to_string(),
        if is_requested { "" } else { "needed" }.to_owned(),
        package.sha256.hex()[..12].to_owned(),
        printable_up_to(&from, 500),
    ]
}

fn view(lock: &Lock, problem: Option<&str>) -> Value {
    let package = |package: &Locked| {
        json!({
            "name": package.name,
            "version": package.version.to_string(),
            "requested": lock.requested.iter().find(|wanted| wanted.name == package.name).map(ToString::to_string),
            "file": package.file,
            "sha256": package.sha256,
            "source": package.source,
        })
    };
    json!({
        "python": lock.python,
        "archive": lock.archive,
        "packages": lock.packages.iter().map(package).collect::<Vec<_>>(),
        "problem": problem,
    })
}

fn verify(config: &Config, store: &Store, json: bool) -> anyhow::Result<ExitCode> {
    let runtime = compose::tokio_runtime()?;
    let world = world(config)?;
    let progress = Progress::start_indeterminate("checking packages");
    let problems = runtime.block_on(change::verify(store, &world));
    drop(progress);
    runtime.shutdown_background();
    let lock = store.lock().unwrap_or_default();
    let mut lines = problems.clone();
    if problems.is_empty() {
        lines.push(format!("{}: intact", summary(&lock)));
    }
    let view = json!({"archive": lock.archive, "packages": lock.packages.len(), "problems": problems});
    terminal::print_report(json, &view, &lines)?;
    Ok(ExitCode::from(u8::from(!problems.is_empty())))
}

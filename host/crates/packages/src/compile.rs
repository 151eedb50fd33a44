//! Compiles the modules of packages, by CPython in the sandbox, and puts everything into one archive.

use crate::zip;
use base::printable::{counted, printable_up_to, quoted};
use bytes::Bytes;
use guests::run::Lost;
use guests::script::{Finished, Guest, Job, Language, ScriptWorld, mount_python};
use sandbox::denials::Denials;
use sandbox::files::memory::{Memory, Quota};
use sandbox::files::path::GuestPath;
use sandbox::files::{Files, OpenMode};
use sandbox::limits::Limits;
use sandbox::state::Capabilities;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const PROGRAM: &str = include_str!("compile.py");

/// A set of twenty packages takes three seconds.
const TIMEOUT: Duration = Duration::from_mins(5);

const MEMORY_BYTES: usize = 512 << 20;
const SCRATCH_BYTES: u64 = 512 << 20;

/// Modules of all packages together.
const MAX_MODULES: usize = 50_000;

#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    #[error("Python in the sandbox cannot be started: {0}")]
    Start(String),
    #[error("{0}")]
    Lost(#[from] Lost),
    #[error("the packages cannot be compiled in the sandbox: {0}")]
    Failed(String),
    #[error("the packages have {0}, and the limit is {MAX_MODULES}")]
    TooMany(String),
    #[error("a package has {}, which would shadow the standard library\nhint: Python in the sandbox has it already", quoted(.0))]
    Standard(Vec<String>),
    #[error("the packages are too large for one archive")]
    TooLarge,
}

/// A compiled archive.
pub struct Archive {
    pub bytes: Vec<u8>,
    /// Modules that are not valid for this version of Python, which are left out.
    pub invalid: Vec<String>,
}

#[derive(Deserialize)]
struct Report {
    failed: Vec<usize>,
    standard: Vec<String>,
}

/// Makes the archive of these files. The same files always make the same archive.
pub async fn archive(world: &ScriptWorld, files: BTreeMap<String, Bytes>) -> Result<Archive, CompileError> {
    let (sources, mut content): (Vec<_>, BTreeMap<String, Bytes>) = {
        let (sources, rest): (Vec<_>, Vec<_>) = files.into_iter().partition(|(path, _)| path.ends_with(".py"));
        (sources, rest.into_iter().collect())
    };
    if sources.len() > MAX_MODULES {
        return Err(CompileError::TooMany(counted(sources.len(), "module")));
    }
    let mut finished = run(world, &sources).await?;
    if finished.exit_code != 0 {
        let reason = finished.stderr.text.lines().next_back().unwrap_or("no reason is known").to_owned();
        return Err(CompileError::Failed(printable_up_to(&reason, 300)));
    }
    let lost = || CompileError::Failed("a result is missing".to_owned());
    let report = read(&mut finished.files, "report.json").ok_or_else(lost)?;
    let report: Report = serde_json::from_slice(&report).map_err(|_| lost())?;
    if !report.standard.is_empty() {
        return Err(CompileError::Standard(report.standard));
    }
    let mut invalid = Vec::new();
    for (number, (path, _)) in sources.into_iter().enumerate() {
        if report.failed.contains(&number) {
            invalid.push(path);
        } else {
            let compiled = read(&mut finished.files, &number.to_string()).ok_or_else(lost)?;
            content.insert(format!("{path}c"), compiled);
        }
    }
    let bytes = zip::write(&content).ok_or(CompileError::TooLarge)?;
    Ok(Archive { bytes, invalid })
}

/// Runs the compiler over sources. It sees nothing else, and time and random numbers are fixed.
async fn run(world: &ScriptWorld, sources: &[(String, Bytes)]) -> Result<Finished, CompileError> {
    let guest = cpython(world)?;
    let names: Vec<&str> = sources.iter().map(|(path, _)| path.as_str()).collect();
    let names = serde_json::to_vec(&names).expect("texts are JSON");
    let numbered = sources.iter().enumerate().map(|(number, (_, bytes))| (number.to_string(), bytes.clone()));
    let own = [("compile.py", Bytes::from_static(PROGRAM.as_bytes())), ("names.json", names.into())];
    let inputs = own.map(|(name, bytes)| (name.to_owned(), bytes)).into_iter().chain(numbered);
    let limits = Limits {
        time: TIMEOUT,
        memory: MEMORY_BYTES,
        scratch_bytes: SCRATCH_BYTES,
        scratch_files: sources.len() as u64 + 1,
        ..Limits::default()
    };
    let quota = Quota::new(limits.scratch_bytes, limits.scratch_files);
    let denials = Denials::default();
    let mut files = Files::new(denials.clone());
    files.mount("compile", Memory::frozen(inputs));
    files.mount("tmp", Memory::scratch(Arc::clone(&quota)));
    mount_python(&mut files);
    let file = "/compile/compile.py".to_owned();
    let mut capabilities =
        Capabilities::of_files(files, vec!["python3".to_owned(), file.clone()], limits.output, denials);
    capabilities.variables.push(("PWD".to_owned(), "/tmp".to_owned()));
    let job = Job { guest, file, capabilities, limits, quota };
    Ok(world.run(job, CancellationToken::new()).await?)
}

fn cpython(world: &ScriptWorld) -> Result<Guest, CompileError> {
    let language = Language::all().find(|language| language.is_cpython());
    let language = language.ok_or_else(|| CompileError::Start("this binary has no Python".to_owned()))?;
    world.bundled(language).map_err(|error| CompileError::Start(error.for_audience(base::place::Audience::Local)))
}

fn read(files: &mut Files, name: &str) -> Option<Bytes> {
    let file = files.open(&GuestPath::default(), &format!("tmp/{name}"), OpenMode::default()).ok()?.file?;
    let mut bytes = vec![0; usize::try_from(file.stat().ok()?.size).ok()?];
    let count = file.read_at(&mut bytes, 0).ok()?;
    (count == bytes.len()).then(|| bytes.into())
}

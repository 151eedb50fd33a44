//! The folders in which the server keeps what is its own.

use super::report::Check;
use crate::audit::Audit;
use crate::config::places::Places;
use crate::config::variable;
use crate::printable::counted;
use crate::sandbox::runtimes::Cache;
use std::path::Path;

pub fn checks(places: Option<&Places>) -> Vec<Check> {
    let Some(places) = places else {
        return vec![Check::warn(
            format!("{}, so compiled code is not kept and there is no audit record", Places::missing(variable)),
            "set HOME where the server is started",
        )];
    };
    vec![cache(places), record(places)]
}

fn cache(places: &Places) -> Check {
    let folder = places.native_code();
    match Cache::open(&folder, &places.cache_key()) {
        Ok(_) => {
            let (files, bytes) = contents(&folder);
            Check::ok(format!("compiled code: {}, {}, {bytes} bytes", folder.display(), counted(files, "file")))
        }
        Err(error) => Check::warned(&format!("compiled code is not kept: {error}")),
    }
}

fn record(places: &Places) -> Check {
    let folder = places.audit();
    let verified = Audit::open(&folder, &places.audit_key())
        .map_err(|error| error.to_string())
        .and_then(|audit| audit.verify().map_err(|error| error.to_string()));
    match verified {
        Ok(verdict) if verdict.faults.is_empty() => {
            Check::ok(format!("audit record: {}, {}, whole", folder.display(), counted(verdict.lines, "line")))
        }
        Ok(_) => Check::fail(
            format!("audit record: {} was changed by somebody else", folder.display()),
            "run `skillcell audit verify` to see where",
        ),
        Err(error) => Check::failed(&format!("no script runs and nothing is asked: {error}")),
    }
}

fn contents(folder: &Path) -> (usize, u64) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.filter_map(|entry| entry.metadata().ok()).filter(std::fs::Metadata::is_file);
    sizes.fold((0, 0), |(files, bytes), file| (files + 1, bytes + file.len()))
}

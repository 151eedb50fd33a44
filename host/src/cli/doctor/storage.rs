//! Checks the cache of compiled code and the audit record.

use super::report::Check;
use audit::Audit;
use base::environment::variable;
use base::printable::counted;
use base::user_folders::UserFolders;
use guests::cache::Cache;
use std::path::Path;

pub fn checks(folders: Option<&UserFolders>) -> Vec<Check> {
    let Some(folders) = folders else {
        return vec![Check::warn(
            format!(
                "{}, so compiled code is not cached and there is no audit record",
                UserFolders::why_missing(variable)
            ),
            "set HOME where the server is started",
        )];
    };
    vec![cache(folders), record(folders)]
}

fn cache(folders: &UserFolders) -> Check {
    let folder = folders.native_code();
    match Cache::open(&folder, &folders.cache_key()) {
        Ok(_) => {
            let (files, bytes) = contents(&folder);
            Check::ok(format!("compiled code: {}, {}, {bytes} bytes", folder.display(), counted(files, "file")))
        }
        Err(error) => Check::warned(&format!("compiled code is not cached: {error}")),
    }
}

fn record(folders: &UserFolders) -> Check {
    let folder = folders.audit();
    let verified = Audit::open(&folder, &folders.audit_key())
        .map_err(|error| error.to_string())
        .and_then(|audit| audit.verify().map_err(|error| error.to_string()));
    match verified {
        Ok(verdict) if verdict.faults.is_empty() => {
            Check::ok(format!("audit record: {}, {}, intact", folder.display(), counted(verdict.lines, "line")))
        }
        Ok(_) => Check::fail(
            format!("audit record: {} was tampered with", folder.display()),
            "run `skillcell audit verify` to see where",
        ),
        Err(error) => Check::failed(&format!("scripts and queries are disabled: {error}")),
    }
}

/// The number of files in a folder, and their size.
fn contents(folder: &Path) -> (usize, u64) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.filter_map(|entry| entry.metadata().ok()).filter(std::fs::Metadata::is_file);
    sizes.fold((0, 0), |(files, bytes), file| (files + 1, bytes + file.len()))
}

//! Python packages that the operator adds for scripts.
//!
//! Owns the way from a name to an archive that scripts can import: the index ([`index`]), the choice of versions ([`resolve`]), what is
//! accepted of a wheel ([`wheel`]), the compilation in the sandbox ([`compile`]), and the folder with the lock file ([`store`]).
//! Must not know skills, the catalog, grants or MCP: a run is lent the archive, and nothing of a package runs anywhere but in a run.
//!
//! Start reading with [`change`], which adds, updates and removes, and [`installed`], from which a server takes the archive of a run.
//! Everything that comes from an index or a wheel is foreign: sizes, names and paths are checked before they are used.

pub mod change;
pub mod installed;
pub mod store;
pub mod lock;
pub mod known;
pub mod resolve;
pub mod requirement;
pub mod name;
pub mod index;
pub mod download;
pub mod wheel;
pub mod zip;
pub mod directory;
pub mod compile;

/// Where the archive is in the sandbox. It is on `sys.path` after the script's folder and the standard library.
pub const ARCHIVE_FOLDER: &str = "packages";
pub const ARCHIVE_NAME: &str = "site-packages.zip";

/// The list of its files, beside it.
pub const DIRECTORY_NAME: &str = "directory";

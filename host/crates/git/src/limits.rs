//! How much a remote can make the server hold. Repositories are not trusted, and skills are text.

use std::ffi::c_int;

/// Maximum size of a list of references: about 250,000 of them.
pub const MAX_REFERENCES_BYTES: u64 = 16 << 20;

/// Maximum size of what one fetch expands to, so also of the fetch. Resolving one delta can take as much work as this.
pub const MAX_PACK_BYTES: u64 = 4 << 30;

/// Maximum number of objects of one fetch. libgit2 needs about 200 bytes for each.
pub const MAX_PACK_OBJECTS: u32 = 500_000;

/// Maximum size of a file, and of any other object. libgit2 has up to three of them in memory at a time.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

/// Maximum size of the files that one checkout writes.
pub const MAX_COMMIT_BYTES: u64 = 1 << 30;

/// Maximum size of one folder as git stores it.
pub const MAX_TREE_BYTES: u64 = 16 << 20;

/// Maximum number of files and folders of a commit. A few nested objects can describe astronomically many.
pub const MAX_ENTRIES: usize = 200_000;

/// Maximum depth of folders.
pub const MAX_DEPTH: usize = 100;

/// Maximum size of the paths of a commit together. Many files in a folder with a long name need much memory.
pub const MAX_PATH_BYTES: usize = 32 << 20;

/// Applies these limits to what libgit2 does itself, such as a fetch from a local folder.
pub fn set_in_libgit2() {
    use libgit2_sys::{GIT_OPT_SET_PACK_MAX_OBJECT_SIZE, GIT_OPT_SET_PACK_MAX_OBJECTS, git_libgit2_opts};
    let max_bytes = usize::try_from(MAX_FILE_BYTES).expect("it fits into memory");
    for (option, limit) in
        [(GIT_OPT_SET_PACK_MAX_OBJECT_SIZE, max_bytes), (GIT_OPT_SET_PACK_MAX_OBJECTS, MAX_PACK_OBJECTS as usize)]
    {
        let option = c_int::try_from(option).expect("a small number");
        #[expect(unsafe_code, reason = "libgit2 has no other way to set this")]
        // SAFETY: both options take one `size_t`. This runs before any other thread is inside libgit2.
        let result = unsafe { git_libgit2_opts(option, limit) };
        assert_eq!(result, 0, "libgit2 takes any limit");
    }
}

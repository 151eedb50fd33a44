//! Tells whether a script needs no more than the snapshot of CPython has, by the modules that it imports.

/// Modules of the snapshot, none of which starts processes or imports others by name.
#[rustfmt::skip]
const PLAIN: &[&str] = &[
    "__future__", "abc", "argparse", "ast", "base64", "binascii", "bisect", "calendar", "collections", "configparser", "contextlib",
    "copy", "csv", "dataclasses", "datetime", "decimal", "difflib", "enum", "fnmatch", "fractions", "functools", "getopt", "glob",
    "gzip", "hashlib", "heapq", "hmac", "html", "io", "itertools", "json", "keyword", "locale", "logging", "math", "numbers",
    "operator", "os", "pathlib", "pprint", "random", "re", "secrets", "shlex", "shutil", "sqlite3", "statistics", "string", "struct",
    "sys", "tempfile", "textwrap", "time", "tokenize", "tomllib", "traceback", "types", "typing", "unicodedata", "uuid", "warnings",
    "weakref", "xml", "zipfile", "zlib",
];

/// What can import a module or start a process in other ways.
const OTHER_WAYS: &[&str] =
    &["__import__", "importlib", "exec(", "eval(", "popen", "os.system", "executable", "modules"];

/// Whether every module that a source imports is one that the snapshot has. Text that only looks like an import makes it less plain, which
/// costs time and changes nothing.
pub fn are_plain(source: &[u8]) -> bool {
    let Ok(source) = std::str::from_utf8(source) else { return false };
    !OTHER_WAYS.iter().any(|way| source.contains(way)) && source.lines().all(|line| is_plain(line.trim_start()))
}

fn is_plain(line: &str) -> bool {
    let is_known = |name: &str| PLAIN.contains(&name.split(['.', ' ']).next().unwrap_or_default());
    line.split(';').map(str::trim_start).all(|statement| {
        if let Some(names) = statement.strip_prefix("import ") {
            names.split(',').all(|name| is_known(name.trim()) && !name.contains("import"))
        } else if let Some(name) = statement.strip_prefix("from ") {
            is_known(name.trim_start()) && name.matches("import").count() == 1
        } else {
            // Also one that does not start its line, such as `if x: import y`.
            !statement.contains("import")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::are_plain;

    #[test]
    fn scripts_that_import_what_the_snapshot_has_are_plain() {
        for source in
            ["print(1)", "import json, sys\nfrom os.path import join\n", "def f():\n    import re as r; import csv"]
        {
            assert!(are_plain(source.as_bytes()), "{source}");
        }
        for source in [
            "import subprocess",
            "import json, yaml",
            "import json; import helper",
            "from . import x",
            "from helper import x",
            "if True: import helper",
            "try:\n\timport yaml\nexcept ImportError: pass",
            "lambda: __import__('yaml')",
            "import json\\\n, yaml",
            "os.system('x')",
            "\u{feff}import yaml",
            "x = 1\rimport yaml",
            "from os import path\rimport yaml",
        ] {
            assert!(!are_plain(source.as_bytes()), "{source}");
        }
        assert!(!are_plain(b"\xff"));
    }
}

//! The folders in which the server keeps its own files.

use std::path::PathBuf;

/// The user's folders for settings, records and caches.
#[derive(Debug, Clone)]
pub struct UserFolders {
    pub settings: PathBuf,
    pub records: PathBuf,
    pub cache: PathBuf,
}

impl UserFolders {
    /// Follows the XDG base directory variables, or else the defaults below the home folder. `None` without a home folder.
    pub fn find(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let home = variable("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let folder = |name: &str, below_home: &str| {
            let configured = variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
            configured.or_else(|| Some(home.as_ref()?.join(below_home))).map(|folder| folder.join("skillcell"))
        };
        Some(Self {
            settings: folder("XDG_CONFIG_HOME", ".config")?,
            records: folder("XDG_DATA_HOME", ".local/share")?,
            cache: folder("XDG_CACHE_HOME", ".cache")?,
        })
    }

    /// Explains why `find` returned `None`.
    pub fn why_missing(variable: impl Fn(&str) -> Option<String>) -> &'static str {
        if variable("HOME").is_some() { "HOME is not an absolute path" } else { "HOME is not set" }
    }

    pub fn config_file(&self) -> PathBuf {
        self.settings.join("config.yaml")
    }

    pub fn audit_key(&self) -> PathBuf {
        self.settings.join("audit.key")
    }

    pub fn cache_key(&self) -> PathBuf {
        self.settings.join("cache.key")
    }

    pub fn audit(&self) -> PathBuf {
        self.records.join("audit")
    }

    /// Held while the settings of a client are edited.
    pub fn client_lock(&self) -> PathBuf {
        self.records.join("client.lock")
    }

    pub fn clones(&self) -> PathBuf {
        self.records.join("repos")
    }

    /// Python packages for scripts.
    pub fn packages(&self) -> PathBuf {
        self.records.join("packages")
    }

    /// Word vectors for scorers.
    pub fn models(&self) -> PathBuf {
        self.records.join("models")
    }

    pub fn native_code(&self) -> PathBuf {
        self.cache.join("native")
    }
}

//! Where the server keeps what is its own.

use std::path::PathBuf;

/// Folders of this user for settings, records and what can be made again. Missing without a home folder.
#[derive(Debug, Clone)]
pub struct Places {
    pub settings: PathBuf,
    pub records: PathBuf,
    pub cache: PathBuf,
}

impl Places {
    /// By the variables of the XDG base directories, else below the home folder.
    pub fn find(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let home = variable("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let place = |name: &str, below_home: &str| {
            let named = variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
            named.or_else(|| Some(home.as_ref()?.join(below_home))).map(|folder| folder.join("skillcell"))
        };
        Some(Self {
            settings: place("XDG_CONFIG_HOME", ".config")?,
            records: place("XDG_DATA_HOME", ".local/share")?,
            cache: place("XDG_CACHE_HOME", ".cache")?,
        })
    }

    /// Why there are none.
    pub fn missing(variable: impl Fn(&str) -> Option<String>) -> &'static str {
        if variable("HOME").is_some() { "HOME is no absolute path" } else { "HOME is not set" }
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

    pub fn clones(&self) -> PathBuf {
        self.records.join("repos")
    }

    pub fn native_code(&self) -> PathBuf {
        self.cache.join("native")
    }
}

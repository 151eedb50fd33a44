//! The folders, the repository and the servers of a soak.

use skillcell_tests::http::HttpServer;
use skillcell_tests::{Launch, Session, Upstream, component, put_file, repository, write_files, write_library};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Skills that are only read.
const SKILLS: usize = 200;

/// Limits of the root with the hostile scripts. Only the script that never ends needs the whole time.
const LIMITS: &str = "scripts: {timeout_seconds: 5, memory_bytes: 67108864, max_output_bytes: 1000, \
     scratch_bytes: 300000, scratch_files: 20}\n";

/// Limit of the root with the scripts that compute too much.
const FUEL: &str = "scripts: {fuel: 50000000}\n";

pub struct Scene {
    binary: PathBuf,
    folder: TempDir,
    upstream: Upstream,
    /// Read once, because a build may replace them during the run.
    scorer: Vec<u8>,
    module: Vec<u8>,
}

impl Scene {
    pub fn new(binary: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path();
        write_library(&path.join("skills"), SKILLS);
        let script = "---\nname: tool\ndescription: Scripts that succeed\nscripts:\n  \
             - {file: a.py, execution: server}\n  - {file: a.js, execution: server}\n  - {file: a.sh, execution: server}\n  \
             - {file: a.wasm, execution: server}\n---\n";
        let files = [
            ("skills/tool/SKILL.md", script),
            ("skills/tool/a.py", "import os\nprint('ran', os.environ['SKILL_ARG_N'])\n"),
            ("skills/tool/a.js", "console.log('ran', process.env.SKILL_ARG_N)\n"),
            ("skills/tool/a.sh", "echo \"ran $SKILL_ARG_N\"\n"),
            ("skills/fruit.md", "---\nkeywords: [fruit]\ndescription: Fruit\n---\nfavourite of grapes\n"),
            ("limits/config.yaml", LIMITS),
            ("fuel/config.yaml", FUEL),
        ];
        write_files(path, &files);
        let fixtures = repository().join("fixtures/hostile");
        for (root, name, language) in [
            ("limits", "hostile-python", "python"),
            ("limits", "hostile-javascript", "javascript"),
            ("limits", "hostile-shell", "shell"),
            ("fuel", "spinning-shell", "shell"),
        ] {
            let from = fixtures.join(format!("hostile-{language}"));
            let to = path.join(root).join(name);
            assert!(Command::new("cp").arg("-R").arg(&from).arg(&to).status().expect("every Unix has `cp`").success());
            let document = std::fs::read_to_string(to.join("SKILL.md")).expect("it was copied");
            put_file(&to, "SKILL.md", document.replace(&format!("name: hostile-{language}"), &format!("name: {name}")));
        }
        std::fs::create_dir_all(path.join("tmp")).expect("a writable folder");
        let upstream = Upstream::with(path, "pushed", &[("pushed/SKILL.md", &pushed(0))]);
        let scorer = std::fs::read(component("hostile-scorer")).expect("it was built");
        let module = wat::parse_file(fixtures.join("wat/exit.wat")).expect("a module");
        let scene = Self { binary: binary.to_owned(), folder, upstream, scorer, module };
        scene.put_scorer(1);
        scene.edit(0);
        scene.put_module(0);
        // The endpoint refuses connections, so that its buffer fills up and the oldest events are dropped.
        let config = format!(
            "repos: [{{url: '{}'}}]\nanalytics: {{endpoint: 'http://127.0.0.1:9/', buffer_max_bytes: 65536, \
             interval_seconds: 5, timeout_seconds: 1}}\n",
            scene.upstream.file_url()
        );
        write_files(scene.path(), &[("home/.config/skillcell/config.yaml", &config)]);
        scene
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    pub fn launch(&self) -> Launch {
        let roots = ["skills", "limits", "fuel"].map(|root| self.path().join(root));
        let launch = roots.iter().fold(Launch::new(&self.binary).arg("--quiet"), Launch::arg);
        launch.with_home(&self.home()).env("TMPDIR", &self.path().join("tmp").display().to_string())
    }

    /// The server over HTTP, which ranks with the exchanged scorer.
    pub fn http(&self) -> HttpServer {
        self.launch().arg("--scorer").arg(self.path().join("scorer.wasm")).http()
    }

    pub fn stdio(&self) -> Session {
        self.launch().start()
    }

    /// Writes an edition of the skill that is edited.
    pub fn edit(&self, edition: usize) {
        let text = format!("---\nname: edited\ndescription: Edited\n---\n\nEdition {edition}.\n");
        put_file(&self.path().join("skills/edited"), "SKILL.md", text);
    }

    /// Creates a skill, or removes it.
    pub fn toggle(&self, number: usize) {
        let folder = self.path().join(format!("skills/team0/toggled-{number}"));
        if folder.exists() {
            std::fs::remove_dir_all(folder).expect("a folder of our own");
        } else {
            put_file(&folder, "SKILL.md", format!("---\nname: toggled-{number}\ndescription: Comes and goes\n---\n"));
        }
    }

    /// Writes an edition of the module, which has to be compiled: it differs only in a custom section.
    pub fn put_module(&self, edition: usize) {
        let mut module = self.module.clone();
        let name = format!("{edition:08}");
        module.extend([0, 9, 8]);
        module.extend(name.as_bytes());
        put_file(&self.path().join("skills/tool"), "a.wasm", module);
    }

    /// Writes an edition of the scorer: the first scores favourites with 0.9, the second with 0.8.
    pub fn put_scorer(&self, edition: u8) {
        let mut bytes = self.scorer.clone();
        let offset = bytes.windows(16).position(|part| part == b"hostile edition1").expect("it is in the data");
        bytes[offset + 15] = b'0' + edition;
        put_file(self.path(), "scorer.wasm", bytes);
    }

    /// Writes something that is not a scorer.
    pub fn put_invalid_scorer(&self) {
        put_file(self.path(), "scorer.wasm", "not a component");
    }

    pub fn push(&self, edition: usize) {
        self.upstream.push("main", &[("pushed/SKILL.md", &pushed(edition))]);
    }

    /// Counts what servers write for a moment only: in the temporary folder, next to files that are replaced, and locks and
    /// unfinished clones of git.
    pub fn temporary_files(&self) -> usize {
        let is_temporary = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let in_git = path.components().any(|part| part.as_os_str() == ".git");
            path.starts_with(self.path().join("tmp"))
                || name.starts_with(".skillcell-")
                || name.starts_with("skillcell-new-")
                || name.contains("-new-")
                || (in_git && (name.ends_with(".lock") || name.starts_with("tmp_") || name.contains("_git2_")))
        };
        ["tmp", "home", "skills", "limits", "fuel"]
            .iter()
            .map(|part| count(&self.path().join(part), &is_temporary))
            .sum()
    }

    /// Checks that the audit record is intact.
    pub fn check_audit(&self) -> Option<String> {
        let verify = Launch::bare(&self.binary).with_home(&self.home()).arg("audit").arg("verify");
        let output = verify.output();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (!output.status.success()).then_some(format!("`audit verify`: {text}"))
    }
}

/// A skill in the repository.
fn pushed(edition: usize) -> String {
    format!("---\nname: pushed\ndescription: Pushed\n---\n\nCommit {edition}.\n")
}

/// Counts files below a folder, while others add and remove some.
fn count(folder: &Path, wanted: &dyn Fn(&Path) -> bool) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let of = |entry: std::fs::DirEntry| {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        usize::from(wanted(&entry.path())) + if is_folder { count(&entry.path(), wanted) } else { 0 }
    };
    entries.map(of).sum()
}

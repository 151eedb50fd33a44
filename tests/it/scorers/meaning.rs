//! The scorer `semantic`, and the model that it is lent. The model has six words and is made here.

use super::find;
use crate::{SKILLCELL, library, serve};
use serde_json::{Value, json};
use skillcell_tests::wheels::{Format, Index, Wheel};
use skillcell_tests::{Launch, Session};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// What is done to the file of a model, and how.
type Damage = (&'static str, fn(&Path));

/// Words of three topics: talks, money, plants.
const WORDS: [(&str, [f32; 3]); 6] = [
    ("audience", [0.9, 0.2, 0.0]),
    ("keynotes", [0.9, 0.0, 0.1]),
    ("tariff", [0.0, 0.9, 0.1]),
    ("wages", [0.1, 0.9, 0.0]),
    ("tulip", [0.0, 0.1, 0.9]),
    ("dahlia", [0.1, 0.0, 0.9]),
];

/// A home folder in which models are installed.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Runs `skillcell model`. Returns the exit code, standard output and standard error.
    fn model(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let launch = Launch::bare(SKILLCELL).with_home(self.0.path()).arg("model");
        let output = arguments.iter().fold(launch, Launch::arg).output();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    fn add(&self, weights: &[u8], tokenizer: &str) -> (Option<i32>, String, String) {
        let files = tempfile::tempdir().unwrap();
        std::fs::write(files.path().join("tiny.safetensors"), weights).unwrap();
        std::fs::write(files.path().join("tokenizer.json"), tokenizer).unwrap();
        let [weights, tokenizer] = ["tiny.safetensors", "tokenizer.json"].map(|name| files.path().join(name));
        self.model(&["add", weights.to_str().unwrap(), tokenizer.to_str().unwrap()])
    }

    fn with_model() -> Self {
        let home = Self::new();
        let (code, stdout, stderr) = home.add(&weights("F32", &numbers()), &tokenizer());
        assert_eq!(code, Some(0), "{stderr}");
        assert!(stdout.starts_with("tiny: 6 vectors of 3 numbers, sha256:"), "{stdout}");
        home
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join(".local/share/skillcell/models")
    }

    fn table(&self) -> PathBuf {
        let mut files = std::fs::read_dir(self.folder()).unwrap().map(|entry| entry.unwrap().path());
        files.find(|file| file.extension().is_some_and(|ending| ending == "vectors")).unwrap()
    }

    fn semantic(&self, skills: &Path) -> Session {
        serve(skills).with_home(self.0.path()).arg("--scorer").arg("semantic").start()
    }
}

fn numbers() -> Vec<u8> {
    WORDS.iter().flat_map(|(_, vector)| vector.map(f32::to_le_bytes)).flatten().collect()
}

fn weights(dtype: &str, numbers: &[u8]) -> Vec<u8> {
    let shape = format!("[{}, 3]", WORDS.len());
    let header =
        format!(r#"{{"embeddings":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[0,{}]}}}}"#, numbers.len());
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), numbers].concat()
}

fn tokenizer() -> String {
    let vocabulary: serde_json::Map<String, Value> =
        (0..).zip(WORDS).map(|(row, (word, _))| (word.to_owned(), json!(row))).collect();
    json!({"model": {"type": "WordPiece", "vocab": vocabulary}}).to_string()
}

fn skills() -> TempDir {
    let skill = |name: &str, about: &str| format!("---\nname: {name}\ndescription: {about}\n---\nSteps.\n");
    library(&[
        ("talks/SKILL.md", &skill("talks", "Speak to an audience")),
        ("pay/SKILL.md", &skill("pay", "Settle wages")),
        ("garden/SKILL.md", &skill("garden", "Plant a tulip")),
    ])
}

/// The codes of the problems that the server lists.
fn problems(session: &mut Session) -> Vec<String> {
    let listed = session.call_json("skills_list", json!({}));
    let codes = listed["problems"].as_array().into_iter().flatten().filter_map(|problem| problem["code"].as_str());
    codes.map(str::to_owned).collect()
}

#[test]
fn a_task_finds_a_skill_by_what_its_words_mean() {
    let (home, skills) = (Home::with_model(), skills());
    let mut session = home.semantic(skills.path());
    for (task, expected) in [("keynotes", "talks"), ("tariff", "pay"), ("dahlia", "garden")] {
        assert_eq!(find(&mut session, task)["skill_path"], expected, "{task}");
    }
    assert_eq!(problems(&mut session), [""; 0]);
    let mut without = serve(skills.path()).arg("--scorer").arg("hybrid").start();
    assert_eq!(find(&mut without, "keynotes")["no_match"], true);
    let explain = Launch::bare(SKILLCELL).with_home(home.0.path()).arg("match").arg("keynotes").arg("--json");
    let output = explain.arg("--scorer").arg("semantic").arg("--root").arg(skills.path()).output();
    let explained = serde_json::from_slice::<Value>(&output.stdout).unwrap()["explain"].take();
    let reason =
        explained["candidates"][0]["scores"].as_array().unwrap().iter().find(|own| own["scorer"] == "semantic");
    assert_eq!(reason.unwrap()["reason"], "meaning: keynotes ≈ audience", "{explained:#}");
}

#[test]
fn without_a_model_it_says_so_and_ranks_like_hybrid() {
    let (home, skills) = (Home::new(), skills());
    let mut session = home.semantic(skills.path());
    let mut hybrid = serve(skills.path()).start();
    for task in ["keynotes", "settle the wages", "plant", "audience and wages"] {
        assert_eq!(find(&mut session, task), find(&mut hybrid, task), "{task}");
    }
    assert_eq!(problems(&mut session), ["model-missing"]);
    assert!(session.log().contains("there is no model, so `semantic` ranks as `hybrid` does"));
}

#[test]
fn a_model_is_listed_replaced_and_removed() {
    let home = Home::with_model();
    let listed: Value = serde_json::from_str(&home.model(&["list", "--json"]).1).unwrap();
    assert_eq!((&listed["model"]["name"], &listed["model"]["vectors"]), (&json!("tiny"), &json!(6)), "{listed}");
    let half: Vec<u8> = WORDS.iter().flat_map(|_| [0_u8, 0x3c, 0, 0, 0, 0xbc]).collect();
    assert_eq!(home.add(&weights("F16", &half), &tokenizer()).0, Some(0));
    let again: Value = serde_json::from_str(&home.model(&["list", "--json"]).1).unwrap();
    assert_ne!(again["model"]["sha256"], listed["model"]["sha256"]);
    assert_eq!(home.model(&["remove"]).0, Some(0));
    assert!(home.model(&["list"]).1.starts_with("no model is installed"));
    assert_eq!(serde_json::from_str::<Value>(&home.model(&["list", "--json"]).1).unwrap(), json!({"model": null}));
}

#[test]
fn files_that_are_not_a_model_are_refused_and_change_nothing() {
    let home = Home::with_model();
    let before = std::fs::read(home.folder().join("lock.json")).unwrap();
    for (weights, tokenizer, reason) in [
        (b"not a model".to_vec(), tokenizer(), "it is not a file of safetensors"),
        (weights("F32", &numbers()[1..]), tokenizer(), "it is not a file of safetensors, or is cut off"),
        (weights("I8", &numbers()), tokenizer(), "its numbers are of type `I8`"),
        (weights("F32", &f32::NAN.to_le_bytes().repeat(18)), tokenizer(), "its numbers are not all finite"),
        (weights("F32", &numbers()), "{}".to_owned(), "it is not a tokenizer file"),
        (weights("F32", &numbers()), json!({"model": {"type": "Magic"}}).to_string(), "it is of the kind `Magic`"),
        (
            weights("F32", &numbers()),
            json!({"model": {"type": "WordPiece", "vocab": {"a": 99}}}).to_string(),
            "do not belong together",
        ),
    ] {
        let (code, _, stderr) = home.add(&weights, &tokenizer);
        assert!(code == Some(1) && stderr.contains(reason), "`{reason}` is not in: {stderr}");
    }
    for (argument, reason) in [("nothing", "is neither a known model nor the files of one"), ("x.whl", "cannot read")] {
        let (code, _, stderr) = home.model(&["add", argument]);
        assert!(code == Some(1) && stderr.contains(reason), "{stderr}");
    }
    assert_eq!(std::fs::read(home.folder().join("lock.json")).unwrap(), before);
}

#[test]
fn a_known_model_is_accepted_only_with_its_own_digests() {
    let home = Home::new();
    let wheel = Wheel::new("wordllama", "0.4.1")
        .file("wordllama/weights/l2_supercat_256.safetensors", weights("F32", &numbers()))
        .file("wordllama/tokenizers/l2_supercat_tokenizer_config.json", tokenizer());
    let index = Index::with(Format::Json, &[wheel]);
    let (code, _, stderr) = home.model(&["add", "wordllama", "--index", &index.url()]);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("is not the file that the model `wordllama` is known by"), "{stderr}");
    assert!(index.requests().iter().any(|request| request.contains("/wordllama/")), "{:?}", index.requests());
    let other = Index::with(Format::Html, &[Wheel::new("wordllama", "0.3.0")]);
    let (code, _, stderr) = home.model(&["add", "wordllama", "--index", &other.url()]);
    assert!(code == Some(1) && stderr.contains("the index offers no wheel of `wordllama` 0.4.*"), "{stderr}");
}

#[test]
fn a_model_that_was_damaged_is_a_problem_and_hybrid_answers() {
    let skills = skills();
    let mut hybrid = serve(skills.path()).start();
    let damage: [Damage; 4] = [
        ("cut off", |file| std::fs::write(file, b"SKCLVEC1").unwrap()),
        ("huge", |file| std::fs::File::options().write(true).open(file).unwrap().set_len(1 << 40).unwrap()),
        ("a folder", |file| {
            std::fs::remove_file(file).unwrap();
            std::fs::create_dir(file).unwrap();
        }),
        ("gone", |file| std::fs::remove_file(file).unwrap()),
    ];
    for (what, damage) in damage {
        let home = Home::with_model();
        damage(&home.table());
        let mut session = home.semantic(skills.path());
        assert_eq!(find(&mut session, "settle the wages"), find(&mut hybrid, "settle the wages"), "{what}");
        assert_eq!(find(&mut session, "keynotes")["no_match"], true, "{what}");
        assert_eq!(problems(&mut session), ["model-unusable"], "{what}");
        assert_eq!(home.model(&["list"]).0, Some(1), "{what}");
    }
}

#[test]
fn a_model_that_is_swapped_while_the_server_runs_changes_nothing_until_it_restarts() {
    let (home, skills) = (Home::with_model(), skills());
    let mut session = home.semantic(skills.path());
    let before = find(&mut session, "keynotes");
    std::fs::write(home.table(), b"something else").unwrap();
    assert_eq!(find(&mut session, "keynotes"), before);
    assert_eq!(problems(&mut session), [""; 0]);
    let mut restarted = home.semantic(skills.path());
    assert_eq!(problems(&mut restarted), ["model-unusable"]);
}

//! A writer that creates, edits, renames, deletes and breaks its own skills.

use super::history::{Library, State, text};
use skillcell_tests::Numbers;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The longest pause between two changes, in milliseconds.
const MAX_PAUSE: usize = 6;

/// Not a skill, because its front matter has no description.
const BROKEN: &str = "---\nname: broken\n---\n\nA stormy file.\n";

pub struct Writer<'a> {
    root: &'a Path,
    library: &'a Library,
    skills: Vec<Skill>,
    numbers: Numbers,
    version: usize,
}

/// A skill and its current location.
struct Skill {
    name: String,
    /// Below the root: its folder, or the file of a tree skill.
    location: PathBuf,
    exists: bool,
}

impl<'a> Writer<'a> {
    pub fn new(root: &'a Path, library: &'a Library, number: usize) -> Self {
        let names =
            library.skills().filter(|name| name.trim_start_matches("tree/").starts_with(&format!("w{number}-")));
        let skill = |name: &str| {
            let location = if name.contains('/') { format!("{name}.md") } else { name.to_owned() };
            Skill { name: name.to_owned(), location: location.into(), exists: true }
        };
        let skills = names.map(skill).collect();
        Self { root, library, skills, numbers: Numbers(number as u64 + 1), version: 1 }
    }

    /// Writes a valid version of every skill.
    pub fn create_all(&mut self) {
        for number in 0..self.skills.len() {
            self.write_whole(number, None);
        }
    }

    /// Makes every skill valid again.
    pub fn restore_all(&mut self) {
        self.create_all();
    }

    pub fn change_something(&mut self) {
        self.version += 1;
        let number = self.numbers.below(self.skills.len());
        let (exists, can_move) = (self.skills[number].exists, !self.skills[number].name.contains('/'));
        match self.numbers.below(10) {
            _ if !exists => self.write_whole(number, None),
            0..=2 => self.write_whole(number, None),
            5 => self.write_whole(number, Some(BROKEN)),
            6 => self.delete(number),
            7 | 8 if can_move => self.rename(number),
            9 if can_move => self.move_to_another_folder(number),
            _ => self.write_in_place(number),
        }
        std::thread::park_timeout(Duration::from_millis(self.numbers.below(MAX_PAUSE) as u64));
    }

    /// Replaces the text in one step.
    fn write_whole(&mut self, number: usize, broken: Option<&str>) {
        let skill = &mut self.skills[number];
        let text = broken.map_or_else(|| text(&skill.name, self.version), str::to_owned);
        let state = if broken.is_some() { State::Missing } else { State::Whole(text.clone()) };
        let file = skill.file(self.root);
        skill.exists = true;
        self.library.change(&skill.name, [state], || {
            let next = file.with_file_name(format!(".{}.next", skill.name.replace('/', "-")));
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&next, text).unwrap();
            fs::rename(next, file).unwrap();
        });
    }

    /// Writes the file in parts, as some editors do. A reader may see a prefix.
    fn write_in_place(&mut self, number: usize) {
        let skill = &self.skills[number];
        let text = text(&skill.name, self.version);
        let file = skill.file(self.root);
        self.library.change(&skill.name, [State::Growing(text.clone()), State::Whole(text.clone())], || {
            let mut file = fs::File::create(file).unwrap();
            let (first, rest) = text.as_bytes().split_at(text.len() / 2);
            for piece in [&first[..20], &first[20..], rest] {
                file.write_all(piece).unwrap();
                std::thread::yield_now();
            }
        });
    }

    fn delete(&mut self, number: usize) {
        let skill = &mut self.skills[number];
        skill.exists = false;
        let location = self.root.join(&skill.location);
        self.library.change(&skill.name, [State::Missing], || {
            if location.is_dir() { fs::remove_dir_all(location).unwrap() } else { fs::remove_file(location).unwrap() }
        });
    }

    /// Renames the folder of a skill, which exists all the time.
    fn rename(&mut self, number: usize) {
        let name = format!("{}-at-{}", self.skills[number].name, self.version);
        let location = self.skills[number].location.with_file_name(name);
        self.move_to(number, location);
    }

    /// Moves a skill to another folder. It exists all the time.
    fn move_to_another_folder(&mut self, number: usize) {
        let folder = format!("folder-{}", self.numbers.below(3));
        fs::create_dir_all(self.root.join(&folder)).unwrap();
        let name = self.skills[number].location.file_name().unwrap().to_owned();
        self.move_to(number, Path::new(&folder).join(name));
    }

    fn move_to(&mut self, number: usize, location: PathBuf) {
        let skill = &mut self.skills[number];
        let (from, to) = (self.root.join(&skill.location), self.root.join(&location));
        skill.location = location;
        if from != to {
            self.library.change(&skill.name, [], || fs::rename(from, to).unwrap());
        }
    }
}

impl Skill {
    fn file(&self, root: &Path) -> PathBuf {
        let location = root.join(&self.location);
        if self.name.contains('/') { location } else { location.join("SKILL.md") }
    }
}

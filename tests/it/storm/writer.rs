//! One who creates, edits, renames, deletes and breaks skills of its own.

use super::history::{Library, State, text};
use skillcell_tests::Numbers;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest pause between two changes, in milliseconds.
const LONGEST_PAUSE: usize = 6;

/// A front matter without a description is no skill.
const BROKEN: &str = "---\nname: broken\n---\n\nA stormy file.\n";

pub struct Writer<'a> {
    root: &'a Path,
    library: &'a Library,
    skills: Vec<Skill>,
    numbers: Numbers,
    version: usize,
}

/// A skill and where it is at the moment.
struct Skill {
    name: String,
    /// Below the root: its folder, or the file of a tree skill.
    place: PathBuf,
    exists: bool,
}

impl<'a> Writer<'a> {
    pub fn new(root: &'a Path, library: &'a Library, number: usize) -> Self {
        let mine = library.skills().filter(|name| name.trim_start_matches("tree/").starts_with(&format!("w{number}-")));
        let skill = |name: &str| {
            let place = if name.contains('/') { format!("{name}.md") } else { name.to_owned() };
            Skill { name: name.to_owned(), place: place.into(), exists: true }
        };
        let skills = mine.map(skill).collect();
        Self { root, library, skills, numbers: Numbers(number as u64 + 1), version: 1 }
    }

    /// The first version of every skill.
    pub fn create_all(&mut self) {
        for number in 0..self.skills.len() {
            self.write_whole(number, None);
        }
    }

    /// Leaves every skill in a state that can be served.
    pub fn mend_all(&mut self) {
        self.create_all();
    }

    pub fn change_something(&mut self) {
        self.version += 1;
        let number = self.numbers.below(self.skills.len());
        let (exists, moves) = (self.skills[number].exists, !self.skills[number].name.contains('/'));
        match self.numbers.below(10) {
            _ if !exists => self.write_whole(number, None),
            0..=2 => self.write_whole(number, None),
            5 => self.write_whole(number, Some(BROKEN)),
            6 => self.delete(number),
            7 | 8 if moves => self.rename(number),
            9 if moves => self.move_elsewhere(number),
            _ => self.write_in_place(number),
        }
        std::thread::park_timeout(Duration::from_millis(self.numbers.below(LONGEST_PAUSE) as u64));
    }

    /// Puts a new text in the place of the old one, all at once.
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

    /// Writes the file piece by piece, as some editors do. Whoever reads meanwhile sees a beginning.
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
        let place = self.root.join(&skill.place);
        self.library.change(&skill.name, [State::Missing], || {
            if place.is_dir() { fs::remove_dir_all(place).unwrap() } else { fs::remove_file(place).unwrap() }
        });
    }

    /// Gives the folder of a skill another name. The skill is there all the time.
    fn rename(&mut self, number: usize) {
        let name = format!("{}-at-{}", self.skills[number].name, self.version);
        let place = self.skills[number].place.with_file_name(name);
        self.put(number, place);
    }

    /// The same into another folder.
    fn move_elsewhere(&mut self, number: usize) {
        let folder = format!("shelf-{}", self.numbers.below(3));
        fs::create_dir_all(self.root.join(&folder)).unwrap();
        let name = self.skills[number].place.file_name().unwrap().to_owned();
        self.put(number, Path::new(&folder).join(name));
    }

    fn put(&mut self, number: usize, place: PathBuf) {
        let skill = &mut self.skills[number];
        let (from, to) = (self.root.join(&skill.place), self.root.join(&place));
        skill.place = place;
        if from != to {
            self.library.change(&skill.name, [], || fs::rename(from, to).unwrap());
        }
    }
}

impl Skill {
    fn file(&self, root: &Path) -> PathBuf {
        let place = root.join(&self.place);
        if self.name.contains('/') { place } else { place.join("SKILL.md") }
    }
}

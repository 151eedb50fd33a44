//! Libraries that are written like public ones: folder skills with long bodies, made from one line per skill of
//! `fixtures/ranking/libraries`.

use crate::{Numbers, repository, write_files};
use std::fmt::Write as _;
use std::path::Path;

/// One skill of a library.
struct Outline<'text> {
    name: &'text str,
    description: &'text str,
    topics: Vec<&'text str>,
}

/// Writes a library and returns the number of its skills.
pub fn write(library: &str, folder: &Path) -> usize {
    let [text, prose] = [library, "prose"].map(read);
    let all: Vec<Outline> = lines(&text).map(Outline::parse).collect();
    let prose: Vec<&str> = lines(&prose).collect();
    for outline in &all {
        let front = format!("---\nname: {}\ndescription: {:?}\n---\n\n", outline.name, outline.described());
        let file = format!("{}/SKILL.md", outline.name);
        write_files(folder, &[(&file, &(front + &outline.body(&all, &prose)))]);
    }
    all.len()
}

impl<'text> Outline<'text> {
    /// Parses `name | description | topic; topic; …`.
    fn parse(line: &'text str) -> Self {
        let mut parts = line.splitn(3, '|').map(str::trim);
        let mut part = || parts.next().unwrap_or_else(|| panic!("a line has three parts: {line}"));
        Self { name: part(), description: part(), topics: part().split(';').map(str::trim).collect() }
    }

    /// Every other description also lists its topics, as many public ones do.
    fn described(&self) -> String {
        if self.numbers().below(2) == 0 {
            return self.description.to_owned();
        }
        format!("{} Covers {}.", self.description, self.topics.join(", ").to_lowercase())
    }

    /// Returns one to eight kilobytes of headings, prose, code and mentions of other skills.
    fn body(&self, all: &[Self], prose: &[&str]) -> String {
        let mut numbers = self.numbers();
        let title = self.name.replace('-', " ");
        let mut text = format!("# {title}\n\n{}\n\n", self.description);
        let paragraphs = 1 + numbers.below(4);
        for topic in &self.topics {
            let _ = write!(text, "## {topic}\n\n");
            for _ in 0..paragraphs {
                for _ in 0..2 + numbers.below(5) {
                    let other = all[numbers.below(all.len())].name;
                    let sentence = prose[numbers.below(prose.len())].replace("{topic}", &topic.to_lowercase());
                    text += &sentence.replace("{title}", &title).replace("{other}", other);
                    text.push(' ');
                }
                text += "\n\n";
            }
            if numbers.below(3) == 0 {
                let script = topic.to_lowercase().replace(' ', "_");
                let _ =
                    write!(text, "```bash\n# check the output before you go on\npython scripts/{script}.py\n```\n\n");
            }
        }
        text
    }

    /// The same numbers for the same skill.
    fn numbers(&self) -> Numbers {
        Numbers(self.name.bytes().fold(7, |seed, byte| seed.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte)))
    }
}

fn read(name: &str) -> String {
    let file = repository().join("fixtures/ranking/libraries").join(format!("{name}.txt"));
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

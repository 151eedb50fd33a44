//! Counts lines, words and letters, as an ordinary command: arguments, standard input, files. A script of `fixtures/scripts/tally`.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io::Read as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tally: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let (mut files, mut out, mut letters) = (Vec::new(), None, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--out" => out = Some(arguments.next().ok_or("--out needs a file")?),
            "--letters" => letters = true,
            option if option.starts_with("--") => return Err(format!("unknown option {option}").into()),
            _ => files.push(argument),
        }
    }
    if files.is_empty() {
        files.push("-".to_owned());
    }
    let mut report = String::new();
    for file in &files {
        let text = read(file)?;
        writeln!(report, "{file}: {} lines, {} words", text.lines().count(), text.split_whitespace().count())?;
        if letters {
            let mut counts: BTreeMap<char, usize> = BTreeMap::new();
            for letter in text.chars().filter(|letter| letter.is_alphabetic()).flat_map(char::to_lowercase) {
                *counts.entry(letter).or_default() += 1;
            }
            let counts: Vec<String> = counts.iter().map(|(letter, count)| format!("{letter}{count}")).collect();
            writeln!(report, "  {}", counts.join(" "))?;
        }
    }
    match out {
        Some(out) => std::fs::write(out, report)?,
        None => print!("{report}"),
    }
    Ok(())
}

fn read(file: &str) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    if file == "-" {
        std::io::stdin().read_to_string(&mut text)?;
    } else {
        text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {:?}", error.kind()))?;
    }
    Ok(text)
}

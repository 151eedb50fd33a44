//! A simulator: servers that share a record, rotation, and crashes in the middle of any change, in thousands of schedules that
//! a seed determines. An honest history verifies and keeps what was acknowledged, and each kind of tampering is detected, also
//! after everything it touched was rotated away.

use super::*;
use crate::disk::faults;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use tempfile::TempDir;

const SCHEDULES: u64 = 1_000;
const STEPS: usize = 40;
const REASONS: u64 = 20;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }
}

struct Server {
    audit: Audit,
    /// The numbers of the lines of what it runs.
    running: Vec<u64>,
}

/// How often a refusal was acknowledged, and how often it was not though it may be recorded.
#[derive(Default)]
struct Refused {
    acknowledged: u64,
    uncertain: u64,
}

struct World {
    seed: u64,
    random: Random,
    folder: TempDir,
    file_bytes: [u64; 2],
    servers: Vec<Server>,
    now: u64,
    next_id: u64,
    /// The ids of the acknowledged lines of runs, by number.
    lines: BTreeMap<u64, u64>,
    began: BTreeSet<u64>,
    ended: BTreeSet<u64>,
    /// Whose end was not acknowledged, though it may be recorded.
    maybe_ended: BTreeSet<u64>,
    refused: BTreeMap<u64, Refused>,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        // In half of the schedules the refusals are never rotated, so that each must be there.
        let file_bytes = [600 + random.below(1_500), if random.below(2) == 0 { 1 << 20 } else { 900 }];
        Self {
            seed,
            random,
            folder: tempfile::tempdir().unwrap(),
            file_bytes,
            servers: Vec::new(),
            now: 1_800_000_000,
            next_id: 0,
            lines: BTreeMap::new(),
            began: BTreeSet::new(),
            ended: BTreeSet::new(),
            maybe_ended: BTreeSet::new(),
            refused: BTreeMap::new(),
        }
    }

    fn folder(&self) -> PathBuf {
        self.folder.path().join("audit")
    }

    fn open(&self) -> Result<Audit, AuditError> {
        let mut audit = Audit::open(&self.folder(), &self.folder.path().join("audit.key"))?;
        [audit.runs.file_bytes, audit.refusals.file_bytes] = self.file_bytes;
        (audit.runs.max_files, audit.refusals.max_files) = (4, 3);
        Ok(audit)
    }

    /// Runs a step that may be interrupted. An interrupted server dies, or goes on after an error.
    fn step(&mut self) {
        if self.random.below(3) == 0 {
            faults::set(Some((u32::try_from(self.random.below(7)).unwrap(), self.random.next().to_le_bytes()[0])));
        }
        let failed = self.act();
        faults::set(None);
        if let Some(server) = failed
            && self.random.below(2) == 0
        {
            self.servers.remove(server);
        }
    }

    /// Returns the server whose step failed.
    fn act(&mut self) -> Option<usize> {
        if self.servers.is_empty() || (self.servers.len() < 4 && self.random.below(8) == 0) {
            if let Ok(audit) = self.open() {
                self.servers.push(Server { audit, running: Vec::new() });
            }
            return None;
        }
        let server = self.random.index(self.servers.len());
        match self.random.below(8) {
            0 => {
                // Killed, and what it ran with it.
                self.servers.remove(server);
                None
            }
            1 | 2 => self.begin(server),
            3 | 4 => self.end(server),
            5 => {
                self.now += self.random.below(900);
                None
            }
            _ => self.refuse(server),
        }
    }

    fn begin(&mut self, server: usize) -> Option<usize> {
        self.next_id += 1;
        let Ok(number) = self.servers[server].audit.begin(run(self.next_id)) else { return Some(server) };
        self.acknowledge(number);
        self.began.insert(number);
        self.servers[server].running.push(number);
        None
    }

    fn end(&mut self, server: usize) -> Option<usize> {
        let began = self.servers[server].running.pop()?;
        self.next_id += 1;
        let Ok(number) = self.servers[server].audit.end(began, run(self.next_id)) else {
            self.maybe_ended.insert(began);
            return Some(server);
        };
        self.acknowledge(number);
        self.ended.insert(began);
        None
    }

    fn acknowledge(&mut self, number: u64) {
        assert_eq!(self.lines.insert(number, self.next_id), None, "seed {}: number {number} twice", self.seed);
    }

    fn refuse(&mut self, server: usize) -> Option<usize> {
        // Few are frequent, and there are more than are counted at once.
        let reason = self.random.below(REASONS).min(self.random.below(REASONS));
        let counted = self.servers[server].audit.count(refusal(reason), Duration::from_secs(self.now));
        let refused = self.refused.entry(reason).or_default();
        match counted {
            Ok(()) => refused.acknowledged += 1,
            Err(_) => refused.uncertain += 1,
        }
        counted.is_err().then_some(server)
    }

    /// The record is intact and has everything that was acknowledged, unless rotation removed it and says so.
    fn check(&self) {
        let seed = self.seed;
        let audit = self.open().unwrap();
        let verdict = audit.verify().unwrap();
        assert_eq!(verdict.faults, [], "seed {seed}");
        let removed =
            |ring: &str| verdict.removed.iter().find(|removed| removed.ring == ring).map_or(0, |removed| removed.last);
        let (texts, _) = audit.runs.lines(removed("runs") + 1).unwrap();
        let lines = texts.iter().filter_map(|text| Line::read(text));
        let lines: BTreeMap<u64, u64> = lines.map(|line| (line.number, line.number_in("id").unwrap())).collect();
        for (number, id) in self.lines.range(removed("runs") + 1..) {
            assert_eq!(lines.get(number), Some(id), "seed {seed}: number {number}");
        }
        let unfinished: BTreeSet<u64> =
            verdict.unfinished.iter().map(|text| Line::read(text).unwrap().number).collect();
        for began in self.began.range(removed("runs") + 1..).filter(|began| !self.maybe_ended.contains(began)) {
            assert_eq!(unfinished.contains(began), !self.ended.contains(began), "seed {seed}: {began}");
        }
        let counts = counts(&audit);
        for (reason, refused) in &self.refused {
            let count = counts.get(reason).copied().unwrap_or(0);
            let least = if removed("refusals") > 0 { 0 } else { refused.acknowledged };
            let most = refused.acknowledged + refused.uncertain;
            assert!((least..=most).contains(&count), "seed {seed}: refusal {reason}: {count}, not {least} to {most}");
        }
    }

    /// Adds a line to each ring, so that the state knows all lines.
    fn settle(&mut self) {
        let audit = self.open().unwrap();
        audit.begin(run(0)).unwrap();
        self.now += 3_600;
        audit.count(refusal(0), Duration::from_secs(self.now)).unwrap();
        self.refused.entry(0).or_default().acknowledged += 1;
    }
}

fn run(id: u64) -> Entry {
    json!({"kind": "run", "id": id}).as_object().unwrap().clone()
}

fn refusal(reason: u64) -> Entry {
    json!({"kind": "refusal", "time": "2026-11-16T06:07:31Z", "reason": reason}).as_object().unwrap().clone()
}

/// How often each refusal is recorded.
fn counts(audit: &Audit) -> BTreeMap<u64, u64> {
    let (mut counts, mut reasons) = (BTreeMap::new(), BTreeMap::new());
    for line in audit.lines().unwrap() {
        let Ok(entry) = serde_json::from_str::<Value>(&line.text) else { continue };
        let (reason, count) = match (entry["reason"].as_u64(), entry["of"].as_u64()) {
            (Some(reason), _) => {
                reasons.insert(entry["number"].as_u64().unwrap(), reason);
                (reason, 1)
            }
            (_, Some(of)) if reasons.contains_key(&of) => (reasons[&of], entry["count"].as_u64().unwrap()),
            _ => continue,
        };
        *counts.entry(reason).or_default() += count;
    }
    counts
}

/// Runs the schedules on all cores.
fn for_each_seed(test: impl Fn(u64) + Sync) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let test = &test;
            scope.spawn(move || (thread..SCHEDULES).step_by(usize::try_from(threads).unwrap()).for_each(test));
        }
    });
}

#[test]
fn whatever_is_interrupted_the_record_is_intact_and_keeps_what_was_acknowledged() {
    for_each_seed(|seed| {
        let mut world = World::new(seed);
        for step in 0..STEPS {
            world.step();
            if step % 16 == 15 {
                world.check();
            }
        }
        world.check();
        // And it can be continued.
        world.settle();
        world.check();
    });
}

/// Copies of the files of the record and of its state.
fn copies(world: &World) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = fs::read_dir(world.folder()).unwrap().map(|entry| entry.unwrap().path());
    let files = files.chain([world.folder.path().join("audit.state")]).filter(|path| !path.ends_with("lock"));
    files.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// Does something to the record. `older` are its files at an earlier time. Returns what was done.
fn tamper(world: &mut World, older: &BTreeMap<PathBuf, Vec<u8>>) -> String {
    let audit = world.open().unwrap();
    let ring = if world.random.below(2) == 0 { &audit.runs } else { &audit.refusals };
    let state = audit.state_path();
    let first = State::read(&state, &audit.key).unwrap().unwrap();
    let first = if ring.name == "audit" { first.runs.first } else { first.refusals.first };
    // An interrupted rotation leaves files that are no longer part of the record.
    let numbers = ring.rotated_numbers().unwrap().into_iter().filter(|number| *number >= first);
    let files: Vec<PathBuf> = numbers.map(|number| ring.rotated(number)).chain([ring.current()]).collect();
    let file = files[world.random.index(files.len())].clone();
    let mut bytes = fs::read(&file).unwrap();
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let line = world.random.index(lines.len());
    let what = match world.random.below(9) {
        0 => {
            fs::remove_file(&file).unwrap();
            "deleted"
        }
        1 => {
            for file in &files {
                fs::remove_file(file).unwrap();
            }
            "deleted all of the ring of"
        }
        2 => {
            let position = world.random.index(bytes.len());
            bytes[position] ^= 1 + world.random.next().to_le_bytes()[0] % 255;
            fs::write(&file, bytes).unwrap();
            "changed a byte of"
        }
        3 => {
            lines.remove(line);
            fs::write(&file, lines.concat()).unwrap();
            "removed a line of"
        }
        4 if lines.len() > 1 => {
            let other = (line + 1) % lines.len();
            lines.swap(line, other);
            fs::write(&file, lines.concat()).unwrap();
            "swapped lines of"
        }
        5 => {
            for path in copies(world).keys().filter(|path| **path != state) {
                fs::remove_file(path).unwrap();
            }
            for (path, bytes) in older.iter().filter(|(path, _)| **path != state) {
                fs::write(path, bytes).unwrap();
            }
            "rolled back all but the state, not"
        }
        6 => {
            fs::write(&state, &older[&state]).unwrap();
            "rolled back the state, not"
        }
        7 => {
            fs::remove_file(&state).unwrap();
            "deleted the state, not"
        }
        _ => {
            let position = world.random.index(100);
            let mut bytes = fs::read(&state).unwrap();
            for slot in [0, state::SLOT_BYTES] {
                bytes[slot + position] ^= 1;
            }
            fs::write(&state, bytes).unwrap();
            "changed the state, not"
        }
    };
    format!("{what} {}", file.display())
}

#[test]
fn tampering_is_detected_even_after_everything_it_touched_was_rotated_away() {
    for_each_seed(|seed| {
        let mut world = World::new(seed);
        // Everything is rotated.
        world.file_bytes[1] = 900;
        let until = 5 + world.random.index(STEPS);
        (0..until).for_each(|_| world.step());
        world.settle();
        let older = copies(&world);
        (until..STEPS + 5).for_each(|_| world.step());
        world.settle();
        world.check();
        let what = tamper(&mut world, &older);
        let faults = world.open().unwrap().verify().unwrap().faults;
        assert!(!faults.is_empty(), "seed {seed}: {what}");
        let audit = world.open().unwrap();
        for round in 0..30 {
            world.now += 3_600;
            // It may refuse to go on.
            drop(audit.begin(run(round)));
            drop(audit.count(refusal(round), Duration::from_secs(world.now)));
        }
        let faults = audit.verify().unwrap().faults;
        assert!(!faults.is_empty(), "seed {seed}: hidden later: {what}");
    });
}

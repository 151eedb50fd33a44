//! The server side of a fetch: version 0 of git's protocol, stateless.

use git2::{Buf, ObjectType, Oid, Repository};
use std::collections::{HashMap, HashSet, VecDeque};

/// The payload of one line, without its length and the number of its band.
const BAND_BYTES: usize = 65_515;

const CAPABILITIES: &str = "multi_ack_detailed side-band-64k ofs-delta shallow no-progress";

/// Lists the references, for `GET /info/refs`.
pub fn advertise(repository: &Repository) -> Vec<u8> {
    let mut capabilities = CAPABILITIES.to_owned();
    let mut refs = Vec::new();
    let head = repository.find_reference("HEAD").expect("every repository has a HEAD");
    if let (Some(branch), Ok(tip)) = (head.symbolic_target(), repository.refname_to_id("HEAD")) {
        capabilities = format!("{capabilities} symref=HEAD:{branch}");
        refs.push((tip, "HEAD".to_owned()));
    }
    let mut others: Vec<(Oid, String)> = repository
        .references()
        .expect("a sound repository")
        .flatten()
        .filter_map(|reference| Some((reference.target()?, reference.name()?.to_owned())))
        .collect();
    others.sort_by(|left, right| left.1.cmp(&right.1));
    refs.extend(others);
    if refs.is_empty() {
        refs.push((Oid::zero(), "capabilities^{}".to_owned()));
    }
    capabilities.push_str(" object-format=sha1 agent=git/tests");
    let mut answer = line("# service=git-upload-pack\n");
    answer.extend_from_slice(FLUSH);
    for (place, (id, name)) in refs.iter().enumerate() {
        let promises = if place == 0 { format!("\0{capabilities}") } else { String::new() };
        answer.extend(line(&format!("{id} {name}{promises}\n")));
    }
    answer.extend_from_slice(FLUSH);
    answer
}

/// What a client wants and has, for `POST /git-upload-pack`.
#[derive(Default)]
struct Asked {
    wants: Vec<Oid>,
    in_bands: bool,
    /// Commits whose parents the client does not have.
    borders: HashSet<Oid>,
    depth: Option<usize>,
    haves: Vec<Oid>,
    /// Whether the client ended a round of haves and expects acknowledgements.
    pauses: bool,
    done: bool,
}

impl Asked {
    fn parse(request: &[u8]) -> Self {
        let mut asked = Self::default();
        let mut rest = request;
        while let Some((line, after)) = next_line(rest) {
            rest = after;
            let (word, value) = line.split_once(' ').unwrap_or((line, ""));
            let id = || Oid::from_str(value.split(' ').next().unwrap_or_default()).expect("an object's name");
            match word {
                "want" => {
                    asked.in_bands |= value.contains("side-band-64k");
                    asked.wants.push(id());
                }
                "shallow" => drop(asked.borders.insert(id())),
                "deepen" => asked.depth = value.parse().ok(),
                "have" => asked.haves.push(id()),
                "" => asked.pauses |= !asked.haves.is_empty(),
                "done" => asked.done = true,
                other => panic!("a client sent `{other}`"),
            }
        }
        asked
    }
}

/// Answers `POST /git-upload-pack`: the shallow boundary, the common commits and, once the client is done, the pack.
///
/// A client that wants an object that no reference points at gets an error. A pack that is given is sent instead of the proper
/// one.
pub fn answer(repository: &Repository, request: &[u8], given: Option<&[u8]>) -> Vec<u8> {
    let asked = Asked::parse(request);
    let offered: HashSet<Oid> = repository
        .references()
        .expect("a sound repository")
        .flatten()
        .filter_map(|reference| reference.target())
        .collect();
    if let Some(stranger) = asked.wants.iter().find(|want| !offered.contains(want)) {
        return line(&format!("ERR upload-pack: not our ref {stranger}"));
    }
    let history = reachable(repository, &asked.wants, asked.depth, &asked.borders);
    let mut answer = Vec::new();
    if let Some(depth) = asked.depth {
        answer.extend(borders(&history, depth, &asked.borders));
    }
    let known: Vec<Oid> = asked.haves.iter().copied().filter(|have| repository.find_commit(*have).is_ok()).collect();
    for have in &known {
        answer.extend(line(&format!("ACK {have} common\n")));
    }
    if asked.done {
        let last = known.last().map_or("NAK\n".to_owned(), |last| format!("ACK {last}\n"));
        answer.extend(line(&last));
        let proper = || pack(repository, &history, &known, &asked.borders);
        let pack = given.map_or_else(proper, <[u8]>::to_vec);
        answer.extend(if asked.in_bands { banded(&pack) } else { pack });
    } else if asked.pauses {
        answer.extend(line("NAK\n"));
    }
    answer
}

/// Walks the history and returns each commit with its depth, which is 1 for the commits of `from`.
///
/// Without a depth limit the walk ends at the shallow boundary of the client.
fn reachable(
    repository: &Repository,
    from: &[Oid],
    depth: Option<usize>,
    borders: &HashSet<Oid>,
) -> HashMap<Oid, usize> {
    let mut found = HashMap::new();
    let mut waiting: VecDeque<(Oid, usize)> = from.iter().map(|id| (*id, 1)).collect();
    while let Some((id, distance)) = waiting.pop_front() {
        if found.contains_key(&id) {
            continue;
        }
        found.insert(id, distance);
        let ends = depth.map_or_else(|| borders.contains(&id), |depth| distance >= depth);
        if !ends {
            let commit = repository.find_commit(id).expect("references lead to commits");
            waiting.extend(commit.parent_ids().map(|parent| (parent, distance + 1)));
        }
    }
    found
}

/// Tells the client where its history is shallow now, and where it no longer is.
fn borders(history: &HashMap<Oid, usize>, depth: usize, before: &HashSet<Oid>) -> Vec<u8> {
    let at = |id: &Oid| history.get(id).copied();
    let now = history.keys().filter(|id| at(id) == Some(depth) && !before.contains(id));
    let no_longer = before.iter().filter(|id| at(id).is_some_and(|distance| distance < depth));
    let lines = now.map(|id| format!("shallow {id}")).chain(no_longer.map(|id| format!("unshallow {id}")));
    let mut answer: Vec<u8> = lines.flat_map(|text| line(&text)).collect();
    answer.extend_from_slice(FLUSH);
    answer
}

/// Packs every object of the history that the client does not have.
fn pack(repository: &Repository, history: &HashMap<Oid, usize>, known: &[Oid], borders: &HashSet<Oid>) -> Vec<u8> {
    let mut there = HashSet::new();
    let theirs = reachable(repository, known, None, borders);
    let mut unused = Vec::new();
    for id in theirs.keys() {
        commit_objects(repository, *id, &mut there, &mut unused);
    }
    let mut missing = Vec::new();
    for id in history.keys() {
        commit_objects(repository, *id, &mut there, &mut missing);
    }
    let mut builder = repository.packbuilder().expect("a sound repository");
    builder.set_threads(1);
    for id in missing {
        builder.insert_object(id, None).expect("an object of the repository");
    }
    let mut pack = Buf::new();
    builder.write_buf(&mut pack).expect("memory for a pack");
    pack.to_vec()
}

/// Adds a commit with its objects, except those that were seen before.
fn commit_objects(repository: &Repository, id: Oid, seen: &mut HashSet<Oid>, objects: &mut Vec<Oid>) {
    if seen.insert(id) {
        objects.push(id);
        let tree = repository.find_commit(id).expect("references lead to commits").tree_id();
        tree_objects(repository, tree, seen, objects);
    }
}

fn tree_objects(repository: &Repository, id: Oid, seen: &mut HashSet<Oid>, objects: &mut Vec<Oid>) {
    if !seen.insert(id) {
        return;
    }
    objects.push(id);
    for entry in &repository.find_tree(id).expect("commits have trees") {
        match entry.kind() {
            Some(ObjectType::Tree) => tree_objects(repository, entry.id(), seen, objects),
            Some(ObjectType::Blob) if seen.insert(entry.id()) => objects.push(entry.id()),
            _ => (),
        }
    }
}

/// Wraps a pack in lines of band 1, after a progress message in band 2.
fn banded(pack: &[u8]) -> Vec<u8> {
    let mut answer = framed(b"\x02packed for a test\n");
    for piece in pack.chunks(BAND_BYTES) {
        answer.extend(framed(&[&[1], piece].concat()));
    }
    answer.extend_from_slice(FLUSH);
    answer
}

const FLUSH: &[u8] = b"0000";

pub fn line(text: &str) -> Vec<u8> {
    framed(text.as_bytes())
}

fn framed(bytes: &[u8]) -> Vec<u8> {
    let mut framed = format!("{:04x}", bytes.len() + 4).into_bytes();
    framed.extend_from_slice(bytes);
    framed
}

/// Splits off the first line. A flush is an empty line.
fn next_line(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let length = usize::from_str_radix(std::str::from_utf8(bytes.get(..4)?).ok()?, 16).ok()?;
    let text = std::str::from_utf8(bytes.get(4..length.max(4))?).ok()?;
    Some((text.trim_end(), &bytes[length.max(4)..]))
}

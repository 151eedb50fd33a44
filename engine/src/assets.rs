//! The files and scripts of a skill, its own and those it inherits.

use crate::bindings::exports::skillcell::plugin::catalog::{
    Asset, AssetError, FoundAsset, FoundScript, Location, Script, ScriptError,
};
use crate::bindings::skillcell::plugin::types::SkillModel;
use crate::catalog::Root;
use crate::paths;
use crate::shelf::Shelf;
use crate::skill::{DeclaredAsset, DeclaredScript};
use std::collections::BTreeSet;

/// Most files named when the one asked for is not there.
const MOST_FILES_NAMED: usize = 20;

/// Extensions that say a file is no text.
const BINARY: [&str; 11] = ["png", "jpg", "jpeg", "gif", "svg", "ico", "webp", "pdf", "zip", "woff", "woff2"];

pub fn is_binary(file: &str) -> bool {
    extension(file).is_some_and(|extension| BINARY.contains(&extension.as_str()))
}

pub fn media_type(file: &str) -> &'static str {
    match extension(file).as_deref() {
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("gif") => "image/gif",
        Some("svg") => "image/svg+xml",
        Some("pdf") => "application/pdf",
        Some("zip") => "application/zip",
        Some("woff") => "font/woff",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}

fn extension(file: &str) -> Option<String> {
    let (stem, extension) = paths::last_segment(file).rsplit_once('.')?;
    (!stem.is_empty()).then(|| extension.to_ascii_lowercase())
}

/// Something that a skill declares and another may inherit.
trait Declared: Sized {
    fn file(&self) -> &str;
    /// What one skill declares. Without a resource folder there is nothing to declare.
    fn declared_by(shelf: &Shelf, number: usize, inherited_from: Option<&str>) -> Vec<Self>;
}

impl Declared for Asset {
    fn file(&self) -> &str {
        &self.file
    }
    fn declared_by(shelf: &Shelf, number: usize, inherited_from: Option<&str>) -> Vec<Self> {
        let Some(resources) = shelf.resources(number) else { return Vec::new() };
        let skill = shelf.skill(number);
        let asset = |declared: &DeclaredAsset| Self {
            file: declared.file.clone(),
            description: declared.description.clone(),
            kind: declared.kind.clone(),
            folder: Location { root: skill.root, path: resources.to_owned() },
            binary: is_binary(&declared.file),
            inherited_from: inherited_from.map(str::to_owned),
        };
        skill.assets.iter().map(asset).collect()
    }
}

impl Declared for Script {
    fn file(&self) -> &str {
        &self.file
    }
    fn declared_by(shelf: &Shelf, number: usize, inherited_from: Option<&str>) -> Vec<Self> {
        let Some(resources) = shelf.resources(number) else { return Vec::new() };
        let skill = shelf.skill(number);
        let script = |declared: &DeclaredScript| Self {
            file: declared.file.clone(),
            description: declared.description.clone(),
            execution: declared.execution,
            arguments: declared.arguments.clone(),
            needs: declared.needs.clone(),
            folder: Location { root: skill.root, path: resources.to_owned() },
            inherited_from: inherited_from.map(str::to_owned),
        };
        skill.scripts.iter().map(script).collect()
    }
}

pub fn own_assets(shelf: &Shelf, number: usize) -> Vec<Asset> {
    Asset::declared_by(shelf, number, None)
}

pub fn own_scripts(shelf: &Shelf, number: usize) -> Vec<Script> {
    Script::declared_by(shelf, number, None)
}

/// Everything that a skill declares, each path once.
pub fn own_files(shelf: &Shelf, number: usize) -> Vec<Asset> {
    let mut files = own_assets(shelf, number);
    files.extend(own_scripts(shelf, number).into_iter().map(as_asset));
    let mut seen = BTreeSet::new();
    files.retain(|asset| seen.insert(asset.file.clone()));
    files
}

pub fn inherited_assets(shelf: &Shelf, roots: &[Box<dyn Root>], number: usize) -> Vec<Asset> {
    inherited(shelf, roots, number, &own_assets(shelf, number))
}

pub fn inherited_scripts(shelf: &Shelf, roots: &[Box<dyn Root>], number: usize) -> Vec<Script> {
    inherited(shelf, roots, number, &own_scripts(shelf, number))
}

/// What the chain above declares, most general first. A more specific skill replaces an entry by declaring one of the
/// same file name; a folder skill also by having the very file.
fn inherited<T: Declared>(shelf: &Shelf, roots: &[Box<dyn Root>], number: usize, own: &[T]) -> Vec<T> {
    let mut found: Vec<T> = Vec::new();
    for ancestor in shelf.chain(number).into_iter().skip(1).rev() {
        let nearer = T::declared_by(shelf, ancestor, Some(&shelf.address(ancestor)));
        replace(&mut found, &nearer);
        found.extend(nearer);
    }
    replace(&mut found, own);
    found.retain(|entry| own_file(shelf, roots, number, entry.file()).is_none());
    found
}

/// Drops every entry that a more specific skill has a file of the same name for.
fn replace<T: Declared>(entries: &mut Vec<T>, nearer: &[T]) {
    let names: BTreeSet<&str> = nearer.iter().map(|entry| paths::last_segment(entry.file())).collect();
    entries.retain(|entry| !names.contains(paths::last_segment(entry.file())));
}

/// The folder of a folder skill, if a file is in it, declared or not.
fn own_file(shelf: &Shelf, roots: &[Box<dyn Root>], number: usize, file: &str) -> Option<Location> {
    let skill = shelf.skill(number);
    let resources = shelf.resources(number).filter(|_| skill.model == SkillModel::Folder)?;
    let there = roots[skill.root as usize].has_file(&paths::join(resources, file));
    there.then(|| Location { root: skill.root, path: resources.to_owned() })
}

/// Finds a file: among what the skill declares, in its folder if it is a folder skill, among what it inherits.
pub fn find(shelf: &Shelf, roots: &[Box<dyn Root>], name: &str, file: &str) -> Result<FoundAsset, AssetError> {
    let number = shelf.names.find(shelf, name).map_err(AssetError::NoSkill)?;
    if matches!(file, "" | ".") {
        return Err(AssetError::NoFile(offered(shelf, number)));
    }
    let file = paths::clean(file).ok_or(AssetError::UnsafePath)?;
    let address = shelf.address(number);
    let file_of = |number: usize| Location { root: shelf.skill(number).root, path: shelf.skill(number).file.clone() };
    let found = |asset: Asset, declared: bool, holder: usize| FoundAsset {
        address: address.clone(),
        sources: shelf.chain(number).into_iter().take(holder + 1).map(file_of).collect(),
        media_type: media_type(&asset.file).to_owned(),
        asset,
        declared,
    };
    for (distance, holder) in shelf.chain(number).into_iter().enumerate() {
        let from = (distance > 0).then(|| shelf.address(holder));
        let assets = Asset::declared_by(shelf, holder, from.as_deref()).into_iter();
        let scripts = Script::declared_by(shelf, holder, from.as_deref()).into_iter().map(as_asset);
        if let Some(asset) = assets.chain(scripts).find(|asset| asset.file == file) {
            return Ok(found(asset, true, distance));
        }
        let may_be_undeclared = distance == 0 && !paths::is_hidden(&file) && paths::is_portable(&file);
        if let Some(folder) = may_be_undeclared.then(|| own_file(shelf, roots, number, &file)).flatten() {
            let asset = Asset {
                binary: is_binary(&file),
                file,
                description: String::new(),
                kind: "other".to_owned(),
                folder,
                inherited_from: None,
            };
            return Ok(found(asset, false, distance));
        }
    }
    Err(AssetError::NoFile(offered(shelf, number)))
}

/// Finds a script among what the skill declares, then among what it inherits. A file of its own that it does not declare
/// stands in the way of one that is inherited.
pub fn find_script(shelf: &Shelf, roots: &[Box<dyn Root>], name: &str, file: &str) -> Result<FoundScript, ScriptError> {
    let number = shelf.names.find(shelf, name).map_err(ScriptError::NoSkill)?;
    let file = paths::clean(file).ok_or(ScriptError::UnsafePath)?;
    let file_of = |number: usize| Location { root: shelf.skill(number).root, path: shelf.skill(number).file.clone() };
    let chain = shelf.chain(number);
    for (distance, holder) in chain.iter().copied().enumerate() {
        let from = (distance > 0).then(|| shelf.address(holder));
        let mut scripts = Script::declared_by(shelf, holder, from.as_deref()).into_iter();
        if let Some(script) = scripts.find(|script| script.file == file) {
            return Ok(FoundScript {
                address: shelf.address(number),
                script,
                skill_path: shelf.skill(holder).skill_path.clone(),
                skill_file: file_of(holder),
                sources: chain.iter().take(distance + 1).map(|number| file_of(*number)).collect(),
            });
        }
        if own_file(shelf, roots, holder, &file).is_some() {
            break;
        }
    }
    let declared = chain.iter().filter(|holder| shelf.resources(**holder).is_some());
    let declared = declared.flat_map(|holder| &shelf.skill(*holder).scripts).map(|script| script.file.clone());
    let mut seen = BTreeSet::new();
    Err(ScriptError::NotDeclared(declared.filter(|file| seen.insert(file.clone())).take(MOST_FILES_NAMED).collect()))
}

fn as_asset(script: Script) -> Asset {
    Asset {
        binary: is_binary(&script.file),
        file: script.file,
        description: script.description,
        kind: "script".to_owned(),
        folder: script.folder,
        inherited_from: script.inherited_from,
    }
}

/// The first few files that a skill and those it inherits from declare.
fn offered(shelf: &Shelf, number: usize) -> Vec<String> {
    let declared =
        shelf.chain(number).into_iter().filter(|holder| shelf.resources(*holder).is_some()).flat_map(|holder| {
            let skill = shelf.skill(holder);
            skill.assets.iter().map(|asset| &asset.file).chain(skill.scripts.iter().map(|script| &script.file))
        });
    let mut seen = BTreeSet::new();
    declared.filter(|file| seen.insert(*file)).take(MOST_FILES_NAMED).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_the_specification() {
        for (file, binary, media) in [
            ("a.png", true, "image/png"),
            ("a.JPG", true, "image/jpeg"),
            ("a.jpeg", true, "image/jpeg"),
            ("a.gif", true, "image/gif"),
            ("a.svg", true, "image/svg+xml"),
            ("a.ico", true, "application/octet-stream"),
            ("a.webp", true, "application/octet-stream"),
            ("a.pdf", true, "application/pdf"),
            ("a.zip", true, "application/zip"),
            ("a.woff", true, "font/woff"),
            ("a.woff2", true, "font/woff2"),
            ("a.tsx.template", false, "application/octet-stream"),
            (".png", false, "application/octet-stream"),
            ("png", false, "application/octet-stream"),
        ] {
            assert_eq!((is_binary(file), media_type(file)), (binary, media), "{file}");
        }
    }
}

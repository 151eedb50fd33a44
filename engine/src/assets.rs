//! The files and scripts of a skill, its own and those it inherits.

use crate::bindings::exports::skillcell::plugin::catalog::{
    Asset, AssetError, Execution, FoundAsset, FoundScript, Location, Script, ScriptError, ScriptLimits,
};
use crate::bindings::skillcell::plugin::types::SkillModel;
use crate::catalog::Root;
use crate::index::Index;
use crate::paths;
use crate::skill::{DeclaredAsset, DeclaredScript};
use std::collections::BTreeSet;

/// Maximum number of files listed when the requested one does not exist.
const MAX_FILES_LISTED: usize = 20;

/// Extensions of files that are not text.
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
    /// Returns what one skill declares; nothing without a resource folder.
    fn declared_by(index: &Index, number: usize, inherited_from: Option<&str>) -> Vec<Self>;
}

impl Declared for Asset {
    fn file(&self) -> &str {
        &self.file
    }
    fn declared_by(index: &Index, number: usize, inherited_from: Option<&str>) -> Vec<Self> {
        let Some(resources) = index.resources(number) else { return Vec::new() };
        let skill = index.skill(number);
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
    fn declared_by(index: &Index, number: usize, inherited_from: Option<&str>) -> Vec<Self> {
        let Some(resources) = index.resources(number) else { return Vec::new() };
        let skill = index.skill(number);
        let script = |declared: &DeclaredScript| Self {
            file: declared.file.clone(),
            description: declared.description.clone(),
            execution: declared.execution,
            arguments: declared.arguments.clone(),
            needs: declared.needs.clone(),
            declared: true,
            folder: Location { root: skill.root, path: resources.to_owned() },
            inherited_from: inherited_from.map(str::to_owned),
        };
        skill.scripts.iter().map(script).collect()
    }
}

pub fn own_assets(index: &Index, number: usize) -> Vec<Asset> {
    Asset::declared_by(index, number, None)
}

pub fn own_scripts(index: &Index, number: usize) -> Vec<Script> {
    Script::declared_by(index, number, None)
}

/// Returns everything that a skill declares, each path once.
pub fn own_files(index: &Index, number: usize) -> Vec<Asset> {
    let mut files = own_assets(index, number);
    files.extend(own_scripts(index, number).into_iter().map(as_asset));
    let mut seen = BTreeSet::new();
    files.retain(|asset| seen.insert(asset.file.clone()));
    files
}

pub fn inherited_assets(index: &Index, roots: &[Box<dyn Root>], number: usize) -> Vec<Asset> {
    inherited(index, roots, number, &own_assets(index, number))
}

pub fn inherited_scripts(index: &Index, roots: &[Box<dyn Root>], number: usize) -> Vec<Script> {
    inherited(index, roots, number, &own_scripts(index, number))
}

/// Returns what the ancestors declare, most general first. A more specific skill replaces an entry by declaring a file
/// of the same name; a folder skill also by having the file.
fn inherited<T: Declared>(index: &Index, roots: &[Box<dyn Root>], number: usize, own: &[T]) -> Vec<T> {
    let mut found: Vec<T> = Vec::new();
    for ancestor in index.chain(number).into_iter().skip(1).rev() {
        let nearer = T::declared_by(index, ancestor, Some(&index.address(ancestor)));
        drop_replaced(&mut found, &nearer);
        found.extend(nearer);
    }
    drop_replaced(&mut found, own);
    found.retain(|entry| own_file(index, roots, number, entry.file()).is_none());
    found
}

/// Removes entries for which a more specific skill declares a file of the same name.
fn drop_replaced<T: Declared>(entries: &mut Vec<T>, nearer: &[T]) {
    let names: BTreeSet<&str> = nearer.iter().map(|entry| paths::last_segment(entry.file())).collect();
    entries.retain(|entry| !names.contains(paths::last_segment(entry.file())));
}

/// Returns the folder of a folder skill if it contains a file, declared or not.
fn own_file(index: &Index, roots: &[Box<dyn Root>], number: usize, file: &str) -> Option<Location> {
    let skill = index.skill(number);
    let resources = index.resources(number).filter(|_| skill.model == SkillModel::Folder)?;
    let there = roots[skill.root as usize].has_file(&paths::join(resources, file));
    there.then(|| Location { root: skill.root, path: resources.to_owned() })
}

/// Finds a file: declared by the skill, present in its folder (folder skills), or inherited.
pub fn find(index: &Index, roots: &[Box<dyn Root>], name: &str, file: &str) -> Result<FoundAsset, AssetError> {
    let number = index.names.find(index, name).map_err(AssetError::NoSkill)?;
    if matches!(file, "" | ".") {
        return Err(AssetError::NoFile(declared_files(index, number)));
    }
    let file = paths::clean(file).ok_or(AssetError::UnsafePath)?;
    let address = index.address(number);
    let file_of = |number: usize| Location { root: index.skill(number).root, path: index.skill(number).file.clone() };
    let found = |asset: Asset, declared: bool, holder: usize| FoundAsset {
        address: address.clone(),
        sources: index.chain(number).into_iter().take(holder + 1).map(file_of).collect(),
        media_type: media_type(&asset.file).to_owned(),
        asset,
        declared,
    };
    for (distance, holder) in index.chain(number).into_iter().enumerate() {
        let from = (distance > 0).then(|| index.address(holder));
        let assets = Asset::declared_by(index, holder, from.as_deref()).into_iter();
        let scripts = Script::declared_by(index, holder, from.as_deref()).into_iter().map(as_asset);
        if let Some(asset) = assets.chain(scripts).find(|asset| asset.file == file) {
            return Ok(found(asset, true, distance));
        }
        let may_be_undeclared = distance == 0 && !paths::is_hidden(&file) && paths::is_portable(&file);
        if let Some(folder) = may_be_undeclared.then(|| own_file(index, roots, number, &file)).flatten() {
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
    Err(AssetError::NoFile(declared_files(index, number)))
}

/// Finds a script that the skill declares or inherits. An undeclared file of its own hides an inherited script.
pub fn find_script(
    index: &Index,
    roots: &[Box<dyn Root>],
    name: &str,
    file: &str,
    limits: impl Fn(u32) -> ScriptLimits,
) -> Result<FoundScript, ScriptError> {
    let number = index.names.find(index, name).map_err(ScriptError::NoSkill)?;
    let file = paths::clean(file).ok_or(ScriptError::UnsafePath)?;
    let file_of = |number: usize| Location { root: index.skill(number).root, path: index.skill(number).file.clone() };
    let chain = index.chain(number);
    for (distance, holder) in chain.iter().copied().enumerate() {
        let from = (distance > 0).then(|| index.address(holder));
        let found = |script: Script| FoundScript {
            address: index.address(number),
            script,
            skill_path: index.skill(holder).skill_path.clone(),
            skill_file: file_of(holder),
            sources: chain.iter().take(distance + 1).map(|number| file_of(*number)).collect(),
        };
        let mut scripts = Script::declared_by(index, holder, from.as_deref()).into_iter();
        if let Some(script) = scripts.find(|script| script.file == file) {
            return Ok(found(script));
        }
        let Some(folder) = own_file(index, roots, holder, &file) else { continue };
        let limits = limits(index.skill(holder).root);
        let is_script = extension(&file).is_some_and(|name| limits.allowed_extensions.contains(&format!(".{name}")));
        if distance > 0 || !is_script || paths::is_hidden(&file) || !paths::is_portable(&file) {
            break;
        }
        if !limits.undeclared {
            return Err(ScriptError::Undeclared);
        }
        return Ok(found(undeclared(file, folder)));
    }
    let declared = chain.iter().filter(|holder| index.resources(**holder).is_some());
    let declared = declared.flat_map(|holder| &index.skill(*holder).scripts).map(|script| script.file.clone());
    let mut seen = BTreeSet::new();
    Err(ScriptError::NotDeclared(declared.filter(|file| seen.insert(file.clone())).take(MAX_FILES_LISTED).collect()))
}

/// A script of which nothing is known but its file.
fn undeclared(file: String, folder: Location) -> Script {
    Script {
        file,
        description: String::new(),
        execution: Execution::Server,
        arguments: Vec::new(),
        needs: None,
        declared: false,
        folder,
        inherited_from: None,
    }
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

/// Returns the first files that a skill and its ancestors declare.
fn declared_files(index: &Index, number: usize) -> Vec<String> {
    let declared =
        index.chain(number).into_iter().filter(|holder| index.resources(*holder).is_some()).flat_map(|holder| {
            let skill = index.skill(holder);
            skill.assets.iter().map(|asset| &asset.file).chain(skill.scripts.iter().map(|script| &script.file))
        });
    let mut seen = BTreeSet::new();
    declared.filter(|file| seen.insert(*file)).take(MAX_FILES_LISTED).cloned().collect()
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

//! The real engine with a reader that fails on request: commands are in the text of files.

#![expect(unsafe_code, reason = "generated: the exports of the component")]

use skillcell_engine::bindings::skillcell::plugin::library::{ReadError, SkillRoot};
use skillcell_engine::bindings::skillcell::plugin::log::{self, Level};
use skillcell_engine::catalog::Root;
use skillcell_engine::component::Engine;
use std::cell::RefCell;
use std::collections::BTreeSet;

struct Fragile;

impl Engine for Fragile {
    fn root(handle: SkillRoot) -> Box<dyn Root> {
        Box::new(FragileRoot { handle, seen: RefCell::default() })
    }
}

struct FragileRoot {
    handle: SkillRoot,
    seen: RefCell<BTreeSet<String>>,
}

impl Root for FragileRoot {
    fn label(&self) -> String {
        self.handle.label()
    }

    fn is_plugin(&self) -> bool {
        self.handle.is_plugin()
    }

    fn folder_name(&self) -> String {
        self.handle.folder_name()
    }

    fn inside(&self) -> Vec<u32> {
        self.handle.inside()
    }

    fn read_text(&self, path: &str) -> Result<String, ReadError> {
        log::write(Level::Debug, &format!("the engine reads {path}"));
        let text = self.handle.read_text(path);
        // Even if the file is quarantined.
        assert!(text.is_ok() || !path.ends_with("stubborn.md"), "asked to crash forever");
        let text = text?;
        let was_read_before = !self.seen.borrow_mut().insert(path.to_owned());
        if text.contains("fragile: crash") {
            panic!("asked to crash");
        }
        if text.contains("fragile: spin") {
            loop {
                std::hint::black_box(&text);
            }
        }
        // As long as the named file exists.
        if let Some(pause_file) =
            text.split("fragile: paused by ").nth(1).and_then(|rest| rest.split_whitespace().next())
        {
            log::write(Level::Debug, &format!("the engine is paused by {pause_file}"));
            while self.handle.has_file(pause_file) {}
        }
        if text.contains("fragile: eat memory") {
            let mut copies: Vec<String> = Vec::new();
            loop {
                copies.push(text.repeat(1_000));
            }
        }
        if was_read_before && text.contains("fragile: break when asked") {
            panic!("asked to break");
        }
        if was_read_before && text.contains("fragile: hang when asked") {
            loop {
                std::hint::black_box(&text);
            }
        }
        Ok(text)
    }

    fn has_file(&self, path: &str) -> bool {
        self.handle.has_file(path)
    }

    fn list_files(&self, folder: &str) -> Vec<String> {
        self.handle.list_files(folder)
    }
}

skillcell_engine::bindings::export!(Fragile with_types_in skillcell_engine::bindings);

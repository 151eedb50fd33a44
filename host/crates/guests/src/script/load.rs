//! Loads guests from the bytes of a file: a runtime that the operator configures, or a script that is WebAssembly.

use super::{Guest, ScriptWorld};
use crate::load::{Fault, MAX_COMPONENT_BYTES, Origin, World, export_names};
use base::digest::Sha256;
use std::sync::{Arc, PoisonError};
use wasmparser::Parser;
use wasmtime::component::Component;
use wasmtime_wasi::p2::bindings::CommandPre;

/// Of a script that is WebAssembly.
const MAX_PROGRAM_BYTES: u64 = 8 << 20;

/// Beyond this, all loaded guests are evicted.
const MAX_LOADED: usize = 32;

/// The world of a script that is WebAssembly.
const COMMAND: &str = "wasi:cli/command";

/// What a WebAssembly file is used as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It interprets scripts.
    Runtime,
    /// It is the script.
    Program,
}

impl Role {
    pub fn max_bytes(self) -> u64 {
        match self {
            Self::Runtime => MAX_COMPONENT_BYTES,
            Self::Program => MAX_PROGRAM_BYTES,
        }
    }

    fn check_size(self, bytes: &[u8]) -> Result<(), Fault> {
        let (size, limit) = (bytes.len() as u64, self.max_bytes());
        if size > limit { Err(Fault::TooLarge { size, limit }) } else { Ok(()) }
    }
}

impl ScriptWorld {
    /// Returns a guest that is already loaded.
    pub fn loaded(&self, digest: &Sha256, role: Role) -> Option<Guest> {
        let loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.get(digest).filter(|guest| guest.fits(role)).cloned()
    }

    /// Loads a guest. Can take seconds if it has to be compiled: not for a thread that answers requests.
    pub fn load(&self, bytes: &[u8], digest: Sha256, role: Role) -> Result<Guest, Fault> {
        if let Some(guest) = self.loaded(&digest, role) {
            return Ok(guest);
        }
        role.check_size(bytes)?;
        let link = |component: &Component| self.link_runtime(component);
        let guest = match role {
            Role::Runtime => World::SCRIPT_RUNTIME.load(&self.executor, bytes, &digest, link)?,
            Role::Program if Parser::is_component(bytes) => self.load_command(bytes, &digest)?,
            Role::Program => self.load_module(bytes, &digest)?,
        };
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if loaded.len() >= MAX_LOADED {
            loaded.clear();
        }
        loaded.insert(digest, guest.clone());
        Ok(guest)
    }

    /// Checks what can be checked of a guest without compiling it. Takes less than a second.
    pub fn validate(&self, bytes: &[u8], digest: &Sha256, role: Role) -> Result<(), Fault> {
        if self.loaded(digest, role).is_some() {
            return Ok(());
        }
        role.check_size(bytes)?;
        match role {
            Role::Runtime if !Parser::is_component(bytes) => Err(Fault::NotAComponent),
            Role::Runtime => self.executor.validate(bytes, Origin::Operator),
            Role::Program => self.executor.validate(bytes, Origin::Content),
        }
    }

    fn load_command(&self, bytes: &[u8], digest: &Sha256) -> Result<Guest, Fault> {
        let component = self.executor.component(bytes, digest, Origin::Content)?;
        let linked = self.components.instantiate_pre(&component).map_err(|error| Fault::misfit(COMMAND, &error))?;
        // Unlike for the other worlds, any compatible version of the export will do, which wasmtime finds.
        let exports = || export_names(&self.executor.engine, &component);
        let ready = CommandPre::new(linked).map_err(|_| Fault::other_world(&exports(), "wasi:cli/run"))?;
        Ok(Guest::Command(Arc::new(ready)))
    }

    fn load_module(&self, bytes: &[u8], digest: &Sha256) -> Result<Guest, Fault> {
        let module = self.executor.module(bytes, digest, Origin::Content)?;
        if module.get_export("_start").and_then(|export| export.func().cloned()).is_none() {
            let exports: Vec<String> = module.exports().map(|export| export.name().to_owned()).collect();
            return Err(Fault::other_world(&exports, "_start"));
        }
        let ready = self.modules.instantiate_pre(&module).map_err(|error| Fault::misfit(COMMAND, &error))?;
        Ok(Guest::Module(Arc::new(ready)))
    }
}

impl Guest {
    fn fits(&self, role: Role) -> bool {
        matches!((self, role), (Self::Runtime(_), Role::Runtime) | (Self::Command(_) | Self::Module(_), Role::Program))
    }
}

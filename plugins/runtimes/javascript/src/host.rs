//! State that outlives a single native call: working folder, exit request, queues and modules.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use boa_engine::error::{EngineError, PanicError};
use boa_engine::{Context, JsError};

use crate::builtins::Builtins;
use crate::commonjs::CommonModules;
use crate::event_loop::EventLoop;
use crate::native::descriptors::Descriptors;
use crate::positions::Positions;

pub struct Host {
    /// The script that was requested.
    pub main: String,
    /// WASI has no working folder, so relative paths are resolved against this one.
    pub folder: RefCell<String>,
    /// Spaces that `console.group` puts before each line.
    pub indentation: RefCell<String>,
    pub started: Instant,
    pub events: Rc<EventLoop>,
    pub positions: Positions,
    pub common: CommonModules,
    pub builtins: Builtins,
    pub descriptors: Descriptors,
}

impl Host {
    pub fn new(main: &str, events: Rc<EventLoop>) -> Self {
        let folder = std::env::vars().find(|(name, _)| name == "PWD").map(|(_, folder)| folder);
        Self {
            main: main.to_owned(),
            folder: RefCell::new(folder.filter(|folder| folder.starts_with('/')).unwrap_or_else(|| "/work".to_owned())),
            indentation: RefCell::default(),
            started: Instant::now(),
            events,
            positions: Positions::default(),
            common: CommonModules::default(),
            builtins: Builtins::default(),
            descriptors: Descriptors::default(),
        }
    }

    pub fn of(context: &Context) -> Rc<Self> {
        context.get_data::<Rc<Self>>().expect("`run` puts it there before any script").clone()
    }

    /// Ends the script. The language cannot catch the returned error.
    pub fn exit(&self, code: u8) -> JsError {
        self.events.exit.set(Some(code));
        EngineError::Panic(PanicError::new("process.exit")).into()
    }

    /// Makes a path absolute and removes `.` and `..`, which the sandbox would have to walk otherwise.
    pub fn absolute(&self, path: &str) -> String {
        if path.starts_with('/') { normal(path) } else { normal(&format!("{}/{path}", self.folder.borrow())) }
    }
}

fn normal(path: &str) -> String {
    if !path.contains("/.") && !path.contains("//") && (path.len() == 1 || !path.ends_with('/')) {
        return path.to_owned();
    }
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::normal;

    #[test]
    fn paths_are_normalized() {
        assert_eq!(normal("/a/./b/../c//d/"), "/a/c/d");
        assert_eq!(normal("/../x"), "/x");
        assert_eq!(normal("/"), "/");
        assert_eq!(normal("/a/.hidden"), "/a/.hidden");
    }
}

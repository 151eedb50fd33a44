//! An engine is given an empty catalog.

use super::{Outcome, no_sandbox};
use crate::bindings::catalog::{Duplicates, OperatorSettings};
use crate::cli::plugin::report::Tried;
use crate::config::Scripts;
use crate::runtime::Runtime;
use crate::runtime::call::Broken;
use crate::worlds::engine::{EngineWorld, Terms};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

pub fn engine(file: &Path) -> Outcome {
    Outcome::of(|outcome| {
        let began = Instant::now();
        let runtime = Arc::new(Runtime::new().map_err(no_sandbox)?);
        let world = EngineWorld::from_file(runtime, file).map_err(|error| error.to_string())?;
        outcome.tried.push(Tried::since(began, "it loads"));
        let began = Instant::now();
        let broken = |broken: Broken| broken.to_string();
        let mut engine = world.instantiate(&terms()).map_err(broken)?;
        engine.update(Arc::default(), &[]).map_err(|update| update.broken.to_string())?;
        let skills = engine.skills(None, None, 0, 1).map_err(broken)?.total;
        if skills > 0 {
            return Err(format!("it has {skills} skills in an empty catalog"));
        }
        outcome.tried.push(Tried::since(began, "it opens an empty catalog"));
        Ok(())
    })
}

/// What an operator says who says nothing, about no root at all.
fn terms() -> Terms {
    let operator = OperatorSettings {
        scripts: Scripts::default().terms(),
        max_size_bytes: 1 << 20,
        inline_text_max_bytes: None,
        min_score: None,
        ambiguity_threshold: None,
        max_results: None,
        refresh_enabled: None,
        refresh_interval_minutes: None,
    };
    Terms {
        roots: Arc::new([]),
        set_aside: Arc::default(),
        file_limit: operator.max_size_bytes,
        operator,
        duplicates: Duplicates::Refuse,
    }
}

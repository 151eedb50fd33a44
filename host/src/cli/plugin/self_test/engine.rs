//! Tests an engine with an empty catalog.

use super::{Outcome, cache, wasm_error};
use crate::cli::plugin::report::PassedTest;
use base::place::Audience;
use bindings::catalog::{Duplicates, OperatorSettings};
use guests::call::Broken;
use guests::engine::{EngineWorld, Terms};
use guests::executor::Executor;
use scripts::Options as Scripts;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

pub fn engine(file: &Path) -> Outcome {
    Outcome::collect(|outcome| {
        let start = Instant::now();
        let executor = Arc::new(Executor::for_engines(cache()).map_err(wasm_error)?);
        let world = EngineWorld::from_file(executor, file).map_err(|error| error.for_audience(Audience::Local))?;
        outcome.passed.push(PassedTest::since(start, "it loads"));
        let start = Instant::now();
        let broken = |broken: Broken| broken.to_string();
        let mut engine = world.instantiate(&terms()).map_err(broken)?;
        engine.update(Arc::default(), &[]).map_err(|update| update.broken.to_string())?;
        let skills = engine.skills(None, None, 0, 1).map_err(broken)?.total;
        if skills > 0 {
            return Err(format!("it reports {skills} skills in an empty catalog"));
        }
        outcome.passed.push(PassedTest::since(start, "it opens an empty catalog"));
        Ok(())
    })
}

/// Default settings without roots.
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
        quarantine: Arc::default(),
        file_limit: operator.max_size_bytes,
        operator,
        duplicates: Duplicates::Refuse,
    }
}

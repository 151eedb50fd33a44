//! What `lint` found as SARIF 2.1.0, for code scanning.

use super::codes::Codes;
use super::report::{Report, Silencer, Told};
use crate::percent;
use crate::printable::printable;
use crate::sha256::Sha256;
use serde_json::{Value, json};
use std::path::{Component, Path};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The folder that relative paths begin in.
const BASE: &str = "%SRCROOT%";

/// One run with all kinds of problems as rules. Paths below the working folder are relative to it.
pub fn sarif(report: &Report, codes: &Codes, working_folder: &Path) -> Value {
    let rules: Vec<Value> = codes
        .iter()
        .map(|known| {
            json!({
                "id": known.code,
                "shortDescription": {"text": sentence(&known.summary)},
                "fullDescription": {"text": sentence(&known.summary)},
                "help": {"text": sentence(&known.advice)},
                "helpUri": concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/lint.md"),
                "defaultConfiguration": {"level": known.severity},
            })
        })
        .collect();
    let results: Vec<Value> =
        report.problems.iter().chain(&report.silenced).map(|told| result(told, codes, working_folder)).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "skillcell",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {BASE: {"uri": folder_uri(working_folder)}},
            "results": results,
        }],
    })
}

fn result(told: &Told, codes: &Codes, working_folder: &Path) -> Value {
    // Where the whole file is meant, its first line is shown.
    let mut region = json!({"startLine": told.line.unwrap_or(1)});
    if let Some(column) = told.column {
        region["startColumn"] = json!(column);
    }
    let path = Path::new(&told.file);
    let is_below = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let artifact = if is_below {
        json!({"uri": percent::encoded(&told.file), "uriBaseId": BASE})
    } else {
        let whole = working_folder.join(path);
        json!({"uri": file_uri(&whole.canonicalize().unwrap_or(whole))})
    };
    let (message, advice) = (printable(&told.message), printable(&told.advice));
    let identity = format!("{}\n{}\n{}", told.file, told.code, told.message);
    let mut result = json!({
        "ruleId": told.code,
        "level": told.severity,
        "message": {"text": format!("{} {}", sentence(&message), sentence(&advice))},
        "locations": [{"physicalLocation": {"artifactLocation": artifact, "region": region}}],
        "partialFingerprints": {"problem/v1": Sha256::of(identity.as_bytes()).hex()},
    });
    if let Some(position) = codes.position(&told.code) {
        result["ruleIndex"] = json!(position);
    }
    if let Some(silencer) = told.silencer {
        let kind = match silencer {
            Silencer::File => "inSource",
            Silencer::Command => "external",
        };
        result["suppressions"] = json!([{"kind": kind}]);
    }
    result
}

/// With a slash at its end, which only the top of the disk has already.
fn folder_uri(path: &Path) -> String {
    let uri = file_uri(path);
    if uri.ends_with('/') { uri } else { uri + "/" }
}

fn file_uri(path: &Path) -> String {
    format!("file://{}", percent::encoded(&path.to_string_lossy()))
}

/// With a capital letter and a full stop, as viewers show it.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str())
}

//! Formats the report of `lint` as SARIF 2.1.0, for code scanning.

use super::codes::Codes;
use super::report::{Finding, Report, Silencer};
use base::digest::Sha256;
use base::percent;
use base::printable::printable;
use serde_json::{Value, json};
use std::path::{Component, Path};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The base of relative paths.
const BASE: &str = "%SRCROOT%";

/// One run with all codes as rules. Paths below the working folder are relative to it.
pub fn sarif(report: &Report, codes: &Codes, working_folder: &Path) -> Value {
    let rules: Vec<Value> = codes
        .iter()
        .map(|info| {
            json!({
                "id": info.code,
                "shortDescription": {"text": sentence(&info.summary)},
                "fullDescription": {"text": sentence(&info.summary)},
                "help": {"text": sentence(&info.advice)},
                "helpUri": concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/lint.md"),
                "defaultConfiguration": {"level": info.severity},
            })
        })
        .collect();
    let results: Vec<Value> =
        report.problems.iter().chain(&report.silenced).map(|finding| result(finding, codes, working_folder)).collect();
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

fn result(finding: &Finding, codes: &Codes, working_folder: &Path) -> Value {
    // A problem of the whole file is shown at its first line.
    let mut region = json!({"startLine": finding.line.unwrap_or(1)});
    if let Some(column) = finding.column {
        region["startColumn"] = json!(column);
    }
    let path = Path::new(&finding.file);
    let is_below = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let artifact = if is_below {
        json!({"uri": percent::encode(&finding.file), "uriBaseId": BASE})
    } else {
        let absolute = working_folder.join(path);
        json!({"uri": file_uri(&absolute.canonicalize().unwrap_or(absolute))})
    };
    let (message, advice) = (printable(&finding.message), printable(&finding.advice));
    let identity = format!("{}\n{}\n{}", finding.file, finding.code, finding.message);
    let mut result = json!({
        "ruleId": finding.code,
        "level": finding.severity,
        "message": {"text": format!("{} {}", sentence(&message), sentence(&advice))},
        "locations": [{"physicalLocation": {"artifactLocation": artifact, "region": region}}],
        "partialFingerprints": {"problem/v1": Sha256::of(identity.as_bytes()).hex()},
    });
    if let Some(position) = codes.position(&finding.code) {
        result["ruleIndex"] = json!(position);
    }
    if let Some(silencer) = finding.silencer {
        let kind = match silencer {
            Silencer::File => "inSource",
            Silencer::Command => "external",
        };
        result["suppressions"] = json!([{"kind": kind}]);
    }
    result
}

/// A URI with a trailing slash.
fn folder_uri(path: &Path) -> String {
    let uri = file_uri(path);
    if uri.ends_with('/') { uri } else { uri + "/" }
}

fn file_uri(path: &Path) -> String {
    format!("file://{}", percent::encode(&path.to_string_lossy()))
}

/// Capitalizes a text and adds a full stop, as viewers expect.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str())
}

//! Converts the files of a skill to text that the engine understands.
//!
//! Types are stripped from TypeScript. The kind of a file follows from its extension, or else from its contents: a file
//! without `import`, `export` and top-level `await` runs as a `CommonJS` module regardless of `package.json`, because
//! it behaves the same either way.

use std::path::Path;

use boa_engine::{Context, JsError, JsNativeError, js_string};
use oxc_allocator::Allocator;
use oxc_codegen::{Codegen, CodegenOptions};
use oxc_diagnostics::Diagnostics;
use oxc_parser::{ParseOptions, Parser};
use oxc_semantic::{Scoping, SemanticBuilder};
use oxc_sourcemap::SourceMap;
use oxc_span::SourceType;
use oxc_transformer::{TransformOptions, Transformer};

use crate::report;

pub struct Source {
    pub text: String,
    pub kind: Kind,
    /// Present if the text was generated.
    pub map: Option<SourceMap<'static>>,
    /// Names of `CommonJS` that a TypeScript module uses. tsx provides them, because it compiles such files to
    /// `CommonJS`.
    pub commonjs_names: Vec<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Module,
    Common,
}

#[derive(Debug)]
pub struct SyntaxFault {
    file: String,
    line: u32,
    column: u32,
    text: String,
    message: String,
}

pub fn prepare(file: &str, bytes: &[u8]) -> Result<Source, SyntaxFault> {
    let text = String::from_utf8_lossy(bytes);
    let mut text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
    if text.starts_with("#!") {
        text.replace_range(..2, "//");
    }
    let extension = Path::new(file).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let script = if extension.ends_with("ts") { SourceType::ts() } else { SourceType::mjs() };
    let kind = match extension {
        "mjs" | "mts" => script.with_module(true),
        "cjs" | "cts" => script.with_commonjs(true),
        _ => script.with_unambiguous(true),
    };
    let allocator = Allocator::default();
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    let parsed = Parser::new(&allocator, &text, kind).with_options(options).parse();
    check(file, &text, &parsed.diagnostics)?;
    let mut program = parsed.program;
    let kind = if program.source_type.is_module() { Kind::Module } else { Kind::Common };
    if !program.source_type.is_typescript() {
        return Ok(Source { text, kind, map: None, commonjs_names: Vec::new() });
    }

    let semantic = SemanticBuilder::new().with_enum_eval(true).build(&program);
    check(file, &text, &semantic.diagnostics)?;
    let scoping = semantic.semantic.into_scoping();
    let transformed = Transformer::new(&allocator, Path::new(file), &TransformOptions::default())
        .build_with_scoping(scoping, &mut program);
    check(file, &text, &transformed.diagnostics)?;
    let options = CodegenOptions { source_map_path: Some(file.into()), ..CodegenOptions::default() };
    let generated = Codegen::new().with_options(options).build(&program);
    let commonjs_names = if kind == Kind::Module { commonjs_names(&transformed.scoping) } else { Vec::new() };
    Ok(Source { text: generated.code, kind, map: generated.map.map(SourceMap::into_owned), commonjs_names })
}

fn commonjs_names(scoping: &Scoping) -> Vec<&'static str> {
    let unresolved = scoping.root_unresolved_references();
    let used = |name: &&str| unresolved.keys().any(|unresolved| unresolved.as_str() == *name);
    ["require", "module", "exports", "__filename", "__dirname"].into_iter().filter(used).collect()
}

fn check(file: &str, text: &str, diagnostics: &Diagnostics) -> Result<(), SyntaxFault> {
    let Some(error) = diagnostics.errors().next() else { return Ok(()) };
    let offset = error.labels.first().map_or(0, |label| label.offset() as usize).min(text.len());
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let mut message = error.message.to_string();
    if let Some(help) = &error.help {
        message = format!("{message} ({help})");
    }
    Err(SyntaxFault {
        file: file.to_owned(),
        line: count(before.matches('\n').count()) + 1,
        column: count(before[start..].chars().count()) + 1,
        text: text[start..].lines().next().unwrap_or_default().to_owned(),
        message,
    })
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl SyntaxFault {
    pub fn into_error(self, context: &mut Context) -> JsError {
        let Self { file, line, column, text, message } = self;
        let error = JsNativeError::syntax().with_message(message.clone()).into_opaque(context);
        let place = report::pointer(&file, line, column, &text);
        let stack = format!("{place}SyntaxError: {message}\n    at {file}:{line}:{column}");
        // A new error object accepts any property.
        _ = error.create_data_property(js_string!("stack"), js_string!(stack), context);
        JsError::from_opaque(error.into())
    }
}

/// Reports syntax that oxc supports and the engine does not. The engine's message has the line, but not the file.
pub fn unsupported_syntax(file: &str, error: JsError, context: &mut Context) -> JsError {
    let Ok(value) = error.into_opaque(context) else {
        return JsNativeError::syntax().with_message(file.to_owned()).into();
    };
    if let Some(object) = value.as_object() {
        let title = value.to_string(context).map(|title| title.to_std_string_lossy()).unwrap_or_default();
        let stack = format!("{title}\n    at {file}");
        // A new error object accepts any property.
        _ = object.create_data_property(js_string!("stack"), js_string!(stack), context);
    }
    JsError::from_opaque(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(file: &str, text: &str) -> Source {
        prepare(file, text.as_bytes()).unwrap_or_else(|fault| panic!("{fault:?}"))
    }

    #[test]
    fn the_content_decides_the_kind() {
        assert_eq!(source("a.js", "import fs from 'fs'").kind, Kind::Module);
        assert_eq!(source("a.js", "const x = await 1").kind, Kind::Module);
        assert_eq!(source("a.js", "module.exports = 1; return").kind, Kind::Common);
        assert_eq!(source("a.js", "const x = import('y')").kind, Kind::Common);
        assert_eq!(source("a.ts", "const x: number = 1").kind, Kind::Common);
        assert_eq!(source("a.mjs", "1").kind, Kind::Module);
        assert_eq!(source("a.cjs", "1").kind, Kind::Common);
    }

    #[test]
    fn types_are_stripped_and_the_rest_is_kept() {
        let text = "import type { A } from './a';\nenum E { X = 3 }\nclass P { constructor(private n: number) {} }\n\
                    export const y = <T,>(v: T) => v as unknown satisfies unknown;\nconsole.log(E.X, new P(1), __dirname);";
        let source = source("a.ts", text);
        assert!(!source.text.contains("./a") && !source.text.contains("satisfies"), "{}", source.text);
        assert!(source.text.contains("this.n = n") || source.text.contains("n;"), "{}", source.text);
        assert_eq!(source.commonjs_names, ["__dirname"]);
    }

    #[test]
    fn a_syntax_error_has_a_place() {
        let fault = prepare("/a.ts", b"let a = 1;\nlet = = 2;").err().expect("this is not TypeScript");
        assert_eq!((fault.line, fault.text.as_str()), (2, "let = = 2;"));
    }
}

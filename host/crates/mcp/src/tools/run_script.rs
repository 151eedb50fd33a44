//! `run_script`: a script of a skill, in the sandbox.

use super::{Hints, Tool, ToolName, read_only};
use crate::answer::{self, Answer, Result, failed, invalid};
use crate::server::{Server, Shared};
use crate::texts::Texts;
use analytics::Event;
use base::printable::printable;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use call::Call;
use rmcp::model::{self, ContentBlock, ToolAnnotations};
use schemars::JsonSchema;
use scripts::input::{Input, InputFile};
use scripts::patterns::Pattern;
use scripts::{Denied, Request, ScriptError, kept};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use views::run::{RunView, policy_view};

#[derive(Deserialize, JsonSchema)]
pub struct RunScript {
    skill_path: String,
    file: String,
    args: Option<BTreeMap<String, String>>,
    #[schemars(length(max = 256))]
    argv: Option<Vec<String>>,
    stdin: Option<String>,
    /// Each with one of text, base64, uri
    #[schemars(length(max = 16))]
    files: Option<Vec<FileArgument>>,
    /// Patterns of files wanted back
    #[schemars(length(max = 64))]
    outputs: Option<Vec<String>>,
    save_to: Option<String>,
    /// Project folder, if granted
    cwd: Option<PathBuf>,
    dry_run: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
pub struct FileArgument {
    path: String,
    text: Option<String>,
    base64: Option<String>,
    uri: Option<String>,
}

impl Tool for RunScript {
    const NAME: &'static str = "run_script";
    const TITLE: &'static str = "Run a script of a skill";
    const PURPOSE: &'static str = "Run a script of a skill in a sandbox. Pass its command-line arguments in `argv` and input \
        files in `files`; files that it writes come back.";
    const HINTS: Hints = &[(ToolName::GetAsset, "read one with `execution: claude`")];

    /// A script may write where the operator lets it, and reach the hosts that were granted.
    fn annotations() -> ToolAnnotations {
        read_only().read_only(false).destructive(true).idempotent(false).open_world(true)
    }

    fn customize(tool: &mut model::Tool, server: &Shared, _: &Texts) {
        if server.surface.only_declared_scripts {
            let mut schema = (*tool.input_schema).clone();
            schema.insert("required".to_owned(), json!(["skill_path", "file", "args"]));
            tool.input_schema = Arc::new(schema);
        }
    }

    async fn call(self, server: &Server, call: &Call) -> Result<Answer> {
        if self.args.is_none() && server.surface.only_declared_scripts {
            return Err(invalid("args is required"));
        }
        let request = match self.request(server, call)? {
            Ok(request) => request,
            Err(refusal) => return Ok(answer::refused(refusal)),
        };
        let answer = if request.dry_run {
            let policy = server.scripts.dry_run(request, call).await;
            policy.map(|policy| answer::json(&policy_view(&policy, server.audience())))
        } else {
            let args_provided: Vec<String> = request.input.named.keys().cloned().collect();
            server.scripts.run(request, call).await.map(|ran| {
                let skill_path = ran.policy.address.clone();
                let images = images(&ran.outputs.files);
                let view = RunView::new(ran, server.audience(), |files| server.scripts.keep(&call.caller, files));
                call.usage.record(Event::ScriptExecuted {
                    skill_path,
                    file: view.script.clone(),
                    execution_mode: "server",
                    success: view.success,
                    exit_code: view.exit_code,
                    duration_ms: view.duration_ms,
                    args_provided,
                });
                let mut answer = answer::json(&view);
                answer.content.extend(images);
                answer
            })
        };
        match answer {
            Err(ScriptError::Denied(Denied::Input(error))) if error.is_out_of_range() => {
                Err(invalid(error.to_string()))
            }
            Err(error @ (ScriptError::Denied(_) | ScriptError::Busy | ScriptError::Cancelled)) => {
                Ok(answer::refused(error.for_audience(server.audience())))
            }
            Err(ScriptError::Catalog(error)) => Err(failed(error)),
            other => other.map_err(|error| answer::internal(server.audience(), |who| error.for_audience(who))),
        }
    }
}

impl RunScript {
    /// Reads what the arguments refer to. Wrong arguments are errors; what is no longer there is a refusal.
    fn request(self, server: &Server, call: &Call) -> Result<Result<Request, String>> {
        let mut files = Vec::new();
        for (index, FileArgument { path, text, base64, uri }) in self.files.into_iter().flatten().enumerate() {
            let bytes = match (text, base64, uri) {
                (Some(text), None, None) => Bytes::from(text),
                (None, Some(encoded), None) => {
                    let decoded = STANDARD.decode(encoded.split_ascii_whitespace().collect::<String>());
                    decoded.map_err(|_| invalid(format!("files[{index}].base64 is not base64")))?.into()
                }
                (None, None, Some(uri)) => match server.scripts.kept_file(&call.caller, &uri) {
                    Some(file) => file.bytes,
                    None => return Ok(Err(gone(&uri))),
                },
                _ => return Err(invalid(format!("files[{index}] needs one of text, base64 and uri"))),
            };
            files.push(InputFile { path, bytes });
        }
        let outputs = self.outputs.map(|patterns| patterns.iter().map(|text| Pattern::new(text)).collect());
        let outputs: Result<Option<Vec<Pattern>>, _> = outputs.transpose();
        Ok(Ok(Request {
            skill: self.skill_path,
            file: self.file,
            input: Input {
                named: self.args.unwrap_or_default(),
                argv: self.argv.unwrap_or_default(),
                stdin: self.stdin.unwrap_or_default().into(),
                files,
            },
            working_folder: self.cwd,
            outputs: outputs.map_err(|error| invalid(format!("outputs: {error}")))?,
            save_to: self.save_to,
            dry_run: self.dry_run.unwrap_or_default(),
        }))
    }
}

/// Says that a file of a run cannot be read.
pub fn gone(uri: &str) -> String {
    let uri = printable(uri);
    if kept::is_run_uri(&uri) {
        format!(
            "`{uri}` is not kept, or is not yours: files of a run are kept for ten minutes\nhint: run the script again"
        )
    } else {
        format!("`{uri}` is not a file of a run\nhint: use a `uri` from the `files` of an earlier `run_script`")
    }
}

/// Of one image.
const MAX_IMAGE_BYTES: usize = 1 << 20;

/// Of all images in an answer.
const MAX_IMAGES_BYTES: usize = 4 << 20;

/// Returns the outputs that clients can show. The bytes decide what is an image, not the name.
fn images(files: &[scripts::outputs::OutputFile]) -> Vec<ContentBlock> {
    let mut room = MAX_IMAGES_BYTES;
    let image = |file: &scripts::outputs::OutputFile| {
        let mime_type = match &file.bytes[..] {
            [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => "image/png",
            [0xff, 0xd8, 0xff, ..] => "image/jpeg",
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => "image/gif",
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
            _ => return None,
        };
        if file.bytes.len() > MAX_IMAGE_BYTES {
            return None;
        }
        room = room.checked_sub(file.bytes.len())?;
        Some(ContentBlock::image(STANDARD.encode(&file.bytes), mime_type))
    };
    files.iter().filter_map(image).collect()
}

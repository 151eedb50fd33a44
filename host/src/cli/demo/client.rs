//! A minimal MCP client: starts the server as any client would, and sends one request at a time.

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

pub struct Client {
    server: Child,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

impl Client {
    /// Starts this program as a server for a folder and does the MCP handshake.
    pub fn start(folder: &Path, home: &Path) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("cannot find this program")?;
        let mut command = Command::new(program);
        // A separate home keeps the user's grants and records out of the demo.
        command.env("HOME", home);
        for name in ["SKILLCELL_CONFIG", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"] {
            command.env_remove(name);
        }
        command.args(["serve", "--quiet"]).arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().context("cannot start the server")?;
        let output = server.stdout.take().context("no pipes to the server")?;
        let mut client = Self { server, output: BufReader::new(output), last_id: 0 };
        let name = json!({"name": "skillcell demo", "version": env!("CARGO_PKG_VERSION")});
        client
            .request("initialize", &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": name}))?;
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(client)
    }

    /// Calls a tool and returns its last text block, parsed if it is JSON.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<Value> {
        let result = self.request("tools/call", &json!({"name": tool, "arguments": arguments}))?;
        let mut texts = result["content"].as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
        let last = texts.next_back().unwrap_or("");
        Ok(serde_json::from_str(last).unwrap_or_else(|_| Value::String(last.to_owned())))
    }

    fn request(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        self.last_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}))?;
        let mut line = String::new();
        self.output.read_line(&mut line).context("the server ended")?;
        let mut answer: Value = serde_json::from_str(&line).context("the server sent something other than JSON")?;
        if let Some(error) = answer.get("error") {
            bail!("{method}: {error}");
        }
        Ok(answer["result"].take())
    }

    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        let input = self.server.stdin.as_mut().context("no pipes to the server")?;
        writeln!(input, "{message}").context("the server ended")
    }
}

impl Drop for Client {
    /// Waiting closes the input of the server first, which is the signal for it to exit.
    fn drop(&mut self) {
        let _ = self.server.wait();
    }
}

//! Wheels, honest and hostile, and an index that serves them.

use crate::PATIENCE;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// A zip entry, as its headers describe it.
#[derive(Clone)]
pub struct ZipEntry {
    pub path: String,
    pub content: Vec<u8>,
    /// The kind of file and the permissions on Unix.
    pub mode: u32,
    /// The size in the headers, if it is not the true one.
    pub claimed_size: Option<u32>,
    /// The name in the header before the data, if it is not the one in the directory.
    pub local_path: Option<String>,
    pub flags: u16,
}

impl ZipEntry {
    pub fn new(path: &str, content: impl Into<Vec<u8>>) -> Self {
        let (path, content) = (path.to_owned(), content.into());
        Self { path, content, mode: 0o100_644, claimed_size: None, local_path: None, flags: 0x800 }
    }
}

/// Writes an archive without judging its entries.
pub fn zip(entries: &[ZipEntry]) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        let data = miniz_oxide::deflate::compress_to_vec(&entry.content, 6);
        let size = entry.claimed_size.unwrap_or_else(|| number(entry.content.len()));
        let local_path = entry.local_path.as_ref().unwrap_or(&entry.path);
        let header = |path: &str| {
            let mut header = [20_u16, entry.flags, 8, 0, 33].map(u16::to_le_bytes).concat();
            let numbers = [checksum(&entry.content), number(data.len()), size].map(u32::to_le_bytes).concat();
            header.extend(numbers);
            header.extend(u16::try_from(path.len()).expect("a short path").to_le_bytes());
            header.extend([0; 2]);
            header
        };
        let at = number(archive.len());
        archive.extend([b"PK\x03\x04", &header(local_path)[..], local_path.as_bytes(), &data].concat());
        directory.extend([b"PK\x01\x02\x14\x03", &header(&entry.path)[..], &[0; 6]].concat());
        directory.extend([(entry.mode << 16).to_le_bytes(), at.to_le_bytes()].concat());
        directory.extend(entry.path.as_bytes());
    }
    let (start, size) = (number(archive.len()), number(directory.len()));
    let count = u16::try_from(entries.len()).expect("few entries");
    archive.extend(directory);
    archive.extend(b"PK\x05\x06\0\0\0\0");
    archive.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    archive.extend([size.to_le_bytes(), start.to_le_bytes()].concat());
    archive.extend([0; 2]);
    archive
}

fn number(value: usize) -> u32 {
    u32::try_from(value).expect("a small archive")
}

/// CRC-32, bit by bit.
fn checksum(bytes: &[u8]) -> u32 {
    let step = |value: u32| if value & 1 == 0 { value >> 1 } else { (value >> 1) ^ 0xedb8_8320 };
    !bytes.iter().fold(!0, |value, byte| (0..8).fold(value ^ u32::from(*byte), |value, _| step(value)))
}

/// A wheel with a correct `RECORD`, unless entries are changed after [`Wheel::entries`].
#[derive(Clone)]
pub struct Wheel {
    name: String,
    version: String,
    tag: String,
    metadata: String,
    files: Vec<ZipEntry>,
}

impl Wheel {
    pub fn new(name: &str, version: &str) -> Self {
        let metadata = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n");
        let (name, version) = (name.to_owned(), version.to_owned());
        Self { name, version, tag: "py3-none-any".to_owned(), metadata, files: Vec::new() }
    }

    pub fn file(mut self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        self.files.push(ZipEntry::new(path, content));
        self
    }

    pub fn entry(mut self, entry: ZipEntry) -> Self {
        self.files.push(entry);
        self
    }

    pub fn tag(mut self, tag: &str) -> Self {
        tag.clone_into(&mut self.tag);
        self
    }

    pub fn requires(self, requirement: &str) -> Self {
        self.line(&format!("Requires-Dist: {requirement}"))
    }

    /// Adds a line to the metadata.
    pub fn line(mut self, line: &str) -> Self {
        self.metadata.push_str(line);
        self.metadata.push('\n');
        self
    }

    /// Replaces the metadata.
    pub fn metadata(mut self, text: &str) -> Self {
        text.clone_into(&mut self.metadata);
        self
    }

    pub fn file_name(&self) -> String {
        format!("{}-{}-{}.whl", self.name.replace('-', "_"), self.version, self.tag)
    }

    /// The files, the metadata and `RECORD`, which is last.
    pub fn entries(&self) -> Vec<ZipEntry> {
        let folder = format!("{}-{}.dist-info", self.name.replace('-', "_"), self.version);
        let mut entries = self.files.clone();
        entries.push(ZipEntry::new(&format!("{folder}/METADATA"), self.metadata.as_str()));
        entries.push(ZipEntry::new(&format!("{folder}/WHEEL"), "Wheel-Version: 1.0\n"));
        let line = |entry: &ZipEntry| {
            let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(&entry.content));
            format!("{},sha256={digest},{}\n", entry.path, entry.content.len())
        };
        let files = entries.iter().filter(|entry| !entry.path.ends_with('/'));
        let record: String = files.map(line).chain([format!("{folder}/RECORD,,\n")]).collect();
        entries.push(ZipEntry::new(&format!("{folder}/RECORD"), record));
        entries
    }

    pub fn bytes(&self) -> Vec<u8> {
        zip(&self.entries())
    }

    pub fn write(&self, folder: &Path) -> PathBuf {
        let path = folder.join(self.file_name());
        std::fs::write(&path, self.bytes()).expect("a writable folder");
        path
    }
}

/// What the index answers for one path.
#[derive(Clone)]
pub enum Reply {
    Content {
        kind: &'static str,
        bytes: Vec<u8>,
    },
    Redirect(String),
    /// Never answer.
    Hang,
    /// Answer for ever.
    Flood,
}

/// A package index on a free port of this machine.
pub struct Index {
    address: SocketAddr,
    replies: Arc<Mutex<BTreeMap<String, Reply>>>,
    requests: Arc<Mutex<Vec<String>>>,
}

/// The formats of its pages.
#[derive(Clone, Copy)]
pub enum Format {
    Json,
    Html,
}

impl Index {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("a bound port");
        let replies: Arc<Mutex<BTreeMap<String, Reply>>> = Arc::default();
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let (their_replies, their_requests) = (Arc::clone(&replies), Arc::clone(&requests));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (replies, requests) = (Arc::clone(&their_replies), Arc::clone(&their_requests));
                // A client may disconnect at any time.
                std::thread::spawn(move || answer(stream, &replies, &requests).ok());
            }
        });
        Self { address, replies, requests }
    }

    /// Serves these wheels.
    pub fn with(format: Format, wheels: &[Wheel]) -> Self {
        let index = Self::start();
        let mut names: Vec<&str> = wheels.iter().map(|wheel| wheel.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let of_name: Vec<Wheel> = wheels.iter().filter(|wheel| wheel.name == name).cloned().collect();
            index.page(format, name, &of_name);
        }
        index
    }

    /// Serves the page of a package, and its wheels.
    pub fn page(&self, format: Format, name: &str, wheels: &[Wheel]) {
        let digest = |bytes: &[u8]| Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let files: Vec<(String, String)> =
            wheels.iter().map(|wheel| (wheel.file_name(), digest(&wheel.bytes()))).collect();
        let path = format!("/simple/{}/", name.to_lowercase().replace('_', "-"));
        for wheel in wheels {
            let content = Reply::Content { kind: "application/octet-stream", bytes: wheel.bytes() };
            self.set(&format!("/files/{}", wheel.file_name()), content);
        }
        let (kind, page) = match format {
            Format::Json => {
                let file = |(file, digest): &(String, String)| json!({"filename": file, "url": format!("../../files/{file}"), "hashes": {"sha256": digest}});
                let page = json!({"meta": {"api-version": "1.0"}, "name": name, "files": files.iter().map(file).collect::<Vec<_>>()});
                ("application/vnd.pypi.simple.v1+json", page.to_string())
            }
            Format::Html => {
                let link = |(file, digest): &(String, String)| {
                    format!("<a href=\"../../files/{file}#sha256={digest}\">{file}</a><br/>\n")
                };
                let links: String = files.iter().map(link).collect();
                ("text/html", format!("<!DOCTYPE html>\n<html><body>\n{links}</body></html>\n"))
            }
        };
        self.set(&path, Reply::Content { kind, bytes: page.into_bytes() });
    }

    /// Sets what a path answers.
    pub fn set(&self, path: &str, reply: Reply) {
        self.replies.lock().unwrap().insert(path.to_owned(), reply);
    }

    /// Its address, as `--index` takes it.
    pub fn url(&self) -> String {
        format!("http://{}/simple/", self.address)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The heads of all requests so far.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn answer(
    stream: TcpStream,
    replies: &Mutex<BTreeMap<String, Reply>>,
    requests: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head)? == 0 {
                return Ok(());
            }
        }
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        requests.lock().unwrap().push(head);
        let reply = replies.lock().unwrap().get(&path).cloned();
        let stream = reader.get_mut();
        match reply {
            None => stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")?,
            Some(Reply::Content { kind, bytes }) => {
                let head =
                    format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n", bytes.len());
                stream.write_all(&[head.as_bytes(), &bytes].concat())?;
            }
            Some(Reply::Redirect(to)) => {
                let head = format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n");
                stream.write_all(head.as_bytes())?;
            }
            Some(Reply::Hang) => {
                // Returns when the client closes the connection.
                reader.read_exact(&mut [0; 1])?;
            }
            Some(Reply::Flood) => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>")?;
                loop {
                    stream.write_all(&[b'x'; 8192])?;
                }
            }
        }
    }
}

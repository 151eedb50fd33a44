//! What is known about packages by name: what they are imported as, and which of them cannot work in the sandbox.

use crate::name::Name;

/// Packages for documents, which `--preset documents` adds.
pub const DOCUMENTS: [&str; 11] = [
    "pypdf",
    "openpyxl",
    "XlsxWriter",
    "defusedxml",
    "PyYAML",
    "beautifulsoup4",
    "Jinja2",
    "Markdown",
    "tabulate",
    "python-dateutil",
    "tzdata",
];

/// Part of Python in the sandbox already.
const BUNDLED: [&str; 3] = ["requests", "httpx", "httpx2"];

/// Published only for certain machines, with a part in Python that works alone.
const WORKS_WITHOUT_NATIVE: [&str; 3] = ["pyyaml", "markupsafe", "msgpack"];

/// Names in `import`, and the packages they come from, for those that work. Others have the same name for both.
const IMPORTS: [(&str, &str); 53] = [
    ("PyPDF2", "PyPDF2"),
    ("arrow", "arrow"),
    ("attr", "attrs"),
    ("bs4", "beautifulsoup4"),
    ("chardet", "chardet"),
    ("click", "click"),
    ("colorama", "colorama"),
    ("commonmark", "commonmark"),
    ("dateutil", "python-dateutil"),
    ("defusedxml", "defusedxml"),
    ("dotenv", "python-dotenv"),
    ("et_xmlfile", "et-xmlfile"),
    ("feedparser", "feedparser"),
    ("frontmatter", "python-frontmatter"),
    ("html5lib", "html5lib"),
    ("humanize", "humanize"),
    ("icalendar", "icalendar"),
    ("jinja2", "Jinja2"),
    ("jsonpath_ng", "jsonpath-ng"),
    ("lark", "lark"),
    ("markdown", "Markdown"),
    ("markdown2", "markdown2"),
    ("markdown_it", "markdown-it-py"),
    ("markupsafe", "MarkupSafe"),
    ("mistune", "mistune"),
    ("mpmath", "mpmath"),
    ("msgpack", "msgpack"),
    ("openpyxl", "openpyxl"),
    ("packaging", "packaging"),
    ("prettytable", "prettytable"),
    ("pygments", "Pygments"),
    ("pyparsing", "pyparsing"),
    ("pypdf", "pypdf"),
    ("pytz", "pytz"),
    ("rich", "rich"),
    ("semver", "semver"),
    ("simpy", "simpy"),
    ("six", "six"),
    ("slugify", "python-slugify"),
    ("soupsieve", "soupsieve"),
    ("sortedcontainers", "sortedcontainers"),
    ("tabulate", "tabulate"),
    ("termcolor", "termcolor"),
    ("toml", "toml"),
    ("tomli", "tomli"),
    ("tomlkit", "tomlkit"),
    ("tqdm", "tqdm"),
    ("typing_extensions", "typing-extensions"),
    ("tzdata", "tzdata"),
    ("unidecode", "Unidecode"),
    ("xlsxwriter", "XlsxWriter"),
    ("xmltodict", "xmltodict"),
    ("yaml", "PyYAML"),
];

/// Names in `import`, and the packages they come from, for those that have native code, or need a package or a module of Python that
/// has and that the sandbox lacks.
const IMPOSSIBLE: [(&str, &str); 49] = [
    ("PIL", "Pillow"),
    ("aiohttp", "aiohttp"),
    ("anthropic", "anthropic"),
    ("camelot", "camelot-py"),
    ("cffi", "cffi"),
    ("cryptography", "cryptography"),
    ("cv2", "opencv-python"),
    ("docx", "python-docx"),
    ("docxtpl", "docxtpl"),
    ("easyocr", "easyocr"),
    ("faiss", "faiss-cpu"),
    ("fastapi", "fastapi"),
    ("fitz", "PyMuPDF"),
    ("grpc", "grpcio"),
    ("imageio", "imageio"),
    ("jsonschema", "jsonschema"),
    ("librosa", "librosa"),
    ("lxml", "lxml"),
    ("matplotlib", "matplotlib"),
    ("mcp", "mcp"),
    ("moviepy", "moviepy"),
    ("networkx", "networkx"),
    ("nltk", "nltk"),
    ("numba", "numba"),
    ("numpy", "numpy"),
    ("openai", "openai"),
    ("pandas", "pandas"),
    ("pdf2image", "pdf2image"),
    ("pdfplumber", "pdfplumber"),
    ("playwright", "playwright"),
    ("polars", "polars"),
    ("pptx", "python-pptx"),
    ("psutil", "psutil"),
    ("psycopg2", "psycopg2"),
    ("pyarrow", "pyarrow"),
    ("pydantic", "pydantic"),
    ("pymupdf", "PyMuPDF"),
    ("pytesseract", "pytesseract"),
    ("reportlab", "reportlab"),
    ("scipy", "scipy"),
    ("seaborn", "seaborn"),
    ("skimage", "scikit-image"),
    ("sklearn", "scikit-learn"),
    ("spacy", "spacy"),
    ("sympy", "sympy"),
    ("tiktoken", "tiktoken"),
    ("torch", "torch"),
    ("transformers", "transformers"),
    ("typer", "typer"),
];

/// What can be done about a package that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Add this package.
    Add(&'static str),
    /// This package cannot work here.
    Impossible(&'static str),
}

impl Remedy {
    /// Finds what a module belongs to by the name in `import`, which may be that of a submodule.
    pub fn for_module(module: &str) -> Option<Self> {
        let top = module.split('.').next().unwrap_or(module);
        let find = |table: &'static [(&str, &str)]| {
            table.iter().find(|(import, _)| *import == top).map(|(_, package)| *package)
        };
        find(&IMPORTS).map(Self::Add).or_else(|| find(&IMPOSSIBLE).map(Self::Impossible))
    }

    /// Finds a package by its own name.
    pub fn for_package(name: &Name) -> Option<Self> {
        let find = |table: &'static [(&str, &str)]| {
            table.iter().find(|(_, package)| package.parse().as_ref() == Ok(name)).map(|(_, package)| *package)
        };
        find(&IMPORTS).map(Self::Add).or_else(|| find(&IMPOSSIBLE).map(Self::Impossible))
    }
}

/// Why a package that needs native code is refused, and what to do instead.
pub fn impossible(package: &str) -> String {
    format!(
        "`{package}` needs native code, and cannot run in the sandbox\nhint: declare a script that needs it with `execution: claude`, so that the agent runs it on the machine"
    )
}

pub fn is_bundled(name: &Name) -> bool {
    BUNDLED.contains(&name.as_str())
}

pub fn works_without_native(name: &Name) -> bool {
    WORKS_WITHOUT_NATIVE.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_lead_to_the_packages_they_come_from() {
        assert_eq!(Remedy::for_module("yaml"), Some(Remedy::Add("PyYAML")));
        assert_eq!(Remedy::for_module("dateutil.parser"), Some(Remedy::Add("python-dateutil")));
        assert_eq!(Remedy::for_module("PIL.Image"), Some(Remedy::Impossible("Pillow")));
        assert_eq!(Remedy::for_module("helpers"), None);
        assert_eq!(Remedy::for_package(&"pyyaml".parse().unwrap()), Some(Remedy::Add("PyYAML")));
        assert_eq!(Remedy::for_package(&"numpy".parse().unwrap()), Some(Remedy::Impossible("numpy")));
        for (import, package) in IMPORTS.iter().chain(&IMPOSSIBLE) {
            assert!(package.parse::<Name>().is_ok(), "{import}");
        }
        for name in DOCUMENTS {
            assert!(matches!(Remedy::for_package(&name.parse().unwrap()), Some(Remedy::Add(_))), "{name}");
        }
    }
}

//! Fenced code in Markdown, as in `CommonMark`.

/// Detects fenced code line by line.
#[derive(Default)]
pub struct Fences {
    open: Option<Fence>,
}

impl Fences {
    /// Whether the next line is part of fenced code, fences included.
    pub fn take(&mut self, line: &str) -> bool {
        let mark = Fence::of(line);
        let (now, is_code) = match (self.open.take(), mark) {
            (None, Some(mark)) if mark.may_open => (Some(mark), true),
            (None, _) => (None, false),
            (Some(open), Some(mark)) if mark.ends(&open) => (None, true),
            (Some(open), _) => (Some(open), true),
        };
        self.open = now;
        is_code
    }
}

/// A line that may open or close fenced code.
struct Fence {
    letter: char,
    length: usize,
    may_open: bool,
    may_close: bool,
}

impl Fence {
    fn of(line: &str) -> Option<Self> {
        let fence = line.trim_start_matches(' ');
        let letter = fence.chars().next().filter(|letter| matches!(letter, '`' | '~'))?;
        let after = fence.trim_start_matches(letter);
        let length = fence.len() - after.len();
        let indent = line.len() - fence.len();
        (indent <= 3 && length >= 3).then(|| Self {
            letter,
            length,
            may_open: letter == '~' || !after.contains('`'),
            may_close: after.trim().is_empty(),
        })
    }

    fn ends(&self, open: &Self) -> bool {
        self.may_close && self.letter == open.letter && self.length >= open.length
    }
}

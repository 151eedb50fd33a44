//! Options of `ls`.

use super::entry::{Entry, by_version};

#[derive(Clone, Copy, PartialEq)]
pub enum Hidden {
    Skipped,
    Shown,
    /// Also `.` and `..`.
    All,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Layout {
    /// The default when the output is not a terminal.
    Lines,
    Long,
    /// On one line, with this separator.
    Joined(&'static str),
}

#[derive(Clone, Copy, PartialEq)]
enum Order {
    Name,
    Time,
    Size,
    Ending,
    Version,
    AsFound,
}

#[derive(Clone, PartialEq)]
pub enum TimeStyle {
    Usual,
    Full,
    LongIso,
    Iso,
    Seconds,
}

#[expect(clippy::struct_excessive_bools, reason = "one for each option of the command")]
pub struct Options {
    pub hidden: Hidden,
    pub layout: Layout,
    order: Order,
    reverse: bool,
    folders_first: bool,
    pub folders_themselves: bool,
    pub recursive: bool,
    pub human: bool,
    pub with_owner: bool,
    pub with_group: bool,
    pub numeric: bool,
    pub time_style: TimeStyle,
    mark_folders: bool,
    mark_kinds: bool,
    quoted: bool,
    pub operands: Vec<String>,
}

impl Options {
    pub fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self {
            hidden: Hidden::Skipped,
            layout: Layout::Lines,
            order: Order::Name,
            reverse: false,
            folders_first: false,
            folders_themselves: false,
            recursive: false,
            human: false,
            with_owner: true,
            with_group: true,
            numeric: false,
            time_style: TimeStyle::Usual,
            mark_folders: false,
            mark_kinds: false,
            quoted: false,
            operands: Vec::new(),
        };
        let mut only_operands = false;
        for argument in arguments {
            match argument.as_str() {
                operand if only_operands || operand == "-" || !operand.starts_with('-') => {
                    options.operands.push(operand.to_owned());
                }
                "--" => only_operands = true,
                long if long.starts_with("--") => options.long(long)?,
                short => short[1..].chars().try_for_each(|letter| options.short(letter))?,
            }
        }
        if options.operands.is_empty() {
            options.operands.push(".".to_owned());
        }
        Ok(options)
    }

    fn long(&mut self, option: &str) -> Result<(), String> {
        match option.split_once('=').unwrap_or((option, "")) {
            ("--all", _) => self.hidden = Hidden::All,
            ("--almost-all", _) => self.hidden = Hidden::Shown,
            ("--reverse", _) => self.reverse = true,
            ("--recursive", _) => self.recursive = true,
            ("--directory", _) => self.folders_themselves = true,
            ("--human-readable" | "--si", _) => self.human = true,
            ("--classify", _) | ("--indicator-style", "classify") => self.mark_kinds = true,
            ("--indicator-style", "slash") => self.mark_folders = true,
            ("--group-directories-first", _) => self.folders_first = true,
            ("--no-group", _) => self.with_group = false,
            ("--numeric-uid-gid", _) => (self.numeric, self.layout) = (true, Layout::Long),
            ("--quote-name", _) => self.quoted = true,
            ("--full-time", _) => (self.time_style, self.layout) = (TimeStyle::Full, Layout::Long),
            ("--time-style", "full-iso") => self.time_style = TimeStyle::Full,
            ("--time-style", "long-iso" | "+%Y-%m-%d %H:%M") => self.time_style = TimeStyle::LongIso,
            ("--time-style", "iso" | "+%Y-%m-%d" | "+%F") => self.time_style = TimeStyle::Iso,
            ("--time-style", "+%s") => self.time_style = TimeStyle::Seconds,
            ("--sort", "time") => self.order = Order::Time,
            ("--sort", "size") => self.order = Order::Size,
            ("--sort", "extension") => self.order = Order::Ending,
            ("--sort", "version") => self.order = Order::Version,
            ("--sort", "none") => self.order = Order::AsFound,
            ("--format", "long") => self.layout = Layout::Long,
            ("--format", "commas") => self.layout = Layout::Joined(", "),
            ("--color" | "--literal" | "--sort" | "--format" | "--indicator-style" | "--quoting-style", _) => {}
            _ => return Err(format!("unrecognized option '{option}'")),
        }
        Ok(())
    }

    fn short(&mut self, letter: char) -> Result<(), String> {
        match letter {
            'a' => self.hidden = Hidden::All,
            'A' => self.hidden = Hidden::Shown,
            'l' => self.layout = Layout::Long,
            'g' => (self.with_owner, self.layout) = (false, Layout::Long),
            'o' => (self.with_group, self.layout) = (false, Layout::Long),
            'n' => (self.numeric, self.layout) = (true, Layout::Long),
            'G' => self.with_group = false,
            '1' if self.layout != Layout::Long => self.layout = Layout::Lines,
            'C' | 'x' => self.layout = Layout::Joined("  "),
            'm' => self.layout = Layout::Joined(", "),
            't' => self.order = Order::Time,
            'S' => self.order = Order::Size,
            'X' => self.order = Order::Ending,
            'v' => self.order = Order::Version,
            'U' => self.order = Order::AsFound,
            'f' => (self.order, self.hidden) = (Order::AsFound, Hidden::All),
            'r' => self.reverse = true,
            'R' => self.recursive = true,
            'd' => self.folders_themselves = true,
            'h' => self.human = true,
            'F' => self.mark_kinds = true,
            'p' => self.mark_folders = true,
            'Q' => self.quoted = true,
            '1' | 'N' | 'L' | 'H' | 'c' | 'u' | 'k' | 'q' => {}
            _ => return Err(format!("invalid option -- '{letter}'")),
        }
        Ok(())
    }

    pub fn sort(&self, entries: &mut [Entry]) {
        if self.order != Order::AsFound {
            entries.sort_by(|left, right| {
                let order = match self.order {
                    Order::Time => right.metadata.modified.cmp(&left.metadata.modified),
                    Order::Size => right.metadata.size.cmp(&left.metadata.size),
                    Order::Ending => left.ending().cmp(right.ending()),
                    Order::Version => by_version(&left.name, &right.name),
                    Order::Name | Order::AsFound => std::cmp::Ordering::Equal,
                };
                order.then_with(|| left.name.cmp(&right.name))
            });
        }
        if self.reverse {
            entries.reverse();
        }
        if self.folders_first {
            entries.sort_by_key(|entry| !entry.is_folder());
        }
    }

    /// Returns the name with the requested indicators.
    pub fn display_name(&self, entry: &Entry) -> String {
        let kind = entry.metadata.file_type;
        let mark = match (self.mark_kinds, self.mark_folders) {
            (true, _) | (_, true) if kind.is_dir() => "/",
            (true, _) if kind.is_symlink() => "@",
            (true, _) if kind.is_fifo() => "|",
            (true, _) if entry.metadata.mode & 0o111 != 0 => "*",
            _ => "",
        };
        let quote = if self.quoted { "\"" } else { "" };
        format!("{quote}{}{quote}{mark}", entry.name)
    }
}

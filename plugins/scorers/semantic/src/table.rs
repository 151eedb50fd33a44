//! The table of vectors: pieces of words, each with a rank and a vector of signed bytes.
//!
//! The host lends the bytes of the installed model. Only the list of pieces is copied; vectors are read one by one, so that all
//! instances share them. The layout is described in `docs/scorers.md`. Every number in it is foreign and checked here.

/// Bytes that are read in parts.
pub trait Source {
    fn size(&self) -> u64;
    /// Returns the bytes of a part, fewer at the end.
    fn read(&self, offset: u64, length: u32) -> Vec<u8>;
}

const MAGIC: &[u8; 8] = b"SKCLVEC1";
const HEADER: usize = 32;

/// Larger tables are for larger models than this scorer has time for.
const MAX_PIECES: u32 = 1 << 20;
const MAX_DIMENSIONS: u32 = 1024;
const MAX_PIECE_BYTES: u32 = 256;

/// How words are split into pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Adjacent pieces are merged, those first whose result has the lowest rank.
    Merges,
    /// The longest piece first; those that continue a word begin with `##`.
    WordPieces,
    /// The sequence with the best sum of scores.
    Unigram,
}

/// Why a table cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damaged(pub &'static str);

impl std::fmt::Display for Damaged {
    fn fmt(&self, line: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        line.write_str(self.0)
    }
}

/// The pieces, and where their vectors are.
pub struct Table<S> {
    source: S,
    pub kind: Kind,
    pub dimensions: usize,
    pub max_piece: usize,
    /// Sorted by text: the end of each, its rank or score, its scale.
    ends: Vec<u32>,
    ranks: Vec<f32>,
    scales: Vec<f32>,
    texts: Vec<u8>,
    vectors_at: u64,
}

impl<S: Source> Table<S> {
    pub fn open(source: S) -> Result<Self, Damaged> {
        let header = source.read(0, 32);
        if header.len() < HEADER || header[..8] != MAGIC[..] {
            return Err(Damaged("it is not a table of vectors"));
        }
        let number = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let [kind, pieces, dimensions, max_piece, text_bytes] = [8, 12, 16, 20, 24].map(number);
        let kind = match kind {
            1 => Kind::Merges,
            2 => Kind::WordPieces,
            3 => Kind::Unigram,
            _ => return Err(Damaged("its tokenizer is of an unknown kind")),
        };
        let fits = (1..=MAX_PIECES).contains(&pieces)
            && (1..=MAX_DIMENSIONS).contains(&dimensions)
            && (1..=MAX_PIECE_BYTES).contains(&max_piece)
            && text_bytes <= pieces * max_piece;
        if !fits {
            return Err(Damaged("its sizes are out of range"));
        }
        let (count, list) = (u64::from(pieces), u64::from(pieces) * 12 + u64::from(text_bytes));
        let vectors_at = HEADER as u64 + list;
        if source.size() != vectors_at + count * u64::from(dimensions) {
            return Err(Damaged("it does not have the size that it says"));
        }
        let list = u32::try_from(list).map_err(|_| Damaged("its sizes are out of range"))?;
        let bytes = source.read(HEADER as u64, list);
        if bytes.len() != list as usize {
            return Err(Damaged("it ends early"));
        }
        let (ends, rest) = bytes.split_at(pieces as usize * 4);
        let (ranks, rest) = rest.split_at(pieces as usize * 4);
        let (scales, texts) = rest.split_at(pieces as usize * 4);
        let ends: Vec<u32> = words(ends).map(u32::from_le_bytes).collect();
        let floats = |bytes: &[u8]| words(bytes).map(f32::from_le_bytes).collect::<Vec<f32>>();
        let (ranks, scales) = (floats(ranks), floats(scales));
        let in_order = ends.is_sorted() && ends.last() == Some(&text_bytes);
        if !in_order || !ranks.iter().chain(&scales).all(|number| number.is_finite()) {
            return Err(Damaged("its list of pieces is not in order"));
        }
        let (dimensions, max_piece) = (dimensions as usize, max_piece as usize);
        let table =
            Self { source, kind, dimensions, max_piece, ends, ranks, scales, texts: texts.to_vec(), vectors_at };
        let sorted = (1..table.ends.len()).all(|place| table.text(place - 1) < table.text(place));
        if sorted { Ok(table) } else { Err(Damaged("its list of pieces is not in order")) }
    }

    /// Returns the number of a piece.
    pub fn find(&self, piece: &[u8]) -> Option<usize> {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.text(middle).cmp(piece) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    /// Returns the rank of a piece in merges, or its score.
    pub fn rank(&self, piece: usize) -> f32 {
        self.ranks[piece]
    }

    /// Adds the vector of a piece to a sum.
    pub fn add_vector(&self, piece: usize, sum: &mut [f32]) {
        let length = u32::try_from(self.dimensions).unwrap_or(u32::MAX);
        let bytes = self.source.read(self.vectors_at + (piece * self.dimensions) as u64, length);
        let scale = self.scales[piece];
        for (sum, byte) in sum.iter_mut().zip(bytes) {
            *sum += f32::from(byte.cast_signed()) * scale;
        }
    }

    fn text(&self, place: usize) -> &[u8] {
        let start = if place == 0 { 0 } else { self.ends[place - 1] as usize };
        &self.texts[start..self.ends[place] as usize]
    }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = [u8; 4]> + '_ {
    bytes.chunks_exact(4).map(|word| [word[0], word[1], word[2], word[3]])
}

//! Packs written by hand, as no git program would write them.

use miniz_oxide::deflate::compress_to_vec_zlib;
use sha1_smol::Sha1;

/// Kinds of objects.
pub const TREE: u8 = 2;
pub const BLOB: u8 = 3;

const DELTA: u8 = 6;

const MIB: usize = 1 << 20;

/// The most bytes that one instruction of a delta copies.
const MAX_COPY: usize = 0x00ff_ffff;

/// A pack in the making.
pub struct Pack {
    bytes: Vec<u8>,
    entries: u32,
}

impl Default for Pack {
    fn default() -> Self {
        Self { bytes: b"PACK\0\0\0\x02\0\0\0\0".to_vec(), entries: 0 }
    }
}

impl Pack {
    /// Adds an object and returns its offset.
    pub fn object(&mut self, kind: u8, content: &[u8]) -> usize {
        self.announced(kind, content.len(), content)
    }

    /// Adds an object whose announced size may not be its size.
    pub fn announced(&mut self, kind: u8, size: usize, content: &[u8]) -> usize {
        self.entry(kind, size, &[], content)
    }

    /// Adds an object that is the beginning of the one at this offset, again and again.
    pub fn repeated(&mut self, base: usize, base_size: usize, piece: usize, times: usize) -> usize {
        let copies = copy(0, piece).repeat(times);
        self.delta(base, &[number(base_size), number(piece * times), copies].concat())
    }

    /// Adds an object that is the one at this offset, but begins with other bytes.
    pub fn changed(&mut self, base: usize, size: usize, beginning: u32) -> usize {
        let insert = [&[4], beginning.to_be_bytes().as_slice()].concat();
        self.delta(base, &[number(size), number(size), insert, copy(4, size - 4)].concat())
    }

    pub fn delta(&mut self, base: usize, delta: &[u8]) -> usize {
        let mut back = self.bytes.len() - base;
        let mut offset = vec![low_bits(back)];
        while back > 0x7f {
            back = (back >> 7) - 1;
            offset.insert(0, low_bits(back) | 0x80);
        }
        self.entry(DELTA, delta.len(), &offset, delta)
    }

    fn entry(&mut self, kind: u8, size: usize, base: &[u8], content: &[u8]) -> usize {
        let offset = self.bytes.len();
        let mut rest = size >> 4;
        let more = |rest: usize| if rest > 0 { 0x80 } else { 0 };
        self.bytes.push(kind << 4 | low_bits(size) & 15 | more(rest));
        while rest > 0 {
            self.bytes.push(low_bits(rest) | more(rest >> 7));
            rest >>= 7;
        }
        self.bytes.extend(base);
        self.bytes.extend(compress_to_vec_zlib(content, 9));
        self.entries += 1;
        offset
    }

    /// Returns the pack, which claims to have this many more objects than it has.
    pub fn claiming(mut self, more: u32) -> Vec<u8> {
        self.bytes[8..12].copy_from_slice(&(self.entries + more).to_be_bytes());
        let checksum = Sha1::from(&self.bytes).digest().bytes();
        [self.bytes.as_slice(), &checksum].concat()
    }

    pub fn finish(self) -> Vec<u8> {
        self.claiming(0)
    }
}

/// The instruction of a delta that copies from its base.
fn copy(offset: u8, size: usize) -> Vec<u8> {
    assert!(size <= MAX_COPY, "one instruction copies at most {MAX_COPY} bytes");
    let [low, middle, high, ..] = size.to_le_bytes();
    vec![0xf1, offset, low, middle, high]
}

fn low_bits(number: usize) -> u8 {
    u8::try_from(number & 0x7f).expect("seven bits")
}

/// A number as it begins a delta.
fn number(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push(low_bits(number) | 0x80);
        number >>= 7;
    }
    bytes.push(low_bits(number));
    bytes
}

/// An object of 2 GiB, the most that libgit2 allows by default, and a delta against it: 4 GiB in memory.
pub fn delta_bomb() -> Vec<u8> {
    let mut pack = Pack::default();
    let base = pack.object(BLOB, &vec![0; 15 * MIB]);
    let large = pack.repeated(base, 15 * MIB, 15 * MIB, 136);
    pack.repeated(large, 136 * 15 * MIB, 15 * MIB, 136);
    pack.finish()
}

/// A chain of deltas, each of which is within the limit of an object, but not all of them together.
pub fn delta_chain() -> Vec<u8> {
    let mut pack = Pack::default();
    let mut last = pack.object(BLOB, &vec![0; 8 * MIB]);
    for round in 0..600_u32 {
        last = pack.changed(last, 8 * MIB, round);
    }
    pack.finish()
}

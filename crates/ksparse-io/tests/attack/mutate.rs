//! Bytes made worse: what damage, malice and other programs do to files.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// Numbers in text that have broken readers before.
const NUMBERS: [&str; 20] = [
    "0",
    "-1",
    "1",
    "255",
    "65536",
    "65537",
    "2147483648",
    "4294967290",
    "4294967295",
    "4294967296",
    "99999999999999",
    "9223372036854775807",
    "18446744073709551615",
    "184467440737095516160",
    "1e308",
    "1e999",
    "-1e-320",
    "nan",
    "inf",
    "",
];

/// Words in binary likewise.
const WORDS: [u64; 12] =
    [0, 1, 0x7f, 0x80, 0xff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_fffa, 0xffff_ffff, i64::MAX as u64, u64::MAX];

/// Pieces with a meaning to some reader.
const PIECES: [&[u8]; 16] = [
    b"\n",
    b"\r\n",
    b"\0",
    b",",
    b"\t",
    b";",
    b"\"",
    b"\"\"",
    b"#",
    b":",
    b"qid:",
    b"\xef\xbb\xbf",
    b"%",
    b"\xff\xfe",
    b"(",
    b"'",
];

/// Longer than any seed by far, and short enough for thousands of cases a second.
const LONGEST: usize = 1 << 16;

/// One to six things done to the bytes.
pub fn mutate(bytes: &[u8], other: &[u8], random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..random.random_range(1..=6) {
        once(&mut bytes, other, random);
        bytes.truncate(LONGEST);
    }
    bytes
}

fn once(bytes: &mut Vec<u8>, other: &[u8], random: &mut ChaCha8Rng) {
    let at = random.random_range(0..=bytes.len());
    let end = (at + some(8, random)).min(bytes.len());
    match random.random_range(0..11) {
        0 if at < bytes.len() => bytes[at] ^= 1 << random.random_range(0..8),
        1 if at < bytes.len() => bytes[at] = random.random(),
        2 => drop(bytes.drain(at..end)),
        3 => bytes.truncate(at),
        4 => {
            let piece = bytes[at..end].to_vec();
            drop(bytes.splice(at..at, piece));
        }
        5 => {
            let piece = bytes[at..end].repeat(some(10, random));
            drop(bytes.splice(at..at, piece));
        }
        6 => drop(bytes.splice(at..at, PIECES[random.random_range(0..PIECES.len())].iter().copied())),
        7 => {
            let word = WORDS[random.random_range(0..WORDS.len())].to_le_bytes();
            let width = (1 << random.random_range(0..4)).min(bytes.len() - at);
            bytes[at..at + width].copy_from_slice(&word[..width]);
        }
        8 => {
            let from = random.random_range(0..=other.len());
            let to = random.random_range(from..=other.len());
            drop(bytes.splice(at..end, other[from..to].iter().copied()));
        }
        _ => replace_number(bytes, at, random),
    }
}

/// A small number most of the time, sometimes one of up to so many bits.
fn some(bits: u32, random: &mut ChaCha8Rng) -> usize {
    let most = 1usize << random.random_range(0..bits);
    random.random_range(1..=most)
}

/// The number in text after a place becomes another.
fn replace_number(bytes: &mut Vec<u8>, at: usize, random: &mut ChaCha8Rng) {
    let Some(start) = bytes[at..].iter().position(u8::is_ascii_digit).map(|start| at + start) else { return };
    let length = bytes[start..].iter().take_while(|b| b.is_ascii_digit()).count();
    let new = NUMBERS[random.random_range(0..NUMBERS.len())];
    drop(bytes.splice(start..start + length, new.bytes()));
}

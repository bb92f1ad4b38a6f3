//! A case by its number: which reader, and which bytes. The same number gives the same bytes on every machine.

use crate::fuzz::seeds::Seed;
use crate::mutate::mutate;
use rand::Rng;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::io::{Cursor, Read, Write};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

/// What one target is given.
pub struct Case {
    pub target: &'static str,
    pub data: Vec<u8>,
}

impl Case {
    pub fn new(number: u64, seeds: &[Seed]) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(number);
        let (seed, other) = (&seeds[random.random_range(0..seeds.len())], &seeds[random.random_range(0..seeds.len())]);
        if matches!(seed.target, "target" | "model") {
            return Self { target: seed.target, data: mutate(&seed.bytes, &other.bytes, &mut random) };
        }
        // The first two bytes choose options and are anything; the rest is a file.
        let (options, file) = ([random.random(), random.random()], &seed.bytes[2..]);
        let (target, file) = match seed.target {
            // Behind a checksum little is reached: half of the time what it covers is altered instead.
            "npz" if random.random() => ("npz", rezipped(file, &mut random)),
            "compressed" | "parquet" => (seed.target, mutate(file, &other.bytes, &mut random)),
            _ if random.random_ratio(1, 8) => ("compressed", compressed(file, &other.bytes, &mut random)),
            target => (target, mutate(file, &other.bytes, &mut random)),
        };
        Self { target, data: [&options[..], &file].concat() }
    }
}

/// An archive with altered members and right checksums; if it cannot be taken apart, as it is.
fn rezipped(file: &[u8], random: &mut ChaCha8Rng) -> Vec<u8> {
    let again = |random: &mut ChaCha8Rng| -> Result<Vec<u8>, Box<dyn std::error::Error>> {
        let mut archive = ZipArchive::new(Cursor::new(file))?;
        let mut out = ZipWriter::new(Cursor::new(Vec::new()));
        let altered = random.random_range(0..archive.len().max(1));
        for i in 0..archive.len() {
            let mut member = archive.by_index(i)?;
            let mut bytes = Vec::new();
            member.read_to_end(&mut bytes)?;
            if i == altered || random.random_ratio(1, 6) {
                bytes = mutate(&bytes, file, random);
            }
            let name = member.name()?.into_owned();
            out.start_file(name, SimpleFileOptions::default())?;
            out.write_all(&bytes)?;
        }
        Ok(out.finish()?.into_inner())
    };
    again(random).unwrap_or_else(|_| file.to_vec())
}

/// An altered file, compressed; a few swell by a thousand times.
fn compressed(file: &[u8], other: &[u8], random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = mutate(file, other, random);
    if random.random_ratio(1, 40) && !bytes.is_empty() {
        let piece = bytes[random.random_range(0..bytes.len())..].to_vec();
        let times = random.random_range(1..1 << 23) / piece.len() + 1;
        bytes.extend(piece.repeat(times));
    }
    let packed: std::io::Result<Vec<u8>> = match random.random_range(0..3) {
        0 => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(&bytes).and_then(|()| encoder.finish())
        }
        1 => {
            let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 0);
            encoder.write_all(&bytes).and_then(|()| encoder.finish())
        }
        _ => zstd::encode_all(&*bytes, 1),
    };
    packed.unwrap_or(bytes)
}

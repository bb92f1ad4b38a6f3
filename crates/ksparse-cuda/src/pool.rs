//! Memory of a device, asked for once: what is given back is used again before more is asked for.

use crate::device::Device;
use crate::fault::{Fault, Result};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Pieces begin at multiples of so many bytes.
const ALIGNED: u64 = 256;

/// What is asked for at least: small vectors share it.
const CHUNK: u64 = 64 << 20;

/// Free pieces by address, and the chunks they are parts of.
#[derive(Default)]
struct Free {
    pieces: BTreeMap<u64, u64>,
    chunks: BTreeMap<u64, u64>,
}

/// The memory that designs of one device share.
pub(crate) struct Pool {
    device: Arc<dyn Device>,
    free: Mutex<Free>,
}

/// A piece of device memory, given back when dropped.
pub(crate) struct Piece {
    pool: Arc<Pool>,
    at: u64,
    bytes: u64,
}

impl Piece {
    pub fn at(&self) -> u64 {
        self.at
    }
}

impl Pool {
    pub fn new(device: Arc<dyn Device>) -> Arc<Self> {
        Arc::new(Self { device, free: Mutex::new(Free::default()) })
    }

    fn free(&self) -> MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes asked of the device so far.
    pub fn taken(&self) -> u64 {
        self.free().chunks.values().sum()
    }

    /// A piece of so many bytes: the first free one that is large enough, else new memory.
    pub fn take(self: &Arc<Self>, bytes: u64, what: &'static str) -> Result<Piece> {
        let bytes = bytes.max(1).next_multiple_of(ALIGNED);
        let mut free = self.free();
        let found = free.pieces.iter().find(|(_, size)| **size >= bytes).map(|(at, size)| (*at, *size));
        let (at, size) = match found {
            Some(piece) => piece,
            None => {
                if bytes > CHUNK {
                    self.give_back(&mut free);
                }
                let (at, size) = self.ask(bytes, what)?;
                free.chunks.insert(at, size);
                (at, size)
            }
        };
        free.pieces.remove(&at);
        if size > bytes {
            free.pieces.insert(at + bytes, size - bytes);
        }
        drop(free);
        Ok(Piece { pool: Arc::clone(self), at, bytes })
    }

    /// Gives chunks back that nobody uses: what is asked for next would not fit into any of them.
    fn give_back(&self, free: &mut Free) {
        let Free { pieces, chunks } = free;
        chunks.retain(|at, size| {
            let used = pieces.get(at) != Some(size);
            if !used {
                pieces.remove(at);
                self.device.release(*at);
            }
            used
        });
    }

    /// A chunk, or where that is too much exactly what is needed.
    fn ask(&self, bytes: u64, what: &'static str) -> Result<(u64, u64)> {
        let chunk = bytes.max(CHUNK);
        let exactly = |_| self.device.allocate(bytes).map(|at| (at, bytes));
        self.device.allocate(chunk).map(|at| (at, chunk)).or_else(exactly).map_err(|fault| match fault {
            Fault::Memory { free, total, .. } => Fault::Memory { what, needed: bytes, free, total },
            fault => fault,
        })
    }
}

impl Drop for Piece {
    /// Back to the pool, joined with the free pieces beside it.
    fn drop(&mut self) {
        let mut free = self.pool.free();
        let (mut at, mut bytes) = (self.at, self.bytes);
        if !free.chunks.contains_key(&(at + bytes))
            && let Some(next) = free.pieces.remove(&(at + bytes))
        {
            bytes += next;
        }
        if !free.chunks.contains_key(&at)
            && let Some((&before, &size)) = free.pieces.range(..at).next_back()
            && before + size == at
        {
            free.pieces.remove(&before);
            (at, bytes) = (before, bytes + size);
        }
        free.pieces.insert(at, bytes);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.free().chunks.keys().for_each(|&at| self.device.release(at));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::stand_in::StandIn;

    #[test]
    fn memory_that_is_given_back_is_used_again() {
        let pool = Pool::new(Arc::new(StandIn::new(1 << 30)));
        let pieces: Vec<Piece> = (1..40).map(|i| pool.take(1000 * i, "a test").unwrap()).collect();
        let mut ranges: Vec<(u64, u64)> = pieces.iter().map(|p| (p.at, p.bytes)).collect();
        ranges.sort_unstable();
        assert!(ranges.windows(2).all(|w| w[0].0 + w[0].1 <= w[1].0), "{ranges:?}");
        drop(pieces);
        let free = pool.free().pieces.clone();
        assert_eq!(free.values().copied().collect::<Vec<_>>(), [CHUNK], "joined again");
        let large = pool.take(CHUNK, "a test").unwrap();
        assert_eq!(pool.taken(), CHUNK);
        drop(large);
        for _ in 0..50 {
            drop(pool.take(3 * CHUNK, "a test").unwrap());
        }
        // The first chunk was of no use for that.
        assert_eq!(pool.taken(), 3 * CHUNK);
        let held = pool.take(1000, "a test").unwrap();
        drop(pool.take(4 * CHUNK, "a test").unwrap());
        assert_eq!(pool.taken(), 7 * CHUNK, "what is in use stays");
        drop(held);
    }

    #[test]
    fn too_much_is_an_error_that_names_the_sizes() {
        let pool = Pool::new(Arc::new(StandIn::new(10_000_000)));
        let small = pool.take(4_000_000, "a design").unwrap();
        let refused = pool.take(7_000_000, "a design").err().unwrap().to_string();
        assert!(refused.contains("a design needs 7.0 MB on the device, where 6.0 MB of 10.0 MB are free"), "{refused}");
        drop(small);
    }
}

//! A file mapped into memory: the one place of this crate that needs `unsafe`.
#![allow(unsafe_code)]

use crate::error::{Error, Result};
use crate::table::MatrixRef;
use crate::words::{Setting, Words};
#[cfg(unix)]
use ksparse::design::Design;
use ksparse::design::{Dense, Sparse};
#[cfg(unix)]
use memmap2::Advice;
use memmap2::Mmap;
use std::fs::File;

/// Bytes asked for at once. Linux takes no more than its read-ahead, 128 kB unless set otherwise.
#[cfg(unix)]
const PIECE: usize = 128 << 10;

/// A matrix that lives in a mapped file. The system reads its pages on demand and may drop them again, so it may be
/// larger than memory. Do not shorten the file meanwhile: the system ends a program that reads beyond the end (SIGBUS),
/// and nothing can be done about it here. Our own writers rename a new file into place, which leaves the old one as it
/// was; where others may write, read with [`crate::ReadOptions::no_mmap`].
#[derive(Debug)]
pub struct Mapped {
    // Before the map: fields are dropped in this order.
    matrix: Borrowed,
    map: Mmap,
}

/// Borrows the map beside it; never handed out with this lifetime.
#[derive(Debug)]
pub(crate) enum Borrowed {
    Dense(Dense<'static, f64>),
    Sparse(Sparse<'static, f64>),
}

impl Mapped {
    /// The matrix, borrowed for as long as the map is.
    pub fn view(&self) -> MatrixRef<'_> {
        match &self.matrix {
            Borrowed::Dense(dense) => MatrixRef::Dense(dense),
            Borrowed::Sparse(sparse) => MatrixRef::Sparse(sparse),
        }
    }

    /// Has the system bring some columns from the disk, all for `None`, and does not wait for them: nothing of them is
    /// resident in this process until it is used. Columns apart from others are read without their neighbours from
    /// then on. A system that cannot be asked brings them when they are used.
    pub fn bring(&self, columns: Option<&[usize]>) {
        #[cfg(unix)]
        {
            let Some(columns) = columns else { return self.will_need(0, self.map.len()) };
            // By itself the system reads far around what is used, with many devices up to megabytes.
            let _ = self.map.advise(Advice::Random);
            let view = self.view();
            for &j in columns {
                match view {
                    MatrixRef::Dense(dense) if j < dense.ncols() => self.will_use(dense.column(j)),
                    MatrixRef::Sparse(sparse) if j < sparse.ncols() => {
                        let (rows, values) = sparse.column(j);
                        self.will_use(rows);
                        self.will_use(values);
                    }
                    _ => (),
                }
            }
        }
        #[cfg(not(unix))]
        let _ = columns;
    }

    #[cfg(unix)]
    fn will_use<T>(&self, part: &[T]) {
        let start = part.as_ptr().addr() - self.map.as_ptr().addr();
        self.will_need(start, start + size_of_val(part));
    }

    /// Piece by piece: of one long request a system may take the beginning only.
    #[cfg(unix)]
    fn will_need(&self, start: usize, end: usize) {
        for at in (start..end).step_by(PIECE) {
            let _ = self.map.advise_range(Advice::WillNeed, at, PIECE.min(end - at));
        }
    }

    /// Maps a file and lets `build` make a matrix, and whatever else it likes to copy, out of its bytes.
    pub(crate) fn open<T>(
        name: &str,
        file: &File,
        build: impl FnOnce(&'static [u8]) -> Result<(Borrowed, T)>,
    ) -> Result<(Self, T)> {
        // SAFETY: the map is read-only and private to this process. Someone else writing to the file meanwhile could
        // change the bytes under us: values may then be wrong, but every index is checked again by the slices it is
        // used on. We ourselves never write in place, but beside and rename.
        let map = unsafe { Mmap::map(file) }.map_err(|source| {
            let remedy = Words::from("read it instead: ") + Setting::NoMmap;
            Error::input(name, format!("cannot map into memory: {source}"), remedy)
        })?;
        // SAFETY: the bytes stay where they are until `map` is dropped, which is after `matrix`. `build` cannot keep
        // them elsewhere in this crate: `T` is made of owned parts (see `ksb.rs`), and `view` shortens the lifetime.
        let bytes: &'static [u8] = unsafe { std::slice::from_raw_parts(map.as_ptr(), map.len()) };
        let (matrix, rest) = build(bytes)?;
        Ok((Self { matrix, map }, rest))
    }
}

//! R's matrices as designs, read where they lie.
//!
//! | comes in as | becomes | copied |
//! |---|---|---|
//! | a numeric matrix | `Dense` | nothing |
//! | a list of `p`, `i`, `x` and `dim` of a `dgCMatrix` | `Sparse` | the pointers, one per column |

use crate::args::Args;
use ksparse::design::{Dense, Design, Sparse};
use savvy::{IntegerSexp, RealSexp, Result, savvy_err};

/// A matrix that R owns, held for reading.
pub enum Matrix {
    Full { shape: (usize, usize), values: RealSexp },
    Compressed { shape: (usize, usize), pointers: Vec<u64>, rows: IntegerSexp, values: RealSexp },
}

impl Matrix {
    pub fn named(args: &Args, name: &str) -> Result<Self> {
        if !args.is_list(name) {
            let values = args.reals(name)?;
            let shape = match values.get_dim() {
                Some(&[rows, columns]) => (size(rows), size(columns)),
                _ => return Err(savvy_err!("`{name}` must be a matrix")),
            };
            return Ok(Self::Full { shape, values });
        }
        let Some(parts) = args.maybe_list(name)? else { return Err(savvy_err!("`{name}` is missing")) };
        let parts = Args::new(parts);
        let shape = match parts.integers("dim")?.as_slice() {
            &[rows, columns] => (size(rows), size(columns)),
            _ => return Err(savvy_err!("`{name}` must have two dimensions")),
        };
        let pointers = parts.integers("p")?.as_slice().iter().map(|&at| size(at) as u64).collect();
        Ok(Self::Compressed { shape, pointers, rows: parts.integers("i")?, values: parts.reals("x")? })
    }

    /// The same without R: may be used on other threads while R's own waits.
    pub fn view(&self) -> View<'_> {
        match self {
            Self::Full { shape, values } => View::Full { shape: *shape, values: values.as_slice() },
            // Row numbers are not negative, or the design refuses them as too large.
            Self::Compressed { shape, pointers, rows, values } => View::Compressed {
                shape: *shape,
                pointers,
                rows: bytemuck::cast_slice(rows.as_slice()),
                values: values.as_slice(),
            },
        }
    }
}

fn size(number: i32) -> usize {
    usize::try_from(number).unwrap_or(0)
}

/// A [`Matrix`] as slices.
pub enum View<'a> {
    Full { shape: (usize, usize), values: &'a [f64] },
    Compressed { shape: (usize, usize), pointers: &'a [u64], rows: &'a [u32], values: &'a [f64] },
}

impl<'a> View<'a> {
    pub fn design(&self) -> ksparse::Result<Box<dyn Design + 'a>> {
        Ok(match *self {
            Self::Full { shape: (n, p), values } => Box::new(Dense::from_columns(n, p, values)?),
            Self::Compressed { shape: (n, p), pointers, rows, values } => {
                Box::new(Sparse::from_columns(n, p, pointers, rows, values)?)
            }
        })
    }
}

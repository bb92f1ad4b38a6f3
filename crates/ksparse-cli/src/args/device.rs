//! `--device`: where the matrix lies while a model is searched for.

use crate::failure::{Failure, Result};
use ksparse::design::Design;
use ksparse_cuda::{CudaDense, CudaSparse, Fault, Session};
use ksparse_io::{MatrixRef, Table};

/// Where products with the matrix are computed.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Search")]
pub struct DeviceArgs {
    /// Where products with the data are computed: cpu, cuda (an NVIDIA device, to which the matrix is copied) or cuda:N
    /// for the N-th, counted from 0. A device pays from some 10 million entries on
    #[arg(long, value_name = "cpu|cuda|cuda:N", default_value = "cpu", hide_default_value = true,
          value_parser = place)]
    pub device: Place,
}

/// The processor, or a device by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Processor,
    Cuda(usize),
}

fn place(word: &str) -> std::result::Result<Place, String> {
    match word.split_once(':') {
        None if word == "cpu" => Ok(Place::Processor),
        None if word == "cuda" => Ok(Place::Cuda(0)),
        Some(("cuda", number)) => number.parse().map(Place::Cuda).map_err(|_| format!("`{number}` is no number")),
        _ => Err("the choices are cpu, cuda and cuda:N".to_string()),
    }
}

impl DeviceArgs {
    /// The matrix of a table on the device asked for; `None` where it stays where it is.
    pub fn bring(&self, table: &Table) -> Result<Option<Box<dyn Design>>> {
        let Place::Cuda(number) = self.device else { return Ok(None) };
        let copy = || -> std::result::Result<Box<dyn Design>, Fault> {
            let session = Session::new(ksparse_cuda::open(number)?);
            Ok(match table.matrix.view() {
                MatrixRef::Dense(x) => Box::new(CudaDense::from_columns(&session, x.nrows(), x.ncols(), x.values())?),
                MatrixRef::Sparse(x) => Box::new(CudaSparse::new(&session, x)?),
            })
        };
        copy().map(Some).map_err(|fault| Failure::Work(format!("--device: {fault}")))
    }
}

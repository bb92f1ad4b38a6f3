//! What is needed next, brought from the disk while something else is computed.

use ksparse_io::{MatrixRef, Table};
use std::io::Read;
use std::path::Path;

/// Reads at once: a disk is idle between the pages that one thread asks for. (0.6 GB on a virtual disk of 1.2 GB/s, all
/// rounds of a fit: 24 % of the speed of a plain read with one, 35 % with these.)
const READERS: usize = 8;

/// Numbers of a page.
const PAGE: usize = 512;

/// Brings a file into the memory of the system; what cannot be read now is an error when it is needed.
pub fn fetch(path: &Path) {
    let Ok(mut file) = std::fs::File::open(path) else { return };
    let mut buffer = vec![0; 1 << 18];
    while file.read(&mut buffer).is_ok_and(|read| read > 0) {}
}

/// Brings some columns of a mapped table there.
pub fn touch(table: &Table, columns: &[usize]) {
    let matrix = table.matrix.view();
    std::thread::scope(|scope| {
        for part in columns.chunks(columns.len().div_ceil(READERS).max(1)) {
            scope.spawn(move || part.iter().filter(|j| **j < table.ncols()).for_each(|&j| touch_column(matrix, j)));
        }
    });
}

fn touch_column(matrix: MatrixRef, j: usize) {
    let look = |values: &[f64]| {
        values.iter().step_by(PAGE).for_each(|value| {
            std::hint::black_box(*value);
        });
    };
    match matrix {
        MatrixRef::Dense(dense) => look(dense.column(j)),
        MatrixRef::Sparse(sparse) => {
            let (rows, values) = sparse.column(j);
            rows.iter().step_by(2 * PAGE).for_each(|row| {
                std::hint::black_box(*row);
            });
            look(values);
        }
    }
}

//! How a task becomes a kernel: its name in `kernels/design.cu`, its grid, its arguments.

use crate::device::{BLOCK, Entries, Factor, Measure, Task, Which};

/// A kernel to be started. All arguments have 64 bits.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Launch {
    pub kernel: String,
    pub grid: (u64, u64),
    pub threads: u32,
    pub arguments: Vec<u64>,
}

/// The most blocks in the second direction.
const DEEP: u64 = 65_535;

fn of(single: bool) -> &'static str {
    if single { "f32" } else { "f64" }
}

fn word(measure: Measure) -> (&'static str, u64) {
    match measure {
        Measure::Dot => ("dot", 0),
        Measure::Square => ("square", 0),
        Measure::Deviation(centres) => ("deviation", centres),
        Measure::Weight => ("weight", 0),
    }
}

fn factor(factor: Factor) -> (u64, u64) {
    match factor {
        Factor::One => (0, 0),
        Factor::Weights(at) => (at, 1),
        Factor::Roots(at) => (at, 2),
    }
}

fn list(which: Which) -> u64 {
    which.list.unwrap_or(0)
}

/// A thread for each of so many things.
fn each(count: u64, threads: u32) -> (u64, u64) {
    (count.div_ceil(u64::from(threads)), 1)
}

/// The kernel of a task; `None` for products, which are cuBLAS's.
pub(crate) fn launch(task: &Task) -> Option<Launch> {
    let made = |kernel: String, grid: (u64, u64), threads: u32, arguments: &[u64]| {
        Some(Launch { kernel, grid, threads, arguments: arguments.to_vec() })
    };
    match *task {
        Task::Reduce { x, rows, which, vector, measure, segment, out } => {
            let ((word, centres), segments) = (word(measure), rows.div_ceil(segment));
            let (shape, stride, across) = match x.by_columns() {
                true => ("long", x.column_stride, which.count.div_ceil(8)),
                false => ("wide", x.row_stride, which.count.div_ceil(256)),
            };
            let arguments = [x.at, stride, rows, list(which), which.count, vector, centres, segment, out];
            made(format!("reduce_{shape}_{word}_{}", of(x.single)), (across, segments), 256, &arguments)
        }
        Task::AddUp { parts, segments, count, out } => {
            made("add_up".into(), each(count, 256), 256, &[parts, segments, count, out])
        }
        Task::Combine { x, rows, which, factors, out } => {
            let Entries { at, row_stride, column_stride, .. } = x;
            let arguments = [at, row_stride, column_stride, rows, list(which), which.count, factors, out];
            made(format!("combine_{}", of(x.single)), each(rows, 128), 128, &arguments)
        }
        Task::Gather { x, rows, which, factor: how, out } => {
            let (Entries { at, row_stride, column_stride, .. }, (weights, how)) = (x, factor(how));
            let arguments = [at, row_stride, column_stride, rows, list(which), which.count, weights, how, out];
            let grid = (rows.div_ceil(256), which.count.min(DEEP));
            made(format!("gather_{}", of(x.single)), grid, 256, &arguments)
        }
        Task::DotRows { x, columns, list, count, w, out } => {
            let arguments = [x.at, x.row_stride, x.column_stride, columns, list, w, out];
            made(format!("dot_rows_{}", of(x.single)), (count, 1), 256, &arguments)
        }
        Task::AddRows { x, columns, list, count, factors, out } => {
            let arguments = [x.at, x.row_stride, x.column_stride, columns, list, count, factors, out];
            made(format!("add_rows_{}", of(x.single)), each(columns, 256), 256, &arguments)
        }
        Task::SparseReduce { x, items, count, vector, measure, out } => {
            let (word, centres) = word(measure);
            let arguments = [x.indices, x.values, items, count, vector, centres, out];
            made(format!("sparse_{word}_{}", of(x.single)), each(32 * count, 256), 256, &arguments)
        }
        Task::Misplaced { x, rows, items, count, out } => {
            let arguments = [x.pointers, x.indices, items, count, rows, out];
            made("misplaced".into(), each(32 * count, 256), 256, &arguments)
        }
        Task::AddUpItems { parts, first, count, out } => {
            made("add_up_items".into(), each(count, 256), 256, &[parts, first, count, out])
        }
        Task::Bounds { x, list, count, blocks, out } => {
            let arguments = [x.pointers, x.indices, list, count, BLOCK, blocks, out];
            made("bounds".into(), each(count * (blocks + 1), 256), 256, &arguments)
        }
        Task::SparseCombine { x, rows, list, count, bounds, blocks, factors, out } => {
            let arguments = [x.pointers, x.indices, x.values, list, count, bounds, blocks, factors, rows, out];
            made(format!("sparse_combine_{}", of(x.single)), (blocks, 1), 32, &arguments)
        }
        Task::Densify { x, list, count, low, height, factor: how, out } => {
            let (weights, how) = factor(how);
            let arguments = [x.pointers, x.indices, x.values, list, low, height, weights, how, out];
            made(format!("densify_{}", of(x.single)), (count, 1), 256, &arguments)
        }
        Task::Multiply { a, b, shift, count, out } => {
            made("multiply".into(), each(count, 256), 256, &[a, b, shift.to_bits(), count, out])
        }
        Task::Product { .. } => None,
    }
}

/// Every kernel there is.
pub(crate) fn kernels() -> Vec<String> {
    let mut names: Vec<String> =
        ["add_up", "add_up_items", "bounds", "misplaced", "multiply"].map(String::from).to_vec();
    for entry in ["f32", "f64"] {
        for word in ["dot", "square", "deviation"] {
            names.extend(["long", "wide"].map(|shape| format!("reduce_{shape}_{word}_{entry}")));
            names.push(format!("sparse_{word}_{entry}"));
        }
        let others = ["combine", "gather", "dot_rows", "add_rows", "sparse_weight", "sparse_combine", "densify"];
        names.extend(others.map(|name| format!("{name}_{entry}")));
    }
    names
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::driver::KERNELS;

    /// The text that is loaded has every kernel, with as many parameters as it is given arguments.
    #[test]
    fn every_kernel_is_in_the_text() {
        let parameters = |name: &str| {
            let head = KERNELS.split(&format!(".entry {name}(")).nth(1);
            head.unwrap_or_else(|| panic!("no {name}")).split(')').next().unwrap().matches(".param .u64").count()
        };
        kernels().iter().for_each(|name| assert!(parameters(name) > 0, "{name}"));
        assert_eq!(KERNELS.matches(".entry ").count(), kernels().len());
        let x = Entries::columns(1, 2);
        let (which, measure) = (Which { list: None, count: 5 }, Measure::Square);
        let compressed = crate::device::Compressed { pointers: 1, indices: 2, values: 3, single: true };
        for task in [
            Task::Reduce { x, rows: 9, which, vector: 7, measure, segment: 4, out: 8 },
            Task::AddUp { parts: 1, segments: 2, count: 3, out: 4 },
            Task::Combine { x, rows: 9, which, factors: 7, out: 8 },
            Task::Gather { x, rows: 9, which, factor: Factor::Roots(6), out: 8 },
            Task::DotRows { x, columns: 1, list: 2, count: 3, w: 4, out: 5 },
            Task::AddRows { x, columns: 1, list: 2, count: 3, factors: 4, out: 5 },
            Task::SparseReduce { x: compressed, items: 1, count: 2, vector: 3, measure, out: 4 },
            Task::Misplaced { x: compressed, rows: 1, items: 2, count: 3, out: 4 },
            Task::AddUpItems { parts: 1, first: 2, count: 3, out: 4 },
            Task::Bounds { x: compressed, list: 1, count: 2, blocks: 3, out: 4 },
            Task::SparseCombine { x: compressed, rows: 1, list: 2, count: 3, bounds: 4, blocks: 5, factors: 6, out: 7 },
            Task::Densify { x: compressed, list: 1, count: 2, low: 3, height: 4, factor: Factor::One, out: 5 },
            Task::Multiply { a: 1, b: 2, shift: 0.5, count: 3, out: 4 },
        ] {
            let launch = launch(&task).unwrap();
            assert_eq!(parameters(&launch.kernel), launch.arguments.len(), "{}", launch.kernel);
            assert!(launch.grid.0 > 0 && launch.grid.1 > 0, "{launch:?}");
        }
    }
}

//! Designs on a device are the matrices they stand for, by the contracts of every design; on the stand-in everywhere,
//! and on a device where there is one.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

#[path = "../../ksparse/tests/common/mod.rs"]
mod common;
#[path = "../../ksparse/tests/design_contracts/contract.rs"]
mod contract;

use common::{Problem, Table, normals, rng, smooth_losses};
use contract::{check, check_change, cross};
use ksparse::design::{Design, Rows, Scaled, WithIntercept};
use ksparse::loss::{Loss, Squared};
use ksparse::solver::Effort;
use ksparse::{Auto, MatrixMut, Solver, Sparsity};
use ksparse_cuda::device::Device;
use ksparse_cuda::stand_in::StandIn;
use ksparse_cuda::{CudaDense, CudaSparse, Fault, Layout, Session, SparseLayout};
use std::sync::Arc;

fn stand_in() -> Arc<StandIn> {
    Arc::new(StandIn::new(1 << 30))
}

/// The stand-in, and the device where there is one.
fn devices() -> Vec<Arc<dyn Device>> {
    let mut devices: Vec<Arc<dyn Device>> = vec![stand_in()];
    match ksparse_cuda::open(0) {
        Ok(device) => devices.push(device),
        Err(none) => eprintln!("on the stand-in alone: {none}"),
    }
    devices
}

/// Every storage of a table there is on a device.
fn storages(device: &Arc<dyn Device>, x: &Table) -> Vec<(&'static str, Box<dyn Design>)> {
    let session = || Session::new(Arc::clone(device));
    let single = |values: &[f64]| values.iter().map(|&v| v as f32).collect::<Vec<f32>>();
    let turned: Vec<f64> = (0..x.n * x.p).map(|e| x.at(e % x.n, e / x.n)).collect();
    let (n, p) = (x.n, x.p);
    vec![
        ("columns", Box::new(CudaDense::from_columns(&session(), n, p, &turned).unwrap())),
        ("columns f32", Box::new(CudaDense::from_columns(&session(), n, p, &single(&turned)).unwrap())),
        ("rows", Box::new(CudaDense::from_rows(&session(), n, p, &x.entries).unwrap())),
        ("rows f32", Box::new(CudaDense::from_rows(&session(), n, p, &single(&x.entries)).unwrap())),
        ("sparse", Box::new(CudaSparse::new(&session(), &x.csc()).unwrap())),
        ("sparse f32", Box::new(CudaSparse::new(&session(), &x.csc32()).unwrap())),
    ]
}

/// With an empty row and an empty column.
fn table(n: usize, p: usize) -> Table {
    let x = Table::sparse(&mut rng(3), n, p, 0.6).rounded();
    x.map(|i, j, v| if i == 2 || j == p / 2 { 0.0 } else { v })
}

#[test]
fn every_storage_is_its_matrix() {
    for device in devices() {
        for (n, p) in [(1, 1), (3, 2), (7, 5), (8, 9), (37, 23), (64, 130), (300, 20)] {
            let x = table(n, p);
            for (name, design) in storages(&device, &x) {
                check(&format!("{name} {n}x{p} on {}", device.name()), &*design, &x, 1e-12);
            }
        }
    }
}

/// Sums that are split, and products: what small matrices do not reach.
#[test]
fn long_columns_are_their_matrix() {
    for device in devices() {
        let x = table(5000, 12);
        for (name, design) in storages(&device, &x) {
            let what = format!("{name} on {}", device.name());
            let (weights, all): (Vec<f64>, Vec<usize>) = (vec![1.0 / 5000.0; 5000], (0..12).collect());
            let mut squares = vec![f64::NAN; 12];
            design.squares(&weights, &mut squares);
            let gram = cross(&*design, &all, &all, &weights);
            for j in 0..12 {
                let expected = contract::weighted_product(&x, &weights, j, j);
                assert!((squares[j] - expected).abs() < 1e-13, "{what}: {} against {expected}", squares[j]);
                assert!((gram[13 * j] - expected).abs() < 1e-13, "{what}: {} against {expected}", gram[13 * j]);
            }
        }
    }
}

#[test]
fn columns_change_into_those_of_another_support() {
    for device in devices() {
        let x = Table::sparse(&mut rng(20), 700, 60, 0.2).rounded();
        for (name, design) in storages(&device, &x) {
            check_change(name, &*design, &x);
        }
    }
}

#[test]
fn wrappers_hold_on_a_device() {
    for device in devices() {
        let x = table(19, 11);
        for (name, design) in storages(&device, &x) {
            let rows: Vec<usize> = (0..15).map(|i| i * 7 % 19).collect();
            let part = Rows::new(design, rows.clone()).unwrap();
            let (centre, scale) = (normals(&mut rng(5), 11), vec![2.0; 11]);
            let view = x.rows(&rows).map(|_, j, v| (v - centre[j]) / 2.0).with_ones();
            let whole = WithIntercept::new(Scaled::new(part, centre, scale).unwrap());
            assert!(whole.traffic().unwrap().launches > 0);
            check(&format!("wrapped {name}"), &whole, &view, 1e-12);
        }
    }
}

/// All that a search does, by every loss: the same support as in memory, and the same f to nine digits.
#[test]
fn fits_are_those_in_memory() {
    for device in devices() {
        for loss in smooth_losses() {
            let rng = &mut rng(30);
            let problem = Problem::new(Table::gaussian(rng, 80, 30, 0.5).rounded(), loss, 5, 3.0, rng);
            let problem = problem.ridge(1e-3).intercept();
            let auto = Auto { effort: Effort::QUICK, ..Auto::default() };
            let memory = auto.fit(&problem.risk(), &Sparsity::new(5)).unwrap();
            for (name, design) in storages(&device, &problem.x) {
                let found = auto.fit(&problem.risk_on(design), &Sparsity::new(5)).unwrap();
                let what = format!("{} {name} on {}", problem.loss.name(), device.name());
                assert_eq!(found.support, memory.support, "{what}");
                assert!((found.value - memory.value).abs() <= 1e-9 * memory.value, "{what}");
                let traffic = found.trace.last().unwrap().traffic.unwrap();
                assert!(traffic.launches > 10 && traffic.uploaded > 0 && traffic.downloads > 0, "{what}: {traffic:?}");
            }
        }
    }
}

#[test]
fn the_same_call_gives_the_same_bits() {
    for device in devices() {
        let x = Table::gaussian(&mut rng(9), 3001, 41, 0.2).rounded();
        let bits = || {
            let mut all = Vec::new();
            for (_, design) in storages(&device, &x) {
                let (mut out, r) = (vec![0.0; 41], normals(&mut rng(1), 3001));
                design.tmul(&r, &mut out);
                let weights: Vec<f64> = r.iter().map(|r| r * r).collect();
                let chosen: Vec<usize> = (0..17).collect();
                let mut gram = vec![0.0; 17 * 17];
                design.gather(&chosen).gram(&weights, MatrixMut::from_columns(17, 17, &mut gram));
                all.extend(out.into_iter().chain(gram).map(f64::to_bits));
            }
            all
        };
        assert_eq!(bits(), bits(), "{}", device.name());
    }
}

/// A device that is lost at any moment ends a fit with its cause, never with a model.
#[test]
fn a_lost_device_is_an_error_and_never_a_model() {
    let rng = &mut rng(31);
    let loss: Box<dyn Loss> = Box::new(Squared::default());
    let problem = Problem::new(Table::gaussian(rng, 40, 12, 0.3), loss, 3, 3.0, rng).intercept();
    let mut failed = 0;
    for after in [0, 1, 2, 3, 5, 8, 13, 21, 34, 55] {
        let device = stand_in();
        let design = CudaDense::from_rows(&Session::new(device.clone()), 40, 12, &problem.x.entries).unwrap();
        device.fail_after(after);
        let auto = Auto { effort: Effort::QUICK, ..Auto::default() };
        match auto.fit(&problem.risk_on(design), &Sparsity::new(3)) {
            Ok(_) => assert!(failed > 0, "{after} tasks are too few for a fit"),
            Err(error) => {
                failed += 1;
                assert!(error.to_string().contains("lost on purpose"), "after {after}: {error}");
            }
        }
    }
    assert!(failed >= 5, "{failed}");
}

#[test]
fn a_design_that_does_not_fit_names_the_sizes() {
    let session = Session::new(Arc::new(StandIn::new(2_000_000)));
    let refused = CudaDense::from_columns(&session, 1000, 500, &vec![0.5f64; 500_000]).err().unwrap();
    let message = refused.to_string();
    assert!(message.starts_with("the design needs 4.0 MB on the device, where 2.0 MB of 2.0 MB are free"), "{message}");
    // The device is well, and takes a smaller one.
    let small = CudaDense::from_columns(&session, 1000, 50, &vec![0.5f64; 50_000]).unwrap();
    assert!(small.health().is_ok());
}

#[test]
fn memory_of_others_is_used_as_it_lies_and_checked() {
    for device in devices() {
        let x = table(9, 4);
        let at = device.allocate(8 * 36).unwrap();
        device.upload(&x.entries.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>(), at).unwrap();
        let session = Session::new(device.clone());
        let layout = Layout { rows: 9, columns: 4, single: false, strides: (4, 1) };
        let design = CudaDense::foreign(&session, at, layout, Box::new(())).unwrap();
        check("foreign", &design, &x, 1e-12);
        // Every other column.
        let part = Layout { columns: 2, strides: (4, 2), ..layout };
        assert!(CudaDense::foreign(&session, at, part, Box::new(())).is_err());
        assert!(matches!(CudaDense::foreign(&session, 8, layout, Box::new(())), Err(Fault::Foreign(_))));

        let (pointers, indices): (Vec<u64>, Vec<u32>) = (vec![0, 2, 3], vec![0, 2, 1]);
        let rows = device.allocate(64).unwrap();
        device.upload(&indices.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>(), rows).unwrap();
        let layout = SparseLayout { rows: 3, pointers, indices: rows, values: at, single: false };
        let design = CudaSparse::foreign(&session, layout.clone(), Box::new(())).unwrap();
        let value = |e: usize| x.entries[e];
        let view = Table::from_fn(3, 2, |i, j| match (i, j) {
            (0, 0) => value(0),
            (2, 0) => value(1),
            (1, 1) => value(2),
            _ => 0.0,
        });
        check("foreign sparse", &design, &view, 1e-12);
        for bad in [vec![0, 3, 3], vec![0, 2, 9]] {
            let bad = SparseLayout { pointers: bad, ..layout.clone() };
            assert!(matches!(CudaSparse::foreign(&session, bad, Box::new(())), Err(Fault::Foreign(_))));
        }
        [at, rows].iter().for_each(|&at| device.release(at));
    }
}

/// Long columns are looked at in pieces: the first entry of one against the last of the piece before it.
#[test]
fn rows_of_others_are_checked_from_piece_to_piece() {
    for device in devices() {
        let session = Session::new(device.clone());
        let (indices, values) = (device.allocate(4 * 1503).unwrap(), device.allocate(8 * 1503).unwrap());
        device.upload(&vec![0; 8 * 1503], values).unwrap();
        let pointers = vec![0, 3, 1503, 1503];
        let layout = SparseLayout { rows: 1500, pointers, indices, values, single: false };
        let refused = |change: &dyn Fn(&mut Vec<u32>)| {
            let mut list: Vec<u32> = (0..3).chain(0..1500).collect();
            change(&mut list);
            device.upload(&list.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>(), indices).unwrap();
            CudaSparse::foreign(&session, layout.clone(), Box::new(())).err().map(|fault| fault.to_string())
        };
        assert_eq!(refused(&|_| ()), None);
        for (place, row) in [(3 + 1024, 1023), (3 + 1023, 1024), (1502, 1500), (1502, u32::MAX), (600, 0)] {
            let message = refused(&|list| list[place] = row).unwrap_or_default();
            assert!(message.contains("column 1 of the sparse matrix"), "{place}: {message}");
        }
        assert!(refused(&|list| list[2] = 1).unwrap_or_default().contains("column 0 of the sparse matrix"));
        [indices, values].iter().for_each(|&at| device.release(at));
    }
}

#[test]
fn without_a_device_the_answer_says_so() {
    if let Err(none) = ksparse_cuda::open(99) {
        assert!(none.to_string().starts_with("there is no CUDA device: "), "{none}");
    }
}

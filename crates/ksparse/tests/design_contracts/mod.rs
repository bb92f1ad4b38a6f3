//! Every design is the matrix it stands for: all products, all storages, all wrappers and their compositions, against
//! loops over an explicit table; and the same bits whatever the number of threads.
mod contract;
mod storage;

use crate::common::{Table, normal, normals, rng};
use contract::{check, check_change, cross};
use ksparse::design::{Dense, Design, Rows, Scaled, Sparse, WithIntercept};
use ksparse::{Error, MatrixMut, Threads};
use rand::Rng;

type Case = (String, Box<dyn Design>, Table);

/// Columns that let some of theirs go and take up others are those of the new support, time after time.
#[test]
fn columns_change_into_those_of_another_support() {
    // Several blocks of rows, the last not full.
    let x = Table::sparse(&mut rng(20), 5000, 60, 0.2);
    check_change("dense", &x.dense(), &x);
    check_change("sparse", &x.csc(), &x);
}

/// A matrix of f32 numbers with an empty row and an empty column.
fn table(n: usize, p: usize) -> Table {
    let x = Table::sparse(&mut rng(3), n, p, 0.6).rounded();
    x.map(|i, j, v| if i == 2 || j == p / 2 { 0.0 } else { v })
}

fn intercept((name, design, x): Case) -> Case {
    (format!("intercept of {name}"), Box::new(WithIntercept::new(design)), x.with_ones())
}

/// Rows in a mixed order, some repeated, some left out.
fn rows((name, design, x): Case) -> Case {
    let rng = &mut rng(4);
    let which: Vec<usize> = (0..x.n + 3).map(|_| rng.random_range(0..x.n)).collect();
    let view = x.rows(&which);
    (format!("rows of {name}"), Box::new(Rows::new(design, which).unwrap()), view)
}

fn scaled((name, design, x): Case) -> Case {
    let rng = &mut rng(5);
    let centre = normals(rng, x.p);
    let scale: Vec<f64> = (0..x.p).map(|_| 0.1 + normal(rng).abs()).collect();
    let view = x.map(|_, j, v| (v - centre[j]) / scale[j]);
    (format!("scaled {name}"), Box::new(Scaled::new(design, centre, scale).unwrap()), view)
}

#[test]
fn every_storage_is_its_matrix() {
    for (n, p) in [(1, 1), (3, 2), (7, 5), (8, 9), (37, 23), (64, 130)] {
        let x = table(n, p);
        for (name, design) in x.every_storage() {
            check(&format!("{name} {n}x{p}"), &*design, &x, 1e-13);
        }
    }
}

#[test]
fn every_wrapper_is_its_matrix() {
    type Wrap = fn(Case) -> Case;
    let wraps: [Wrap; 3] = [intercept, rows, scaled];
    let x = table(19, 11);
    for storage in 0..4 {
        let base = || {
            let (name, design) = x.every_storage().swap_remove(storage);
            (name.to_string(), design, x.clone())
        };
        let run = |(name, design, x): Case| check(&name, &*design, &x, 1e-12);
        for a in wraps {
            run(a(base()));
            for b in wraps {
                run(b(a(base())));
                for c in wraps {
                    run(c(b(a(base()))));
                }
            }
        }
    }
}

/// Empty columns left out: the others are as they were, also behind a wrapper that keeps the empty ones empty.
#[test]
fn the_occupied_columns_are_their_own_matrix() {
    let (n, p, filled) = (6, 70_000, [0, 3, 4, 50_000, 69_999]);
    let x = Table::from_fn(n, p, |i, j| if filled.contains(&j) { (1 + (i * 7 + j) % 5) as f64 } else { 0.0 });
    let of = |columns: &[usize], scale: f64| {
        Table::from_fn(n, columns.len(), |i, c| if columns[c] < p { x.at(i, columns[c]) / scale } else { 1.0 })
    };
    let scaled = Scaled::new(x.csc(), vec![0.0; p], vec![2.0; p]).unwrap();
    let with_ones: Vec<usize> = filled.iter().copied().chain([p]).collect();
    for (name, design, columns, scale) in [
        ("sparse", &x.csc() as &dyn Design, &filled[..], 1.0),
        ("with intercept", &WithIntercept::new(x.csc()), &with_ones, 1.0),
        ("scaled", &scaled, &filled, 2.0),
        ("boxed", &(Box::new(x.csc()) as Box<dyn Design>), &filled, 1.0),
    ] {
        let part = design.occupied().unwrap();
        assert_eq!(part.columns, columns, "{name}");
        check(name, &*part.design, &of(columns, scale), 1e-14);
    }
    // Centred, an empty column is full; and few empty columns are not worth the trouble.
    assert!(Scaled::new(x.csc(), vec![0.5; p], vec![1.0; p]).unwrap().occupied().is_none());
    assert!(table(5, 9).csc().occupied().is_none());
}

#[test]
fn single_precision_is_close_to_double() {
    let x = Table::sparse(&mut rng(6), 40, 15, 0.5);
    check("dense f32, rounded", &x.dense32(), &x, 3e-7);
    check("sparse f32, rounded", &x.csc32(), &x, 3e-7);
}

/// All numbers a design's passes produce.
fn passes(design: &dyn Design) -> Vec<u64> {
    let (n, p) = (design.nrows(), design.ncols());
    let r: Vec<f64> = (0..n).map(|i| (i as f64 * 0.37).sin()).collect();
    let weights: Vec<f64> = r.iter().map(|v| v * v).collect();
    let chosen: Vec<usize> = (0..p).step_by(p / 60).collect();
    let all: Vec<usize> = (0..p).collect();
    let mut out = vec![0.0; 2 * p];
    design.tmul(&r, &mut out[..p]);
    design.squares(&weights, &mut out[p..]);
    out.extend(cross(design, &chosen, &all, &weights));
    let (k, mut gram) = (chosen.len(), vec![0.0; chosen.len() * chosen.len()]);
    design.gather(&chosen).gram(&weights, MatrixMut::from_columns(k, k, &mut gram));
    out.extend(gram);
    out.into_iter().map(f64::to_bits).collect()
}

#[test]
fn the_bits_do_not_depend_on_the_threads() {
    // More than 200,000 entries: below that nothing is split.
    let x = Table::gaussian(&mut rng(9), 401, 1203, 0.2).rounded();
    let thin = Table::sparse(&mut rng(10), 1201, 2003, 0.12).rounded();
    let mut designs: Vec<(String, Box<dyn Design>)> = vec![
        ("dense".into(), Box::new(x.dense())),
        ("dense f32".into(), Box::new(x.dense32())),
        ("sparse".into(), Box::new(thin.csc())),
        ("sparse f32".into(), Box::new(thin.csc32())),
    ];
    for wrap in [scaled, rows, intercept] {
        let (name, design, _) = wrap(("dense".into(), Box::new(x.dense()), x.clone()));
        designs.push((name, design));
        let (name, design, _) = wrap(("sparse".into(), Box::new(thin.csc()), thin.clone()));
        designs.push((name, design));
    }
    assert!(thin.csc().nnz() > 200_000);
    for (name, design) in designs {
        let alone = Threads::new(1).unwrap().run(|| passes(&*design));
        for count in [2, 8] {
            let together = Threads::new(count).unwrap().run(|| passes(&*design));
            assert!(alone == together, "{name}: {count} threads");
        }
    }
}

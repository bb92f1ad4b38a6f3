//! What every design must do: all its products, against loops over an explicit table. Designs of other crates are held
//! to it too.

use crate::common::{Table, assert_close, normals, rng, shuffled};
use ksparse::design::Design;
use ksparse::{MatrixMut, SparseRef};
use rand::Rng;

/// Sums over the rows of `weights * X[:, a] * X[:, b]`.
pub fn weighted_product(x: &Table, weights: &[f64], a: usize, b: usize) -> f64 {
    (0..x.n).map(|i| weights[i] * x.at(i, a) * x.at(i, b)).sum()
}

pub fn dot_column(x: &Table, r: &[f64], j: usize) -> f64 {
    (0..x.n).map(|i| x.at(i, j) * r[i]).sum()
}

pub fn product(x: &Table, indices: &[usize], values: &[f64]) -> Vec<f64> {
    (0..x.n).map(|i| indices.iter().zip(values).map(|(&j, v)| x.at(i, j) * v).sum()).collect()
}

/// Every method of the design against the table.
pub fn check(name: &str, design: &dyn Design, x: &Table, tolerance: f64) {
    let rng = &mut rng(11);
    let (n, p) = (x.n, x.p);
    assert_eq!((design.nrows(), design.ncols()), (n, p), "{name}");
    let r = normals(rng, n);
    let weights: Vec<f64> = (0..n).map(|i| if i % 5 == 0 { 0.0 } else { rng.random::<f64>() }).collect();
    let all: Vec<usize> = (0..p).collect();

    // In no particular order, and with lengths around the kernels' groups of four.
    for k in [0, 1, 2, 4, 7, p] {
        let chosen: Vec<usize> = shuffled(rng, p).into_iter().take(k).collect();
        let values = normals(rng, chosen.len());
        let mut out = vec![f64::NAN; n];
        design.mul(SparseRef::new(&chosen, &values), &mut out);
        assert_close(&format!("{name}: mul {k}"), &out, &product(x, &chosen, &values), tolerance);

        let mut out = vec![f64::NAN; chosen.len()];
        design.tmul_at(&r, &chosen, &mut out);
        let expected: Vec<f64> = chosen.iter().map(|&j| dot_column(x, &r, j)).collect();
        assert_close(&format!("{name}: tmul_at {k}"), &out, &expected, tolerance);

        out.fill(f64::NAN);
        design.squares_at(&weights, &chosen, &mut out);
        let expected: Vec<f64> = chosen.iter().map(|&j| weighted_product(x, &weights, j, j)).collect();
        assert_close(&format!("{name}: squares_at {k}"), &out, &expected, tolerance);

        check_cross(name, design, x, &chosen, &all, &weights, tolerance);
        check_cross(name, design, x, &chosen, &chosen, &weights, tolerance);
        check_columns(name, design, x, &chosen, &weights, tolerance);
    }
    check_cross(name, design, x, &all, &[], &weights, tolerance);

    let mut out = vec![f64::NAN; p];
    design.tmul(&r, &mut out);
    let expected: Vec<f64> = (0..p).map(|j| dot_column(x, &r, j)).collect();
    assert_close(&format!("{name}: tmul"), &out, &expected, tolerance);
    for outputs in [1, 2, 21] {
        let sides = normals(rng, n * outputs);
        let mut all = vec![f64::NAN; p * outputs];
        design.tmul_outputs(&sides, outputs, &mut all);
        let (sizes, mut squared) = (sides.iter().map(|v| v.abs()).collect::<Vec<f64>>(), all.clone());
        design.squares_outputs(&sizes, outputs, &mut squared);
        for o in 0..outputs {
            let of = |m: &[f64]| -> Vec<f64> { m.iter().skip(o).step_by(outputs).copied().collect() };
            let expected: Vec<f64> = (0..p).map(|j| dot_column(x, &of(&sides), j)).collect();
            assert_close(&format!("{name}: tmul_outputs {o} of {outputs}"), &of(&all), &expected, 10.0 * tolerance);
            let expected: Vec<f64> = (0..p).map(|j| weighted_product(x, &of(&sizes), j, j)).collect();
            assert_close(&format!("{name}: squares_outputs {o}"), &of(&squared), &expected, 10.0 * tolerance);
        }
    }
    out.fill(f64::NAN);
    design.squares(&weights, &mut out);
    let expected: Vec<f64> = (0..p).map(|j| weighted_product(x, &weights, j, j)).collect();
    assert_close(&format!("{name}: squares"), &out, &expected, tolerance);
    let centres = normals(rng, p);
    out.fill(f64::NAN);
    design.deviations(&weights, &centres, &mut out);
    let deviation = |j: usize| (0..n).map(|i| weights[i] * (x.at(i, j) - centres[j]).powi(2)).sum();
    let expected: Vec<f64> = (0..p).map(deviation).collect();
    assert_close(&format!("{name}: deviations"), &out, &expected, 10.0 * tolerance);

    let mut row = vec![(usize::MAX, f64::NAN)];
    for i in 0..n {
        design.row(i, &mut row);
        assert!(row.windows(2).all(|w| w[0].0 < w[1].0), "{name}: row {i} out of order");
        let mut full = vec![0.0; p];
        row.iter().for_each(|&(j, v)| full[j] = v);
        assert_close(&format!("{name}: row {i}"), &full, x.row(i), tolerance);
    }
    check_rows(name, design, x, tolerance);
}

/// Products with some rows, in any order, one of them twice.
fn check_rows(name: &str, design: &dyn Design, x: &Table, tolerance: f64) {
    let rng = &mut rng(13);
    let w = normals(rng, x.p);
    let mut rows = shuffled(rng, x.n);
    rows.truncate(x.n.div_ceil(2));
    rows.extend(rows.first().copied());
    let mut out = vec![f64::NAN; rows.len()];
    design.dot_rows(&rows, &w, &mut out);
    let expected: Vec<f64> = rows.iter().map(|&i| x.row(i).iter().zip(&w).map(|(x, w)| x * w).sum()).collect();
    assert_close(&format!("{name}: dot_rows"), &out, &expected, tolerance);
    let factors = normals(rng, rows.len());
    let mut out = w.clone();
    design.add_rows(&rows, &factors, &mut out);
    let added = |j: usize| rows.iter().zip(&factors).map(|(&i, f)| f * x.at(i, j)).sum::<f64>();
    let expected: Vec<f64> = (0..x.p).map(|j| w[j] + added(j)).collect();
    assert_close(&format!("{name}: add_rows"), &out, &expected, tolerance);
}

/// `X_left' diag(weights) X_right`, by columns.
pub fn cross(design: &dyn Design, left: &[usize], right: &[usize], weights: &[f64]) -> Vec<f64> {
    let mut out = vec![f64::NAN; left.len() * right.len()];
    design.cross(left, right, weights, MatrixMut::from_columns(left.len(), right.len(), &mut out));
    out
}

fn check_cross(
    name: &str,
    design: &dyn Design,
    x: &Table,
    left: &[usize],
    right: &[usize],
    weights: &[f64],
    tolerance: f64,
) {
    let found = cross(design, left, right, weights);
    for (b, &j) in right.iter().enumerate() {
        let column = &found[b * left.len()..(b + 1) * left.len()];
        let expected: Vec<f64> = left.iter().map(|&a| weighted_product(x, weights, a, j)).collect();
        let unit = weighted_product(x, weights, j, j).max(1.0);
        for (f, e) in column.iter().zip(&expected) {
            assert!((f - e).abs() <= tolerance * unit * 10.0, "{name}: cross {f} against {e}");
        }
    }
}

fn check_columns(name: &str, design: &dyn Design, x: &Table, chosen: &[usize], weights: &[f64], tolerance: f64) {
    let rng = &mut rng(12);
    let (values, r) = (normals(rng, chosen.len()), normals(rng, x.n));
    let mut columns = design.gather(chosen);
    let k = chosen.len();
    assert_eq!(columns.ncols(), k, "{name}: gather");
    let mut out = vec![f64::NAN; x.n];
    columns.mul(&values, &mut out);
    assert_close(&format!("{name}: columns.mul {k}"), &out, &product(x, chosen, &values), tolerance);
    let mut out = vec![f64::NAN; k];
    columns.tmul(&r, &mut out);
    let expected: Vec<f64> = chosen.iter().map(|&j| dot_column(x, &r, j)).collect();
    assert_close(&format!("{name}: columns.tmul {k}"), &out, &expected, tolerance);
    out.fill(f64::NAN);
    columns.squares(weights, &mut out);
    let squares: Vec<f64> = chosen.iter().map(|&j| weighted_product(x, weights, j, j)).collect();
    assert_close(&format!("{name}: columns.squares {k}"), &out, &squares, tolerance);
    let mut between = vec![f64::NAN; x.n];
    out.fill(f64::NAN);
    for shift in [0.0, 1.75] {
        let total = columns.normal(weights, &values, shift, &mut between, &mut out);
        let z: Vec<f64> = product(x, chosen, &values).iter().zip(weights).map(|(z, w)| (z + shift) * w).collect();
        let expected: Vec<f64> = chosen.iter().map(|&j| dot_column(x, &z, j)).collect();
        assert_close(&format!("{name}: columns.normal {k}"), &out, &expected, 10.0 * tolerance);
        assert_close(&format!("{name}: sum of columns.normal {k}"), &[total], &[z.iter().sum()], 10.0 * tolerance);
    }
    for outputs in [1, 3, 21] {
        let (many, sides) = (normals(rng, k * outputs), normals(rng, x.n * outputs));
        let of = |m: &[f64], o: usize| -> Vec<f64> { m.iter().skip(o).step_by(outputs).copied().collect() };
        let (mut out, mut back) = (vec![f64::NAN; x.n * outputs], vec![f64::NAN; k * outputs]);
        columns.mul_outputs(&many, outputs, &mut out);
        columns.tmul_outputs(&sides, outputs, &mut back);
        let (sizes, mut squared) = (sides.iter().map(|v| v.abs()).collect::<Vec<f64>>(), back.clone());
        columns.squares_outputs(&sizes, outputs, &mut squared);
        for o in 0..outputs {
            let what = format!("{name}: columns of {k}, output {o} of {outputs}");
            assert_close(&what, &of(&out, o), &product(x, chosen, &of(&many, o)), 10.0 * tolerance);
            let expected: Vec<f64> = chosen.iter().map(|&j| dot_column(x, &of(&sides, o), j)).collect();
            assert_close(&what, &of(&back, o), &expected, 10.0 * tolerance);
            let expected: Vec<f64> = chosen.iter().map(|&j| weighted_product(x, &of(&sizes, o), j, j)).collect();
            assert_close(&what, &of(&squared, o), &expected, 10.0 * tolerance);
        }
    }
    // Twice: scratch space must not leak from one call into the next.
    for _ in 0..2 {
        let above = |e: usize| e % k < e / k;
        let mut gram: Vec<f64> = (0..k * k).map(|e| if above(e) { 77.0 } else { f64::NAN }).collect();
        columns.gram(weights, MatrixMut::from_columns(k, k, &mut gram));
        for b in 0..k {
            for a in 0..k {
                let expected = if a < b { 77.0 } else { weighted_product(x, weights, chosen[a], chosen[b]) };
                let unit = (squares[a] * squares[b]).sqrt().max(1.0) * 10.0;
                assert!((gram[b * k + a] - expected).abs() <= tolerance * unit, "{name}: gram {a} {b}");
            }
        }
    }
}

/// Columns that let some of theirs go and take up others are those of the new support, time after time.
pub fn check_change(name: &str, design: &dyn Design, x: &Table) {
    let rng = &mut rng(21);
    let support = |rng: &mut rand_chacha::ChaCha8Rng, k: usize| {
        let mut chosen: Vec<usize> = shuffled(rng, x.p).into_iter().take(k).collect();
        chosen.sort_unstable();
        chosen
    };
    let mut chosen = support(rng, 20);
    let mut columns = design.gather(&chosen);
    let mut changed = 0;
    for step in 0..12 {
        let next = match step % 4 {
            // One column, a third of them, all of them, another number of them.
            0 | 1 => {
                let kept = chosen.iter().copied().filter(|j| (j + step) % if step % 4 == 0 { 19 } else { 3 } > 0);
                let mut kept: Vec<usize> = kept.collect();
                let others = shuffled(rng, x.p).into_iter().filter(|j| !chosen.contains(j));
                kept.extend(others.take(chosen.len() - kept.len()));
                kept.sort_unstable();
                kept
            }
            2 => support(rng, chosen.len()),
            _ => support(rng, 15 + step),
        };
        if columns.change(&next) {
            changed += 1;
        } else {
            columns = design.gather(&next);
        }
        let (values, r) = (normals(rng, next.len()), normals(rng, x.n));
        let mut z = vec![f64::NAN; x.n];
        columns.mul(&values, &mut z);
        assert_close(&format!("{name}, step {step}: mul"), &z, &product(x, &next, &values), 1e-12);
        let mut out = vec![f64::NAN; next.len()];
        columns.tmul(&r, &mut out);
        let expected: Vec<f64> = next.iter().map(|&j| dot_column(x, &r, j)).collect();
        assert_close(&format!("{name}, step {step}: tmul"), &out, &expected, 1e-10);
        let (k, weights) = (next.len(), vec![1.0; x.n]);
        let mut gram = vec![0.0; k * k];
        columns.gram(&weights, MatrixMut::from_columns(k, k, &mut gram));
        for b in 0..k {
            for a in b..k {
                let expected = weighted_product(x, &weights, next[a], next[b]);
                assert!((gram[b * k + a] - expected).abs() <= 1e-9 * x.n as f64, "{name}, step {step}: {a} {b}");
            }
        }
        chosen = next;
    }
    assert!(changed >= 6, "{name} changes in place");
}

//! How a matrix may be stored, and what is refused.

use super::*;

#[test]
fn row_major_sparse_is_the_same_matrix() {
    let x = table(9, 7);
    let (mut pointers, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..x.n {
        // The order within a row is free.
        for j in (0..x.p).rev().filter(|&j| x.at(i, j) != 0.0) {
            columns.push(j as u32);
            values.push(x.at(i, j));
        }
        pointers.push(columns.len() as u64);
    }
    let sparse = Sparse::from_rows(x.n, x.p, &pointers, &columns, &values).unwrap();
    assert_eq!(sparse.nnz(), values.len());
    check("from_rows", &sparse, &x, 1e-13);
    columns[1] = columns[0];
    assert!(matches!(Sparse::from_rows(x.n, x.p, &pointers, &columns, &values), Err(Error::Storage { .. })));
    pointers[0] = 1;
    assert!(Sparse::from_rows(x.n, x.p, &pointers, &columns, &values).is_err());
}

#[test]
fn malformed_storage_is_refused() {
    let sparse = |pointers: &[u64], indices: &[u32], values: &[f64]| {
        Sparse::from_columns(3, 2, pointers.to_vec(), indices.to_vec(), values.to_vec()).map(|s| s.nnz())
    };
    assert_eq!(sparse(&[0, 2, 3], &[0, 2, 1], &[1.0; 3]), Ok(3));
    assert!(matches!(sparse(&[0, 3], &[0, 2, 1], &[1.0; 3]), Err(Error::Shape { .. })));
    assert!(matches!(sparse(&[0, 2, 3], &[0, 2, 1], &[1.0; 2]), Err(Error::Shape { .. })));
    assert!(matches!(sparse(&[0, 2, 2], &[0, 2, 1], &[1.0; 3]), Err(Error::Shape { .. })));
    assert!(matches!(sparse(&[1, 2, 3], &[0, 2, 1], &[1.0; 3]), Err(Error::Storage { column: 0, .. })));
    assert!(matches!(sparse(&[0, 9, 3], &[0, 2, 1], &[1.0; 3]), Err(Error::Storage { column: 0, .. })));
    assert!(matches!(sparse(&[0, 1, 3], &[0, 2, 1], &[1.0; 3]), Err(Error::Storage { column: 1, .. })));
    assert!(matches!(sparse(&[0, 1, 3], &[0, 1, 1], &[1.0; 3]), Err(Error::Storage { column: 1, .. })));
    assert!(matches!(sparse(&[0, 2, 3], &[0, 3, 1], &[1.0; 3]), Err(Error::Storage { column: 0, .. })));
    assert!(matches!(Dense::from_rows(2, 2, &[1.0; 3]), Err(Error::Shape { .. })));
    assert!(matches!(Dense::from_columns(2, 2, vec![1.0; 5]), Err(Error::Shape { .. })));
    assert!(matches!(Rows::new(table(3, 2).dense(), vec![0, 3]), Err(Error::IndexOutOfRange { index: 3, .. })));
    let scaled = |centre: &[f64], scale: &[f64]| {
        Scaled::new(table(3, 2).dense(), centre.to_vec(), scale.to_vec()).map(|s| s.ncols())
    };
    assert_eq!(scaled(&[0.0, 1.0], &[1.0, 2.0]), Ok(2));
    assert!(matches!(scaled(&[0.0], &[1.0, 2.0]), Err(Error::Shape { .. })));
    assert!(matches!(scaled(&[0.0, f64::NAN], &[1.0, 2.0]), Err(Error::NotFinite { index: 1, .. })));
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(scaled(&[0.0, 1.0], &[1.0, bad]), Err(Error::InvalidOption { .. })), "{bad}");
    }
}

#[test]
fn standardized_columns_have_mean_zero_and_deviation_one() {
    let x = Table::gaussian(&mut rng(8), 50, 6, 0.3);
    // Far from the origin, in other units, constant, empty.
    let x = x.map(|_, j, v| [v, 5.0 + v, 1e7 * v, 1e-7 * (v + 3.0), 0.1, 0.0][j]);
    let weights: Vec<f64> = (0..50).map(|i| f64::from(i % 4)).collect();
    let total: f64 = weights.iter().sum();
    for (name, design) in [("dense", Box::new(x.dense()) as Box<dyn Design>), ("sparse", Box::new(x.csc()))] {
        let view = Scaled::standardize(design, Some(&weights)).unwrap();
        let (mut sums, mut squares) = (vec![0.0; 6], vec![0.0; 6]);
        view.tmul(&weights, &mut sums);
        view.squares(&weights, &mut squares);
        for j in 0..6 {
            assert!(sums[j].abs() < 1e-9 * total, "{name}: sum {} of column {j}", sums[j]);
            let expected = if j < 4 { total } else { 0.0 };
            assert!((squares[j] - expected).abs() < 1e-9 * total, "{name}: square {} of column {j}", squares[j]);
        }
    }
    let bad = |weights: &[f64]| Scaled::standardize(x.dense(), Some(weights)).map(|s| s.ncols());
    assert!(matches!(bad(&[1.0; 3]), Err(Error::Shape { .. })));
    assert!(bad(&[0.0; 50]).is_err() && bad(&[-1.0; 50]).is_err() && bad(&[f64::NAN; 50]).is_err());
}

#[test]
fn a_bad_entry_is_found() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let x = table(8, 5).map(|i, j, v| if (i, j) == (7, 3) { bad } else { v });
        let expected = Err(Error::NotFinite { what: "design column", index: 3 });
        assert_eq!(x.dense().check_finite(), expected);
        assert_eq!(x.dense32().check_finite(), expected);
        assert_eq!(x.csc().check_finite(), expected);
        assert_eq!(x.csc32().check_finite(), expected);
    }
    assert_eq!(table(8, 5).dense().check_finite(), Ok(()));
}

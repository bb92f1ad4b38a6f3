//! What all targets do: read bytes with options drawn from the first few, then use what came out.

use ksparse::SparseRef;
use ksparse_io::{Format, Header, Labels, Matrix, Need, ReadOptions, Storage, Table, read_bytes};

/// Options from the first two bytes, and the rest.
pub fn options(data: &[u8]) -> Option<(ReadOptions, &[u8])> {
    let ([a, b], rest) = data.split_first_chunk::<2>()?;
    let pick = |byte: &u8, shift: u32| (byte >> shift & 3) as usize;
    let options = ReadOptions {
        zero_based: a & 1 == 1,
        features: (a & 2 == 2).then_some(50),
        max_features: Some(1 << 12),
        header: [Header::Auto, Header::Auto, Header::Yes, Header::No][pick(a, 2)],
        separator: [None, None, Some(b','), Some(b' ')][pick(a, 4)],
        need: [Need::Optional, Need::Required, Need::Absent, Need::Optional][pick(a, 6)],
        target: [None, None, Some("1".into()), Some("-1".into())][pick(b, 0)].clone(),
        weights: [None, None, None, Some("2".into())][pick(b, 2)].clone(),
        drop: if b & 48 == 48 { vec!["3".into()] } else { Vec::new() },
        // Not `Dense`: who asks for a huge sparse matrix in full gets what memory allows.
        storage: if b & 192 == 192 { Storage::Sparse } else { Storage::Auto },
        ..ReadOptions::default()
    };
    Some((options, rest))
}

/// Reads `data` as `format`; errors are fine, panics are not.
pub fn run(data: &[u8], format: Option<Format>) {
    if let Some((options, rest)) = options(data)
        && let Ok(table) = read_bytes("fuzz", rest.to_vec(), &ReadOptions { format, ..options })
    {
        exercise(&table);
    }
}

/// Uses everything a table promises.
pub fn exercise(table: &Table) {
    let (n, p) = (table.nrows(), table.ncols());
    assert!(n > 0 && p > 0);
    assert!(table.target.as_ref().is_none_or(|t| t.len() == n));
    assert!(table.weights.as_ref().is_none_or(|w| w.len() == n && w.iter().all(|w| *w >= 0.0)));
    assert!(table.names.as_ref().is_none_or(|names| names.len() == p));
    if n > 1 << 20 || p > 1 << 20 {
        return;
    }
    let design = table.design();
    let (mut over_rows, mut over_columns, mut row) = (vec![0.0; n], vec![0.0; p], Vec::new());
    design.tmul(&vec![1.0; n], &mut over_columns);
    design.mul(SparseRef::new(&[p - 1], &[1.0]), &mut over_rows);
    design.row(n - 1, &mut row);
    if !matches!(table.matrix, Matrix::Mapped(_)) {
        assert!(row.iter().all(|e| e.1.is_finite()));
    }
    if let Some(target) = &table.target {
        let _ = target.numbers();
        if let Ok(labels) = Labels::find(target) {
            let signs = labels.signs(target);
            assert!(signs.is_ok_and(|s| s.contains(&1.0) && s.contains(&-1.0)));
        }
        let _ = Labels::with_positive(target, "1:3,a").map(|l| l.signs(target));
    }
}

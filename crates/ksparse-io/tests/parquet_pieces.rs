//! Parquet files cut into mapped ones, a piece in memory at a time.
#![cfg(feature = "parquet")]

use ksparse_io::{ReadOptions, Table, convert_shards, read};
use parquet::data_type::{DoubleType, Int32Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::path::Path;
use std::sync::Arc;

/// `y`, `a` and `b` for some rows, in row groups of these sizes and small pages.
fn write(path: &Path, groups: &[usize], missing: Option<usize>) {
    let schema = "message table { required double y; required int32 a; optional double b; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder().set_data_page_row_count_limit(7).set_write_batch_size(7).build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    let mut first = 0;
    for &size in groups {
        let rows: Vec<usize> = (first..first + size).collect();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let y: Vec<f64> = rows.iter().map(|&i| 0.5 * i as f64).collect();
        column.typed::<DoubleType>().write_batch(&y, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let a: Vec<i32> = rows.iter().map(|&i| 3 * i as i32 - 7).collect();
        column.typed::<Int32Type>().write_batch(&a, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let there: Vec<usize> = rows.iter().copied().filter(|&i| Some(i) != missing).collect();
        let b: Vec<f64> = there.iter().map(|&i| 1.0 / (i + 1) as f64).collect();
        let levels: Vec<i16> = rows.iter().map(|&i| i16::from(Some(i) != missing)).collect();
        column.typed::<DoubleType>().write_batch(&b, Some(&levels), None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        first += size;
    }
    writer.close().unwrap();
}

fn rows(table: &Table) -> Vec<Vec<(usize, f64)>> {
    let row = |i: usize| {
        let mut out = Vec::new();
        table.design().row(i, &mut out);
        out
    };
    (0..table.nrows()).map(row).collect()
}

#[test]
fn pieces_are_the_rows_of_the_whole() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("data.parquet");
    write(&path, &[50, 1, 120, 29], None);
    let options = ReadOptions { target: Some("y".to_string()), ..ReadOptions::default() };
    let whole = read(&path, &options).unwrap();
    for count in [1, 3, 7, 200] {
        let parts = dir.path().join(count.to_string());
        let files = convert_shards(&path, &parts, count, &options, Ok).unwrap();
        assert_eq!(files.len(), count);
        let tables: Vec<Table> = files.iter().map(|file| read(file, &ReadOptions::default()).unwrap()).collect();
        assert_eq!(tables.iter().flat_map(rows).collect::<Vec<_>>(), rows(&whole), "{count}");
        assert!(tables.iter().all(|table| table.names == whole.names && table.target_name == whole.target_name));
        let labels = |table: &Table| {
            (0..table.nrows()).map(|i| table.target.as_ref().unwrap().label(i).to_string()).collect::<Vec<_>>()
        };
        assert_eq!(tables.iter().flat_map(labels).collect::<Vec<_>>(), labels(&whole));
    }
    let refused = convert_shards(&path, &dir.path().join("more"), 201, &options, Ok).unwrap_err();
    assert!(refused.to_string().contains("200 rows cannot be cut into 201"), "{refused}");
}

/// A piece fits where the whole does not; what is wrong with a row is said with its number among all.
#[test]
fn no_more_than_a_piece_is_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("data.parquet");
    write(&path, &[3000, 5000], None);
    let tight = ReadOptions { target: Some("y".to_string()), memory: Some(50_000), ..ReadOptions::default() };
    assert!(read(&path, &tight).unwrap_err().to_string().contains("memory"));
    assert!(convert_shards(&path, &dir.path().join("2"), 2, &tight, Ok).unwrap_err().to_string().contains("memory"));
    assert_eq!(convert_shards(&path, &dir.path().join("20"), 20, &tight, Ok).unwrap().len(), 20);
    write(&path, &[30, 50], Some(71));
    let loose = ReadOptions { memory: None, ..tight };
    for count in [1, 5] {
        let refused = convert_shards(&path, &dir.path().join("null"), count, &loose, Ok).unwrap_err().to_string();
        assert!(refused.contains("row 72 is missing") && refused.contains("column `b`"), "{count}: {refused}");
    }
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert!(convert_shards(&path, &dir.path().join("cut"), 2, &loose, Ok).unwrap_err().to_string().contains("damaged"));
}

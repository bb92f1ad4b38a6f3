//! Formats, separators, headers and the roles of columns, found without being told.

use ksparse_io::{Category, Format, Header, Need, ReadOptions, Table, Target, WordColumns, read, read_bytes};

fn table(text: &str, options: &ReadOptions) -> Table {
    read_bytes("data", text.as_bytes().to_vec(), options).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn rows(table: &Table) -> Vec<Vec<f64>> {
    let mut row = Vec::new();
    let full = |i: usize, row: &mut Vec<(usize, f64)>| {
        let mut out = vec![0.0; table.ncols()];
        table.design().row(i, row);
        row.iter().for_each(|&(j, v)| out[j] = v);
        out
    };
    (0..table.nrows()).map(|i| full(i, &mut row)).collect()
}

#[test]
fn separators_and_headers() {
    let expected = vec![vec![2.0, 3.5], vec![5.0, -6.0]];
    for text in [
        "y,a,b\n1,2,3.5\n4,5,-6\n",
        "y;a;b\n1;2;3.5\n4;5;-6\n",
        "y\ta\tb\n1\t2\t3.5\n4\t5\t-6\n",
        "y|a|b\r\n1|2|3.5\r\n4|5|-6",
        "y a   b\n 1  2 3.5\n4 5 \t -6  \n",
        "\u{feff}y,a,b\n1,2,3.5\n4,5,-6\n",
        "# made by hand\n\n\"y\",\"a\",\"b\"\n1,\"2\",3.5\n4, 5 ,-6\n\n",
    ] {
        let table = table(text, &ReadOptions::default());
        assert_eq!(rows(&table), expected, "{text}");
        assert_eq!(table.target, Some(Target::Numbers(vec![1.0, 4.0])));
        assert_eq!(table.names, Some(vec!["a".to_string(), "b".to_string()]));
        assert_eq!(table.target_name.as_deref(), Some("y"));
    }
}

#[test]
fn no_header_and_numbers_for_names() {
    let options = |target: &str| ReadOptions { target: Some(target.into()), ..ReadOptions::default() };
    let last = table("1,2,yes\n3,4,no\n", &options("-1"));
    assert_eq!((rows(&last), last.names.clone()), (vec![vec![1.0, 2.0], vec![3.0, 4.0]], None));
    assert_eq!(last.target, Some(Target::Text(vec!["yes".into(), "no".into()])));
    let first = table("1 2 3\n4 5 6\n", &options("1"));
    assert_eq!(rows(&first), [[2.0, 3.0], [5.0, 6.0]]);
    // Quoted numbers on top of bare ones are names; forced either way.
    let quoted = table("\"y\",\"2001\",\"2002\"\n1,2,3\n", &ReadOptions::default());
    assert_eq!(quoted.names, Some(vec!["2001".to_string(), "2002".to_string()]));
    let no = ReadOptions { header: Header::No, ..options("1") };
    assert_eq!(table("1,2\n3,4\n", &no).nrows(), 2);
    let yes = ReadOptions { header: Header::Yes, ..options("1") };
    let forced = table("1,2\n3,4\n", &yes);
    assert_eq!((forced.nrows(), forced.names.unwrap()), (1, vec!["2".to_string()]));
}

#[test]
fn row_names_are_no_features() {
    for text in [
        "sample,response,g1,g2\nM1,pCR,1,2\nM2,RD,3,4\n",
        "\"\",\"response\",\"g1\",\"g2\"\n\"M1\",\"pCR\",1,2\n\"M2\",\"RD\",3,4\n",
        // R leaves the first name out; pandas numbers its rows.
        "response g1 g2\nM1 pCR 1 2\nM2 RD 3 4\n",
        ",response,g1,g2\n0,pCR,1,2\n1,RD,3,4\n",
    ] {
        let table = table(text, &ReadOptions::default());
        assert_eq!(rows(&table), [[1.0, 2.0], [3.0, 4.0]], "{text}");
        assert_eq!(table.target, Some(Target::Text(vec!["pCR".into(), "RD".into()])));
        assert_eq!(table.names, Some(vec!["g1".to_string(), "g2".to_string()]));
    }
    // For a graph every column of words is left out, and nothing is a target.
    let graph = ReadOptions { need: Need::Absent, ..ReadOptions::default() };
    let table = table("sample,response,g1,y\nM1,pCR,1,2\nM2,RD,3,4\n", &graph);
    assert_eq!((rows(&table), table.target.is_none()), (vec![vec![1.0, 2.0], vec![3.0, 4.0]], true));
    assert_eq!(table.notes.len(), 2);
}

#[test]
fn columns_can_be_dropped_and_be_weights() {
    let options =
        ReadOptions { weights: Some("w".into()), drop: vec!["junk".into(), "-1".into()], ..ReadOptions::default() };
    let table = table("y,w,junk,a,b,c\n1,2,red,4,5,6\n", &options);
    assert_eq!((rows(&table), table.weights.clone()), (vec![vec![4.0, 5.0]], Some(vec![2.0])));
    let negative = read_bytes(
        "data",
        b"y,w,a\n1,-2,3\n".to_vec(),
        &ReadOptions { weights: Some("w".into()), ..ReadOptions::default() },
    );
    assert!(negative.unwrap_err().to_string().contains("the weight -2 is negative"));
    let twice = ReadOptions { weights: Some("y".into()), target: Some("y".into()), ..ReadOptions::default() };
    assert!(read_bytes("data", b"y,a\n1,2\n".to_vec(), &twice).unwrap_err().to_string().contains("another use"));
}

#[test]
fn predicting_takes_the_target_if_there_is_one() {
    let options = ReadOptions { need: Need::Optional, target: Some("y".into()), ..ReadOptions::default() };
    assert!(table("a,b\n1,2\n", &options).target.is_none());
    assert!(table("a,y\n1,2\n", &options).target.is_some());
    assert!(table("1:2 3:4\n2:1\n", &options).target.is_none());
    assert!(table("0 1:2 3:4\n", &options).target.is_some());
}

#[test]
fn svmlight_as_people_write_it() {
    let text = "# head\n+1 qid:3 1:0.5 4:-2e3   # tail\r\n\n-1\t2:1\t\n+1 #nothing\n-1 3:0\n";
    let table = table(text, &ReadOptions::default());
    assert_eq!(table.format, Format::Svmlight);
    assert_eq!(table.target, Some(Target::Numbers(vec![1.0, -1.0, 1.0, -1.0])));
    assert_eq!(rows(&table)[0], [0.5, 0.0, 0.0, -2000.0]);
    assert_eq!((table.ncols(), table.matrix.nnz()), (4, 3));
    let words = self::table("ham 1:1\nspam 2:1\n3 1:2\n", &ReadOptions::default());
    assert_eq!(words.target, Some(Target::Text(vec!["ham".into(), "spam".into(), "3".into()])));
    let wide = self::table("1 2:1\n", &ReadOptions { features: Some(9), ..ReadOptions::default() });
    assert_eq!(wide.ncols(), 9);
}

#[test]
fn matrix_market_variants() {
    let absent = ReadOptions { need: Need::Absent, ..ReadOptions::default() };
    for (text, expected) in [
        (
            "%%MatrixMarket matrix coordinate real general\n% c\n\n2 2 3\n2 2 4\n1 1 1\n1 2 3\n",
            [[1.0, 3.0], [0.0, 4.0]],
        ),
        ("%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 7\n2 1 3\n", [[7.0, 3.0], [3.0, 0.0]]),
        ("%%matrixmarket MATRIX coordinate pattern general\n2 2 2\n1 1\n2 1\n", [[1.0, 0.0], [1.0, 0.0]]),
        ("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 3\n", [[0.0, -3.0], [3.0, 0.0]]),
        ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n", [[1.0, 3.0], [2.0, 4.0]]),
        ("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n", [[1.0, 2.0], [2.0, 3.0]]),
        ("%%MatrixMarket matrix array real skew-symmetric\n2 2\n5\n", [[0.0, -5.0], [5.0, 0.0]]),
    ] {
        assert_eq!(rows(&table(text, &absent)), expected, "{text}");
    }
    // The target as a column of the matrix.
    let options = ReadOptions { target: Some("2".into()), ..ReadOptions::default() };
    let split = table("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n", &options);
    assert_eq!((rows(&split), split.target), (vec![vec![1.0], vec![2.0]], Some(Target::Numbers(vec![3.0, 4.0]))));
}

#[test]
fn targets_from_a_second_file() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("x.csv");
    std::fs::write(&data, "a,b\n1,2\n3,4\n").unwrap();
    for (name, text, expected) in [
        ("lines.txt", "1\n-1\n", Target::Numbers(vec![1.0, -1.0])),
        ("named.txt", "outcome\n1\n-1\n", Target::Numbers(vec![1.0, -1.0])),
        ("words.txt", "good\nbad\n", Target::Text(vec!["good".into(), "bad".into()])),
        ("y.mtx", "%%MatrixMarket matrix array real general\n2 1\n5\n6\n", Target::Numbers(vec![5.0, 6.0])),
    ] {
        let file = dir.path().join(name);
        std::fs::write(&file, text).unwrap();
        let options = ReadOptions { target_file: Some(file), ..ReadOptions::default() };
        assert_eq!(read(&data, &options).unwrap().target, Some(expected), "{name}");
    }
    // svmlight lines without labels.
    let bare = dir.path().join("bare.svm");
    std::fs::write(&bare, "1:2\n2:3\n").unwrap();
    let options = ReadOptions { target_file: Some(dir.path().join("lines.txt")), ..ReadOptions::default() };
    assert_eq!(read(&bare, &options).unwrap().target, Some(Target::Numbers(vec![1.0, -1.0])));
    let file = dir.path().join("short.txt");
    std::fs::write(&file, "1\n").unwrap();
    let options = ReadOptions { target_file: Some(file), ..ReadOptions::default() };
    let error = read(&data, &options).unwrap_err().to_string();
    assert!(error.contains("short.txt: 1 values for 2 rows"), "{error}");
}

#[test]
fn compression_goes_by_content_not_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let plain = table("1 1:2\n-1 2:3\n", &ReadOptions::default());
    for end in ["gz", "bz2", "xz", "zst"] {
        let path = dir.path().join(format!("a.svm.{end}"));
        ksparse_io::write(&plain, &path, &Default::default()).unwrap();
        let disguised = dir.path().join("no-extension");
        std::fs::rename(&path, &disguised).unwrap();
        let again = read(&disguised, &ReadOptions::default()).unwrap();
        assert_eq!((again.format, again.compression.unwrap().extension()), (Format::Svmlight, end));
        assert_eq!(rows(&again), rows(&plain));
        // Two compressed files in a row are their texts in a row, as for the command-line tools.
        let bytes = std::fs::read(&disguised).unwrap();
        std::fs::write(&disguised, [bytes.clone(), bytes].concat()).unwrap();
        assert_eq!(read(&disguised, &ReadOptions::default()).unwrap().nrows(), 4, "{end}");
    }
}

/// A column of words is indicators of its words but the first; numbers stay what they are.
#[test]
fn words_become_indicators() {
    let text =
        "y,age,city,member\n1,31,Paris,yes\n2,40,Lyon,no\n3,25,Paris,no\n4,60,Berlin,yes\n5,33,Lyon,yes\n6,1,Lyon,no\n";
    let read = table(text, &ReadOptions::default());
    assert_eq!(read.names.as_deref().unwrap(), ["age", "city=Lyon", "city=Paris", "member=yes"]);
    assert_eq!(rows(&read)[0], [31.0, 0.0, 1.0, 1.0]);
    assert_eq!(rows(&read)[3], [60.0, 0.0, 0.0, 1.0]);
    assert_eq!(read.categories.len(), 2);
    assert_eq!((read.categories[0].column, read.categories[0].columns()), (1, 1..3));
    assert_eq!(read.categories[0].levels, ["Berlin", "Lyon", "Paris"]);
    assert_eq!(read.features("city").unwrap(), [1, 2]);
    assert_eq!(read.features("age").unwrap(), [0]);
    // Codes are numbers until somebody says that they are none: then 1 and 1.0 are one of them.
    let codes = "y,code,x\n1,10,0.5\n2,2,0.5\n3,2.0,1\n4,10,2\n";
    assert!(table(codes, &ReadOptions::default()).categories.is_empty());
    let forced = ReadOptions { categorical: vec!["code".into()], ..ReadOptions::default() };
    let read = table(codes, &forced);
    assert_eq!(read.names.as_deref().unwrap(), ["code=10", "x"]);
    assert_eq!(read.categories[0].levels, ["2", "10"]);
    // Without names: by place.
    let read =
        table("1,a,5\n2,b,6\n3,a,7\n4,b,8\n", &ReadOptions { target: Some("1".into()), ..ReadOptions::default() });
    assert_eq!((read.categories[0].place, rows(&read)[1].clone()), (0, vec![1.0, 6.0]));
    // As a model has them.
    let known = |needed: bool| ReadOptions {
        need: Need::Optional,
        words: WordColumns::Known(vec![(
            Category {
                feature: Some("city".into()),
                place: 1,
                column: 1,
                levels: ["A", "Lyon", "Rome"].map(String::from).into(),
            },
            needed,
        )]),
        ..ReadOptions::default()
    };
    let read = table("age,city,other\n1,Rome,x\n2,Lyon,y\n", &known(true));
    assert_eq!(read.names.as_deref().unwrap(), ["age", "city=Lyon", "city=Rome"]);
    assert_eq!(rows(&read), [[1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]);
    assert!(read.notes.iter().any(|note| note.contains("`other`")), "{:?}", read.notes);
    let read = table("age,city\n1,Rome\n2,Oslo\n", &known(false));
    assert_eq!(rows(&read)[1], [2.0, 0.0, 0.0]);
}

/// What is no column of categories is refused, with what to do.
#[test]
fn words_that_are_no_categories() {
    let refused = |text: &str, options: &ReadOptions, words: &[&str]| {
        let error = read_bytes("x.csv", text.as_bytes().to_vec(), options).unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    };
    let plain = ReadOptions::default();
    refused("y,a,b\n1,2,x1\n2,3,x2\n3,4,x3\n", &plain, &["column `b`", "3 different words in 3 rows", "`drop`"]);
    refused("y,a\n1,oops\n2,3\n3,4\n4,4\n", &plain, &["column `a`", "row 1 is `oops`", "`categorical`"]);
    refused("y,a\n1,u\n2,\n3,u\n4,u\n", &plain, &["line 3, column `a`", "missing"]);
    refused("y,a\n1,u\n2,u\n3,u\n4,u\n", &plain, &["no features", "one word"]);
    let many = ReadOptions { categorical: vec!["b".into()], ..ReadOptions::default() };
    assert_eq!(table("y,a,b\n1,2,x1\n2,3,x2\n3,4,x3\n", &many).ncols(), 3);
    refused("y,a\n1,2\n", &ReadOptions { categorical: vec!["c".into()], ..plain.clone() }, &["`categorical`", "`c`"]);
    let known =
        Category { feature: Some("a".into()), place: 0, column: 0, levels: ["u", "v"].map(String::from).into() };
    let known = ReadOptions { words: WordColumns::Known(vec![(known, true)]), ..ReadOptions::default() };
    refused("y,a\n1,u\n2,w\n", &known, &["row 2 is `w`", "not seen", "u, v"]);
    refused("y,a\n1,u\n2,w\n", &ReadOptions { words: WordColumns::Refused, ..plain }, &["`u` is not a number"]);
}

//! Bad input gets a message that names the place and the remedy, an exit code, and no file.

use crate::bench::Bench;

/// Runs a command that must fail with this code, saying all of this, and leaving no file behind.
fn refused(bench: &Bench, line: &str, code: i32, says: &[&str]) {
    let before = bench.files();
    let done = bench.run(line);
    assert_eq!(done.code, code, "ksparse {line}\n{}{}", done.stdout, done.stderr);
    assert!(done.stderr.starts_with("error:") || done.stderr.contains("\nerror:"), "ksparse {line}\n{}", done.stderr);
    assert!(!done.stderr.contains("panicked"), "{}", done.stderr);
    for fragment in says {
        assert!(done.stderr.contains(fragment), "ksparse {line}\nshould say `{fragment}`:\n{}", done.stderr);
    }
    assert_eq!(done.stdout, "", "ksparse {line}");
    assert_eq!(bench.files(), before, "ksparse {line} left a file");
}

#[test]
fn svmlight_that_is_none() {
    let good = "1 1:0.5 2:1\n-1 1:1.5\n";
    let cases: [(&str, &[&str]); 13] = [
        ("", &["empty"]),
        ("\n\n", &[]),
        ("1 1:0.5 2\n-1 1:1\n", &["line 1"]),
        ("1 1:0.5\n-1 3:\n", &["line 2"]),
        ("1 0:0.5 2:1\n-1 1:1\n", &["line 1", "--zero-based"]),
        ("1 -3:0.5\n-1 1:1\n", &["line 1"]),
        ("1 99999999999999999999:0.5\n-1 1:1\n", &["line 1"]),
        ("1 5000000000:0.5\n-1 1:1\n", &["line 1"]),
        ("1 2:0.5 1:1\n-1 1:1\n", &["line 1"]),
        ("1 2:0.5 2:1\n-1 1:1\n", &["line 1"]),
        ("1 1:NaN\n-1 1:1\n", &["line 1", "finite"]),
        ("1 1:0.5\n-1 1:inf\n", &["line 2", "finite"]),
        ("1 1:0.5\n-1 1:abc\n", &["line 2", "abc"]),
    ];
    for (text, says) in cases {
        let bench = Bench::new();
        bench.file("bad.svm", text);
        let says: Vec<&str> = says.iter().copied().chain(["bad.svm"]).collect();
        refused(&bench, "fit bad.svm -k 1 -o model.json", 2, &says);
        bench.file("good.svm", good);
        bench.ok("fit good.svm -k 1 -o model.json -q");
        refused(&bench, "predict model.json bad.svm -o out.txt", 2, &says);
    }
}

#[test]
fn tables_that_are_none() {
    let cases: [(&str, &str, &[&str]); 7] = [
        ("a,b,y\n1,2,3\n4,5\n", "", &["line 3"]),
        ("a,b,y\n1,2,3\n4,x,5\n", "", &["line 3", "x", "--drop", "--categorical"]),
        ("a,b,y\n1,nan,3\n4,2,5\n", "", &["line 2"]),
        ("a,b,y\n1,,3\n4,2,5\n", "", &["line 2"]),
        ("a,b,c\n1,2,3\n4,5,6\n", "", &["--target"]),
        ("a,b,result\n1,2,3\n4,5,6\n", "--target reslt", &["result"]),
        ("a,b,y\n1,2,3\n4,5,6\n", "--weights z", &["--weights", "`z`", "the columns are a, b, y"]),
    ];
    for (text, options, says) in cases {
        let bench = Bench::new();
        bench.file("bad.csv", text);
        let says: Vec<&str> = says.iter().copied().chain(["bad.csv"]).collect();
        refused(&bench, &format!("fit bad.csv -k 1 {options} -o model.json"), 2, &says);
    }
}

#[test]
fn bytes_that_mean_nothing() {
    let bench = Bench::new();
    let mut state = 12345u64;
    let garbage: Vec<u8> = (0..4000)
        .map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as u8
        })
        .collect();
    for name in ["garbage", "garbage.svm", "garbage.csv", "garbage.npy", "garbage.npz", "garbage.mtx", "garbage.ksb"] {
        bench.file(name, &garbage);
        refused(&bench, &format!("fit {name} -k 1 -o model.json"), 2, &[name]);
    }
    // Compressed, and cut off.
    bench.ok("simulate text --rows 200 --cols 100 --seed 1 -o t.svm");
    for end in ["xz", "gz", "bz2", "zst"] {
        let name = format!("t.svm.{end}");
        bench.ok(&format!("convert t.svm {name}"));
        let whole = std::fs::read(bench.path(&name)).unwrap();
        bench.file(&name, &whole[..whole.len() / 2]);
        refused(&bench, &format!("fit {name} -k 1 -o model.json"), 2, &[&name]);
    }
    refused(&bench, "fit nothing.svm -k 1", 2, &["nothing.svm"]);
    std::fs::create_dir(bench.path("dir.svm")).unwrap();
    refused(&bench, "fit dir.svm -k 1", 2, &["dir.svm"]);
}

#[test]
fn targets_that_do_not_suit() {
    let bench = Bench::new();
    bench.file("one.svm", "1 1:1\n1 1:2\n1 1:3\n");
    refused(&bench, "fit one.svm -k 1 --loss logistic", 2, &["one.svm", "one class only"]);
    refused(&bench, "fit one.svm -k 1", 2, &["one.svm", "1 in every row", "--target"]);
    bench.file("three.svm", "1 1:1\n2 1:2\n3 1:3\n");
    refused(&bench, "fit three.svm -k 1 --loss logistic", 2, &["three.svm", "3 classes", "--positive"]);
    refused(&bench, "fit three.svm -k 1 --positive 7", 2, &["three.svm", "7"]);
    refused(&bench, "fit three.svm -k 1 --positive 3 --loss squared", 2, &["--positive"]);
    bench.file("words.csv", "x,y\n1,a\n2,b\n3,c\n");
    refused(&bench, "fit words.csv -k 1", 2, &["words.csv", "3 labels in 3 rows", "--target"]);
    refused(&bench, "fit words.csv -k 1 --loss logistic", 2, &["words.csv", "3 classes (a, b, c)", "multinomial"]);
    refused(&bench, "fit words.csv -k 1 --loss squared", 2, &["words.csv", "`a`"]);
}

#[test]
fn options_out_of_range() {
    let bench = Bench::with_data();
    let cases: [(&str, &[&str]); 30] = [
        ("fit data.csv -k -1", &["-1", "whole number"]),
        ("fit data.csv -k x", &["whole number"]),
        ("fit data.csv -k 1:5", &["ksparse path"]),
        ("fit data.csv -k 99999999999999999999999", &["whole number"]),
        ("fit data.csv", &["-k auto", "ksparse path"]),
        ("fit -k 3", &["DATA"]),
        ("fit data.csv -k 3 --lambda -1", &["--lambda", "0 or more"]),
        ("fit data.csv -k 3 --lambda NaN", &["--lambda", "finite"]),
        ("fit data.csv -k 3 --lambda inf", &["--lambda", "finite"]),
        ("fit data.csv -k 3 --tol -1", &["--tol"]),
        ("fit data.csv -k 3 --max-iter 0", &["--max-iter"]),
        ("fit data.csv -k 3 --step -2 --solver grahtp", &["--step"]),
        ("fit data.csv -k 3 --step 0.5", &["--step", "grahtp"]),
        ("fit data.csv -k 3 --loss logistik", &["logistic"]),
        ("fit data.csv -k 3 --solver grahtb", &["grahtp"]),
        ("fit data.csv -k 3 --lamda 1", &["--lambda"]),
        ("fit data.csv -k 3 --alpha 1", &["--lambda"]),
        ("fit data.csv -k 3 --alpha=1", &["--lambda"]),
        ("fit data.csv -k 3 --cv 5", &["--cv", "-k auto", "ksparse path -k 1:3 --cv 5"]),
        ("fit data.csv -k 3 --folds 5", &["--cv 5", "-k auto"]),
        ("fit data.csv -k 3 --one-se", &["--one-se", "-k auto"]),
        ("fit data.csv -k 3 --keep x77", &["x77"]),
        ("fit data.csv -k 3 --format cvs", &["csv"]),
        ("predct m.json data.csv", &["predict"]),
        ("path data.csv -k 5:1", &["5:1", "empty range"]),
        ("path data.csv -k 1:3 --lambdas 1,-1", &["--lambdas"]),
        ("path data.csv -k 1:3 --cv 1", &["--cv"]),
        ("path data.csv --cv 5x0", &["--cv", "5x0", "such as 5x3"]),
        ("path data.csv -k 1:3 --criterion ebik", &["ebic"]),
        ("split data.csv --test 1.5", &["--test", "0.2"]),
    ];
    for (line, says) in cases {
        refused(&bench, line, 2, says);
    }
    refused(&bench, "path labels.csv -k 1:3 --loss huber -o m.json", 2, &["--cv"]);
    refused(&bench, "path labels.csv -k 1:3 --loss huber --criterion bic", 2, &["--cv", "likelihood"]);
    refused(&bench, "path data.csv -k 1:3 --cv 5 --metric auc", 2, &["auc"]);
    refused(&bench, "path data.csv -k 1:3 --cv 500", 2, &["--cv 500", "folds"]);
}

#[test]
fn models_that_are_none() {
    let bench = Bench::with_data();
    bench.ok("fit data.csv -k 3 -o model.json");
    let model = bench.read("model.json");
    bench.file("half.json", &model[..model.len() / 2]);
    bench.file("newer.json", model.replace("\"version\": 1", "\"version\": 2"));
    bench.file("other.json", "{\"a\": 1}");
    bench.file("bytes.json", [0xff, 0xfe, 0x00, 0x80]);
    for (name, says) in [
        ("half", "not a ksparse model"),
        ("newer", "update ksparse"),
        ("other", "not a ksparse model"),
        ("bytes", "not"),
    ] {
        let file = format!("{name}.json");
        refused(&bench, &format!("predict {file} data.csv -o out.txt"), 2, &[&file, says]);
        refused(&bench, &format!("show {file}"), 2, &[&file, says]);
    }
    refused(&bench, "show nowhere.json", 2, &["nowhere.json"]);
    refused(&bench, "predict model.json data.csv --proba", 2, &["--proba", "logistic"]);
}

#[test]
fn columns_the_model_does_not_know() {
    let bench = Bench::with_data();
    bench.ok("fit data.csv -k 3 -o model.json");
    bench.ok("fit data.svm -k 3 -o plain.json");
    bench.file("fewer.csv", "x1,x2,y\n1,2,3\n4,5,6\n");
    refused(&bench, "predict model.json fewer.csv -o out.txt", 2, &["fewer.csv", "no column", "model.json"]);
    refused(&bench, "predict plain.json fewer.csv -o out.txt", 2, &["fewer.csv", "2 columns", "30"]);
}

#[test]
fn places_that_cannot_be_written() {
    let bench = Bench::with_data();
    bench.ok("fit data.csv -k 3 -o model.json");
    for line in [
        "fit data.csv -k 3 -o nowhere/model.json",
        "fit data.csv -k 3 --trace nowhere/trace.csv",
        "predict model.json data.csv -o nowhere/out.txt",
        "path data.csv -k 1:3 --plot nowhere/plot.svg",
        "convert data.csv nowhere/data.svm",
        "split data.csv --dir nowhere",
        "simulate linear -o nowhere/data.csv",
    ] {
        refused(&bench, line, 1, &["nowhere", "cannot write"]);
    }
    refused(&bench, "path data.csv -k 1:3 --plot picture.png", 2, &["picture.svg"]);
    // What was there before stays when its replacement fails.
    bench.file("kept.json", "precious");
    refused(&bench, "fit data.csv -k 3 --lambda -1 -o kept.json", 2, &[]);
    assert_eq!(bench.read("kept.json"), "precious");
}

/// `/proc` takes no files from anybody, root included, so this holds for whoever runs the tests.
#[cfg(target_os = "linux")]
#[test]
fn a_directory_that_may_not_be_written_to() {
    let bench = Bench::with_data();
    for line in
        ["fit data.csv -k 3 -o /proc/model.json", "convert data.csv /proc/data.ksb", "split data.csv --dir /proc"]
    {
        refused(&bench, line, 1, &["/proc", "cannot write"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_noticed() {
    let bench = Bench::with_data();
    bench.ok("fit data.csv -k 3 -o model.json");
    // The result is printed all the same: an hour of work is not lost with a disk.
    let done = bench.run("fit data.csv -k 3 -o /dev/full");
    assert!(done.code == 1 && done.stderr.contains("/dev/full") && done.stderr.contains("space"), "{}", done.stderr);
    assert!(done.stdout.contains("objective") && !done.stdout.contains("/dev/full"), "{}", done.stdout);
    refused(&bench, "predict model.json data.csv -o /dev/full", 1, &["/dev/full", "space"]);
    refused(&bench, "convert data.csv /dev/full --to svmlight", 1, &["/dev/full", "space"]);
}

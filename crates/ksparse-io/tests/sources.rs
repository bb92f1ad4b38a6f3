//! What holds of all sources of the workspace: code the compiler cannot check stays in two files, and the lints that
//! see to it stay on in every crate; the libraries can be packaged.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Mapping a file into memory, and calling the driver of a device.
const ALLOWED: [&str; 2] = ["crates/ksparse-io/src/mapped.rs", "crates/ksparse-cuda/src/driver.rs"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The files of a name or ending under a directory, build outputs and environments left out.
fn files(dir: &Path, end: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap()) {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let about = entry.file_type().unwrap();
        if about.is_dir() && name != "target" && name != "shared" && !name.starts_with('.') {
            files(&path, end, found);
        } else if about.is_file() && name.ends_with(end) {
            found.push(path);
        }
    }
}

fn all(end: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    files(&root(), end, &mut found);
    assert!(found.len() > 5, "this test looks in the wrong place");
    let named = |path: PathBuf| {
        let name = path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
        (name, fs::read_to_string(&path).unwrap())
    };
    found.into_iter().map(named).collect()
}

#[test]
fn the_word_stands_in_two_files() {
    let word = "unsafe";
    let here = "crates/ksparse-io/tests/sources.rs";
    for (name, text) in all(".rs").into_iter().filter(|(name, _)| !ALLOWED.contains(&&**name) && name != here) {
        for (i, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
            // `_code` is the lint, which may be named only to be kept on.
            let found = words.into_iter().any(|found| found == word || found == format!("{word}_code"));
            assert!(!found, "{name}, line {}: {word} code belongs to {ALLOWED:?} alone", i + 1);
        }
    }
}

#[test]
fn every_crate_keeps_the_lint() {
    for (name, text) in all("Cargo.toml") {
        let forbids = text.contains("[lints]\nworkspace = true") || text.contains("unsafe_code = \"forbid\"");
        let with_some = ["crates/ksparse-io/Cargo.toml", "crates/ksparse-cuda/Cargo.toml"].contains(&&*name);
        let denies = with_some && text.contains("unsafe_code = \"deny\"");
        // The fuzz targets and the wrappers for R are made by macros of others.
        let by_macro = ["crates/ksparse-io/fuzz/Cargo.toml", "r/ksparse/src/rust/Cargo.toml"].contains(&&*name);
        assert!(forbids || denies || by_macro, "{name}: the lint against it is off");
    }
}

/// ARCHITECTURE.md says of each invariant which test holds it: a file and a name in it.
#[test]
fn invariants_name_tests_that_exist() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let section = text.split("## What holds, and what holds it").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut tests = 0;
    for cell in section.lines().filter(|line| line.starts_with("| ")).filter_map(|line| line.split(" | ").nth(1)) {
        let words: Vec<&str> = cell.split('`').collect();
        if let [_, file, ": ", name, ..] = words[..] {
            let source = fs::read_to_string(root().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
            assert!(source.contains(&format!("fn {name}()")), "{file} has no {name}");
            tests += 1;
        }
    }
    assert!(tests > 10, "{tests}: this test looks in the wrong place");
}

/// docs/papers.md says of each element of the papers where it is, how it is run and what tests it: nothing is left out,
/// and what is named exists.
#[test]
fn the_papers_have_their_places() {
    let text = fs::read_to_string(root().join("docs/papers.md")).unwrap();
    // What the experiments say has a test beside them.
    let text = text.split("## What the experiments say").next().unwrap();
    let sources: Vec<(String, String)> = all(".rs");
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| element"))
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect();
    assert!(rows.len() > 40, "{}: this test looks in the wrong place", rows.len());
    for row in rows {
        let [element, code, crate_, command, python, test, experiment] = row[..] else {
            panic!("{row:?}: not seven cells");
        };
        for cell in [code, crate_, command, python, test, experiment] {
            assert!(!cell.is_empty() && cell != "-", "{element}: a cell without a reason");
        }
        for file in quoted(code) {
            assert!(root().join("crates/ksparse/src").join(file).is_file(), "{element}: no {file}");
        }
        let [file, name] = quoted(test)[..] else { panic!("{element}: a test is a file and a name") };
        let held = |(path, text): &(String, String)| path.ends_with(file) && text.contains(&format!("fn {name}()"));
        assert!(sources.iter().any(held), "{element}: {file} has no {name}");
        // Types and functions of the library: the last part of each path.
        for name in quoted(crate_).iter().flat_map(|name| name.split(['(', ' ', ',']).next()) {
            let last = name.rsplit("::").next().unwrap_or(name);
            let defined =
                ["fn ", "struct ", "enum ", "trait ", "const ", "type ", "pub "].map(|k| format!("{k}{last}"));
            let variant = format!("    {last}");
            let exists = |(path, text): &(String, String)| {
                path.starts_with("crates/ksparse/src")
                    && defined.iter().any(|d| text.contains(d) || text.contains(&variant))
            };
            assert!(sources.iter().any(exists), "{element}: the library has no {name}");
        }
    }
}

/// What stands between back quotes.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// What a registry would get: every file a package needs is in it, and dependencies within the workspace have versions.
#[test]
fn the_libraries_can_be_packaged() {
    let folder = tempfile::tempdir().unwrap();
    let libraries = ["ksparse", "ksparse-cuda", "ksparse-io", "ksparse-plot"];
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["package", "--offline", "--no-verify", "--allow-dirty", "--target-dir"]).arg(folder.path());
    libraries.iter().for_each(|name| {
        cargo.args(["--package", name]);
    });
    let done = cargo.current_dir(root()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    for name in libraries {
        let file = folder.path().join(format!("package/{name}-{}.crate", env!("CARGO_PKG_VERSION")));
        assert!(file.is_file(), "{} is missing", file.display());
    }
}
#[test]
fn files_are_short_and_lines_narrow() {
    for end in [".rs", ".py", ".R"] {
        for (name, text) in all(end) {
            let lines = text.lines().count();
            assert!(lines <= 400, "{name} has {lines} lines: what does it do that belongs elsewhere?");
            for (number, line) in text.lines().enumerate() {
                let width = line.chars().count();
                assert!(width <= 120, "{name}:{} is {width} columns wide", number + 1);
            }
        }
    }
}

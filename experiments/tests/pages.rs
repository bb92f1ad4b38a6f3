//! The pages that are kept say what the rows that are kept say: drawn again from the rows, they are the same.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn pages_and_figures_are_those_of_the_rows() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let names = |folder: &Path| -> Vec<String> {
        let files = fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").file_name());
        let mut names: Vec<String> = files.map(|name| name.into_string().expect("utf-8")).collect();
        names.sort();
        names
    };
    let folder = tempfile::tempdir().expect("a folder");
    for name in names(&kept).iter().filter(|name| name.ends_with(".csv.zst") || name.ends_with(".about")) {
        fs::copy(kept.join(name), folder.path().join(name)).expect("copied");
    }
    let drawn = Command::new(env!("CARGO_BIN_EXE_ksparse-experiments"))
        .args(["all", "--draw", "--out", folder.path().to_str().expect("utf-8")])
        .output()
        .expect("the binary runs");
    assert!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr));
    let shown = |name: &&String| name.ends_with(".md") || name.ends_with(".svg");
    let (old, new) = (names(&kept), names(folder.path()));
    let (old, new): (Vec<&String>, Vec<&String>) =
        (old.iter().filter(shown).collect(), new.iter().filter(shown).collect());
    assert_eq!(old, new, "the files of the pages");
    for name in new {
        let text = |folder: &Path| fs::read_to_string(folder.join(name)).expect("text");
        let (old, new) = (text(&kept), text(folder.path()));
        let changed = old.lines().zip(new.lines()).find(|(old, new)| old != new);
        assert!(
            old == new,
            "{name} is not what its rows say: draw it again with `ksparse-experiments all --draw --out \
             experiments/results`. {changed:?}"
        );
    }
}

/// The numbers of a text that have a point or an exponent: those that were measured.
fn measured(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !(c.is_ascii_digit() || ".e-".contains(c)));
    let trimmed = words.map(|word| word.trim_matches(|c: char| !c.is_ascii_digit()));
    trimmed.filter(|word| word.contains(['.', 'e']) && word.parse::<f64>().is_ok()).collect()
}

#[test]
fn the_summary_has_the_numbers_of_the_pages() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let summary = fs::read_to_string(root.join("../docs/papers.md")).expect("the page of the papers");
    let (_, summary) = summary.split_once("## What the experiments say").expect("the summary");
    let mut rows = 0;
    for line in summary.lines().filter(|line| line.starts_with("| E")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let page = fs::read_to_string(root.join(format!("results/{}.md", cells[1]))).expect("a page");
        let said = format!("{} {}", cells[3], cells[4]);
        let numbers = measured(&said);
        for number in &numbers {
            assert!(measured(&page).contains(number), "{number} is not on the page of {}: {line}", cells[1]);
        }
        rows += usize::from(!numbers.is_empty());
    }
    assert!(rows >= 10, "{rows} rows with numbers");
}

//! The real binary: every experiment with `--quick`, resumed after a kill in the middle of a line, the report, bad
//! arguments.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn experiments(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ksparse-experiments")).args(arguments).output().expect("the binary runs")
}

fn succeed(arguments: &[&str]) -> String {
    let output = experiments(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).expect("utf-8")
}

/// The CSV without its seconds: what must not change from run to run.
fn rows(folder: &Path, id: &str) -> Vec<String> {
    let text = fs::read_to_string(folder.join(format!("{id}.csv"))).expect("a CSV");
    let seconds = text.lines().next().expect("a header").split(',').position(|c| c == "seconds").expect("a column");
    let strip = |line: &str| {
        let mut fields: Vec<&str> = line.split(',').collect();
        fields.remove(seconds);
        fields.join(",")
    };
    text.lines().map(strip).collect()
}

#[test]
fn every_experiment_runs_quickly_and_the_report_shows_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_str().expect("utf-8");
    let list = succeed(&["list"]);
    let ids: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(ids.contains(&"E1"));
    succeed(&["all", "--quick", "--replicas", "1", "--out", out, "--jobs", "2"]);
    for id in &ids {
        let page = fs::read_to_string(folder.path().join(format!("{id}.html"))).expect("a page");
        assert!(page.contains("<svg") && page.contains("class=\"findings\""), "{id}: figures and findings");
        assert!(
            !page.contains("<script src") && !page.contains("<link") && !page.contains("@import"),
            "{id}: nothing is fetched"
        );
        assert!(rows(folder.path(), id).len() > 1, "{id}: rows");
        let text = fs::read_to_string(folder.path().join(format!("{id}.md"))).expect("the page as Markdown");
        assert!(
            text.starts_with(&format!("# {id}: ")) && text.contains("\n| ") && text.contains("\n- *"),
            "{id}: {text}"
        );
        let figures: Vec<&str> = text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
        assert!(
            !figures.is_empty() && figures.iter().all(|file| folder.path().join(file).exists()),
            "{id}: {figures:?}"
        );
        let about = fs::read_to_string(folder.path().join(format!("{id}.about"))).expect("about");
        assert!(about.contains("version: ksparse ") && about.contains("date: 20"));
    }
    succeed(&["report", "--out", out]);
    let report = fs::read_to_string(folder.path().join("report.html")).expect("a report");
    for id in &ids {
        assert!(report.contains(&format!("<section id=\"{id}\">")), "{id} in the report");
    }
    check_in_browser(&folder.path().join("report.html"), &ids);
}

/// The page as a real browser understands it: all sections and figures there, nothing wider than the window, nothing
/// fetched.
fn check_in_browser(file: &Path, ids: &[&str]) {
    let look = "const d=document,s=[...d.querySelectorAll('figure svg')];const flat=s.filter(e=>{const \
        b=e.getBoundingClientRect();return \
        b.width<100||b.height<60}).length;d.title=[...d.querySelectorAll('section')].map(e=>e.id).join(',')+'; \
        figures '+(s.length>0)+'; flat '+flat+'; '+";
    let page = fs::read_to_string(file).expect("the report");
    let script = format!("{look}{}", headless::MANNERS);
    let Some(title) = headless::title(&page, &script).expect("the browser runs") else { return };
    assert_eq!(title, format!("{}; figures true; flat 0; 0 fetched, overflow false", ids.join(",")));
}

#[test]
fn cells_are_named_by_what_a_run_shows() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_str().expect("utf-8");
    for (only, cells) in [("simulation grahtp n=100 p=15", 2), ("p=15 k=0 seed 2,glasso n=100 p=30", 10), ("p=16", 0)] {
        let said = succeed(&["E4", "--quick", "--seed", "1", "--only", only, "--out", out]);
        assert!(said.contains(&format!(": {cells} cells,")), "{only}: {said}");
    }
}

#[test]
fn an_interrupted_run_goes_on_where_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_str().expect("utf-8");
    let run = ["E5", "--quick", "--replicas", "1", "--seed", "7", "--out", out];
    assert!(succeed(&run).contains(" to run"));
    let whole = rows(folder.path(), "E5");
    let file = folder.path().join("E5.csv");
    let text = fs::read_to_string(&file).expect("a CSV");

    // Killed in the middle of a line, somewhere in the file.
    for share in [0.3, 0.77, 0.999] {
        let cut = (text.len() as f64 * share) as usize;
        fs::write(&file, &text[..cut]).expect("written");
        let finished = text[..cut].lines().count().saturating_sub(2);
        let said = succeed(&run);
        let to_run: usize =
            said.split(" cells, ").nth(1).and_then(|s| s.split(' ').next()?.parse().ok()).expect("a number");
        assert!(
            to_run > 0 && to_run + finished <= whole.len() + 2,
            "{to_run} cells run again with {finished} rows there"
        );
        assert_eq!(rows(folder.path(), "E5"), whole, "the same rows in the same order");
    }
    assert!(succeed(&run).contains(" 0 to run"));
    assert_eq!(rows(folder.path(), "E5"), whole);

    // Compressed, which is how results are kept: the same rows, and it stays so.
    let packed = folder.path().join("E5.csv.zst");
    fs::write(&packed, zstd::encode_all(text.as_bytes(), 3).expect("compressed")).expect("written");
    fs::remove_file(&file).expect("removed");
    assert!(succeed(&run).contains(" 0 to run"));
    let more = ["E5", "--quick", "--replicas", "2", "--seed", "7", "--out", out];
    succeed(&more);
    assert!(!file.exists(), "compressed as before");
    let unpacked = zstd::decode_all(fs::File::open(&packed).expect("there")).expect("sound");
    fs::write(&file, unpacked).expect("written");
    assert!(rows(folder.path(), "E5").len() > whole.len());
    fs::remove_file(&packed).expect("removed");

    // More replicas later: the old cells stay.
    succeed(&more);
    assert_eq!(rows(folder.path(), "E5").iter().filter(|row| whole.contains(row)).count(), whole.len());

    // Results of another version are not mixed in.
    fs::write(&file, "a,b,c\n1,2,3\n").expect("written");
    let refused = experiments(&run);
    assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("move it away"));
    assert_eq!(fs::read_to_string(&file).expect("still there"), "a,b,c\n1,2,3\n");
}

#[test]
fn bad_arguments_are_named() {
    for (arguments, word) in [
        (&["E99"][..], "E99"),
        (&["E1", "--replicas", "0"], "replicas"),
        (&["E1", "--seed", "x"], "seed"),
        (&[], "WHAT"),
    ] {
        let output = experiments(arguments);
        assert!(!output.status.success());
        assert!(String::from_utf8_lossy(&output.stderr).contains(word), "{arguments:?}");
    }
}

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

//! The flow of ARCHITECTURE.md, one way: each room imports only rooms to its left, but for the doors named there.
use std::fs;
use std::path::{Path, PathBuf};

/// Every room, left to right.
const FLOW: [&str; 20] = [
    "error",
    "cancel",
    "threads",
    "sparsity",
    "kernels",
    "linalg",
    "design",
    "loss",
    "restricted",
    "objective",
    "theory",
    "simulate",
    "dual",
    "relaxation",
    "solver",
    "certificate",
    "path",
    "select",
    "graphical",
    "lib",
];

/// The doors that lead back: who, and to what.
const DOORS: [(&str, &str); 2] = [("objective", "solver"), ("objective", "theory")];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") && path.file_stem().is_some_and(|s| s != "tests") {
            found.push(path);
        }
    }
    found
}

/// The room of a file: its folder under `src`, or its own name.
fn room(path: &Path, root: &Path) -> String {
    let first = path.strip_prefix(root).unwrap().components().next().unwrap();
    first.as_os_str().to_str().unwrap().trim_end_matches(".rs").to_string()
}

/// The rooms that a file names by `crate::`, its tests and its comments aside.
fn named(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap().split("#[cfg(all(test").next().unwrap();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let word = |rest: &str| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    lines.flat_map(|line| line.split("crate::").skip(1).map(word).collect::<Vec<_>>()).collect()
}

#[test]
fn imports_follow_the_flow() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let place = |room: &str| FLOW.iter().position(|known| *known == room);
    for path in sources(&root) {
        let from = room(&path, &root);
        let here = place(&from).unwrap_or_else(|| panic!("{from} has no place in the flow"));
        for to in named(&fs::read_to_string(&path).unwrap()) {
            // Names that `lib.rs` exports belong to no room.
            let Some(there) = place(&to) else { continue };
            let allowed = there <= here || DOORS.contains(&(&from, &to));
            assert!(allowed, "{} imports {to}, which is to its right", path.display());
        }
    }
}

#[test]
fn no_downcast_and_no_faer_in_public_traits() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for path in sources(&root) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("as_risk") && !text.contains("dyn Any"), "{}: a downcast", path.display());
        // From `pub trait` to the brace that closes it at the start of a line.
        for body in text.split("\npub trait ").skip(1).map(|rest| rest.split("\n}").next().unwrap()) {
            for word in ["Mat<", "MatMut<", "MatRef<", "Simd"] {
                assert!(!body.contains(word), "{}: a public trait shows {word}", path.display());
            }
        }
    }
}

/// What an option is called is a front end's business.
#[test]
fn no_library_names_a_flag() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for path in ["ksparse/src", "ksparse-io/src", "ksparse-plot/src"].iter().flat_map(|src| sources(&crates.join(src)))
    {
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
            let flag = line.split("--").skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()));
            assert!(!flag, "{}: {line}", path.display());
        }
    }
}

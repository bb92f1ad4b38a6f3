"""Puts the library and the crates it needs into a copy of the R package, so that it builds without a network.

Usage: vendor.py PACKAGE LIBRARY, both folders: a copy of r/ksparse, and the library as `cargo package` unpacks.

A source package for CRAN must be small. What no supported system compiles is left as a stub that satisfies the lock
file, and what no build reads (tests, benches, documents) is left out.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

TARGETS = [
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
]
UNREAD = {"tests", "benches", "examples", "docs", "doc", "ci", ".github", "Cargo.lock", "Cargo.toml.orig", ".gitignore"}
# Some crates have their README as documentation, which the compiler reads.
READ = {"README.md"}
CONFIG = '[source.crates-io]\nreplace-with = "vendored"\n\n[source.vendored]\ndirectory = "@VENDOR@"\n'


def without_tests(manifest: str) -> str:
    """A manifest without the targets and dependencies that only tests have."""
    sections = re.split(r"(?m)^(?=\[)", manifest)
    dropped = ("[[test]]", "[[example]]", "[[bench]]", "[dev-dependencies", "[lints", "[package.metadata")
    return "".join(section for section in sections if not section.startswith(dropped))


def place_library(crate: Path, library: Path) -> None:
    """The library beside the package's own crate, which then depends on it there."""
    own = crate / "ksparse"
    own.mkdir()
    shutil.copytree(library / "src", own / "src")
    (own / "Cargo.toml").write_text(without_tests((library / "Cargo.toml").read_text()))
    manifest = crate / "Cargo.toml"
    text = re.sub(r'path = "[./]*crates/ksparse"', 'path = "ksparse"', manifest.read_text())
    # As a member its optional dependencies would be locked, too.
    manifest.write_text(text.replace("[workspace]\n", '[workspace]\nexclude = ["ksparse"]\n'))


def used(crate: Path) -> set[str]:
    """Names and versions of the packages that some supported system compiles."""
    found = set()
    for target in TARGETS:
        command = ["cargo", "tree", "--locked", "--edges", "normal,build", "--prefix", "none", "--no-dedupe"]
        tree = subprocess.run([*command, "--target", target], cwd=crate, check=True, capture_output=True, text=True)
        found |= {" ".join(line.split()[:2]) for line in tree.stdout.splitlines() if line}
    return found


def prune(folder: Path, keep: bool) -> None:
    """Leaves a vendored crate what a build reads, or a stub of it."""
    checksum = folder / ".cargo-checksum.json"
    package = json.loads(checksum.read_text())["package"]
    for entry in folder.iterdir():
        image = entry.suffix in {".md", ".png", ".svg", ".txt", ".yml"} and entry.name not in READ
        unread = entry.name in UNREAD or image
        licence = entry.name.upper().startswith(("LICENSE", "COPYING", "NOTICE"))
        if entry.name in {"Cargo.toml", ".cargo-checksum.json"} or (keep and (licence or not unread)):
            continue
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    if not keep:
        manifest = without_tests((folder / "Cargo.toml").read_text())
        # A stub has no build script, and one empty library.
        manifest = re.sub(r'(?m)^(build|links) = .*\n', "", manifest)
        (folder / "Cargo.toml").write_text(re.sub(r'(?m)^path = "(?!src/lib.rs).*\n', "", manifest))
        (folder / "src").mkdir()
        (folder / "src" / "lib.rs").write_text("")
    checksum.write_text(json.dumps({"files": {}, "package": package}))


def main() -> None:
    package, library = Path(sys.argv[1]), Path(sys.argv[2])
    crate = package / "src" / "rust"
    place_library(crate, library)
    subprocess.run(["cargo", "vendor", "--quiet", "--locked", "vendor"], cwd=crate, check=True, capture_output=True)
    kept = used(crate)
    for folder in sorted((crate / "vendor").iterdir()):
        manifest = (folder / "Cargo.toml").read_text()
        name = re.search(r'(?m)^name = "(.*)"', manifest)[1]
        version = re.search(r'(?m)^version = "(.*)"', manifest)[1]
        prune(folder, f"{name} v{version}" in kept)
    (crate / "vendor-config.toml").write_text(CONFIG)
    tar = ["tar", "--sort=name", "--mtime=2026-01-01", "--owner=0", "--group=0", "-cJf", "vendor.tar.xz", "vendor"]
    subprocess.run(tar, cwd=crate, check=True, env={"XZ_OPT": "-9e", "PATH": "/usr/bin:/bin"})
    shutil.rmtree(crate / "vendor")


main()

"""Makes a release: the version written everywhere, packages built and checked, a commit and a tag.

    release.py VERSION              commits and tags; pushing the tag publishes (.github/workflows/release.yml)
    release.py VERSION --dry-run    all of it on a copy in target/release-dry-run; this tree is not touched
      --no-build                    without packages: seconds
      --quick                       packages are built but not compiled and installed from their sources

The address of the repository is not known yet: the file `ship/repository` has a placeholder, and nothing else names it.
A release that is not a dry run needs it there.
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACEHOLDER = "https://REPOSITORY"
#: In the order in which a registry takes them: each needs those before it.
CRATES = ["ksparse", "ksparse-plot", "ksparse-io", "ksparse-cuda", "ksparse-cli"]
#: Where the version stands, and how: the group is replaced.
PLACES = {
    "Cargo.toml": [
        r'(?m)^\[workspace\.package\]\nversion = "(.+?)"',
        r'(?m)^ksparse(?:-\w+)? = \{ path = "[\w/-]+", version = "(.+?)"',
    ],
    "r/ksparse/DESCRIPTION": [r"(?m)^Version: (.+)$"],
    "r/ksparse/src/rust/Cargo.toml": [r'(?m)^\[package\](?:\n.+)*?\nversion = "(.+?)"'],
    "CITATION.cff": [r"(?m)^version: (.+)$"],
    "ship/conda/recipe.yaml": [r'(?m)^  version: "(.+)"$'],
    "crates/ksparse-cli/tests/command/snapshots/command__tables__table-show.snap": [r"written by  ksparse (\S+)"],
    "crates/ksparse-cli/tests/command/snapshots/command__tables__table-show-labels.snap": [
        r"written by  ksparse (\S+)"
    ],
}
LOCKS = ["Cargo.lock", "r/ksparse/src/rust/Cargo.lock"]


class Refused(Exception):
    """Something that must be right before a release is not."""


def versions(root: Path) -> dict[str, list[str]]:
    """The versions that each file has."""
    found = {name: [match for pattern in patterns for match in re.findall(pattern, (root / name).read_text())]
             for name, patterns in PLACES.items()}  # fmt: skip
    for name in LOCKS:
        packages = (root / name).read_text().split("[[package]]")[1:]
        own = [package for package in packages if "source = " not in package]
        found[name] = [re.search(r'version = "(.+?)"', package)[1] for package in own]
    return found


def current(root: Path) -> str:
    """The one version that all files have."""
    found = versions(root)
    different = {version for own in found.values() for version in own}
    missing = [name for name, own in found.items() if not own]
    if len(different) != 1 or missing:
        raise Refused(f"Versions differ or are missing ({missing}): {found}")
    return different.pop()


def write(root: Path, old: str, new: str, today: str) -> None:
    """The new version in all places, and the changelog's section of it."""

    def put(match: re.Match[str]) -> str:
        start, end = match.span(1)
        return match[0][: start - match.start()] + new + match[0][end - match.start() :]

    for name, patterns in PLACES.items():
        text = (root / name).read_text()
        for pattern in patterns:
            text = re.sub(pattern, put, text)
        (root / name).write_text(text)
    for name in LOCKS:
        head, *packages = (root / name).read_text().split("[[package]]")
        packages = [p if "source = " in p else p.replace(f'version = "{old}"', f'version = "{new}"') for p in packages]
        (root / name).write_text("[[package]]".join([head, *packages]))
    log = root / "CHANGELOG.md"
    text = log.read_text()
    if not re.search(r"^## \[Unreleased\]\n+(### .+\n+)?- ", text, flags=re.MULTILINE):
        raise Refused("CHANGELOG.md says nothing under [Unreleased]: what is released?")
    log.write_text(text.replace("## [Unreleased]\n", f"## [Unreleased]\n\n## [{new}] - {today}\n", 1))


def check_order(old: str, new: str) -> None:
    """A version is three numbers, and not before the one that stands there, which may be unreleased itself."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", new):
        raise Refused(f"{new!r} is no version: three numbers, as in 0.2.0")
    if [*map(int, new.split("."))] < [*map(int, old.split("."))]:
        raise Refused(f"{new} is before {old}")


def run(*words: object, at: Path, **settings: str) -> None:
    print("+", *words, flush=True)
    subprocess.run([str(word) for word in words], cwd=at, env={**os.environ, **settings}, check=True)


def copied(root: Path) -> Path:
    """The files that git knows or would take, in a folder of their own."""
    copy = ROOT / "target/release-dry-run"
    shutil.rmtree(copy, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=root,
                            capture_output=True, text=True, check=True)  # fmt: skip
    for name in listed.stdout.splitlines():
        if (root / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, copy / name)
    # A repository of its own: scripts ask git which files are theirs.
    for words in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *words], cwd=copy, check=True)
    return copy


def build(root: Path, out: Path, quick: bool) -> None:
    """All packages, and the checks that need no registry."""
    cargo = os.environ.get("CARGO", "cargo")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    environment = ROOT / "target/ship-venv"
    if not (environment / "bin/python").exists():
        run(sys.executable, "-m", "venv", environment, at=root)
    python = environment / "bin/python"
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    run(*pip, "install", "-r", root / "ship/requirements.txt", at=root)
    workflows = sorted((root / ".github/workflows").glob("*.yml"))
    run(environment / "bin/check-jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows, at=root)
    recipe = "import rattler_build as r, sys; r.Stage0Recipe.from_file(sys.argv[1]).render(r.VariantConfig())"
    run(python, "-c", recipe, root / "ship/conda/recipe.yaml", at=root)
    named = [word for crate in CRATES for word in ("--package", crate)]
    run(cargo, "package", "--no-verify", "--allow-dirty", "--target-dir", out / "crates", *named, at=root)
    manifest = root / "crates/ksparse-py/Cargo.toml"
    run(environment / "bin/maturin", "sdist", "--manifest-path", manifest, "--out", out, at=root)
    sources = next(out.glob("*.tar.gz"))
    run(python, "-m", "twine", "check", "--strict", sources, at=root)
    with tarfile.open(sources) as archive:
        archive.extractall(out / "unpacked", filter="data")
    # The source package has all it needs: its workspace resolves without this one.
    unpacked = next((out / "unpacked").iterdir())
    run(cargo, "tree", "--depth", "0", at=unpacked)
    if quick:
        return
    # As a user without a wheel for their system does, in a clean environment. It is to be seen that it builds and
    # works, not how fast it is: little is optimised.
    settings = {"CARGO_TARGET_DIR": str(ROOT / "target/ship"), "CARGO_PROFILE_RELEASE_LTO": "off",
                "CARGO_PROFILE_RELEASE_OPT_LEVEL": "1", "CARGO_NET_OFFLINE": "true"}  # fmt: skip
    # A local index, and from then on no other: what it builds with and needs, then what was built.
    index = out / "index"
    project = (unpacked / "pyproject.toml").read_text()
    needed = [word for name in ("requires", "dependencies")
              for word in re.findall(r'"(.+?)"', re.search(rf"(?m)^{name} = \[(.*)\]", project)[1])]  # fmt: skip
    run(*pip, "download", "--only-binary", ":all:", "--dest", index, *needed, at=root)
    offline = ["--no-index", "--find-links", index]
    run(*pip, "wheel", *offline, "--no-deps", "--wheel-dir", index, sources, at=out, **settings)
    wheel = next(index.glob("ksparse-*.whl"))
    shutil.copy(wheel, out)
    run(python, "-m", "twine", "check", "--strict", wheel, at=root)
    run(environment / "bin/abi3audit", "--strict", wheel, at=root)
    clean = out / "clean"
    run(sys.executable, "-m", "venv", clean, at=root)
    run(clean / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *offline, "ksparse",
        at=root)  # fmt: skip
    program = "import ksparse as s; X, y, w = s.datasets.make_regression(); s.SparseLinearRegression(10).fit(X, y)"
    run(clean / "bin/python", "-c", program, at=out)
    if shutil.which("R"):
        run(root / "r/package", at=root)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("version")
    parser.add_argument("--dry-run", action="store_true", help="on a copy: this tree is not touched")
    parser.add_argument("--no-build", action="store_true", help="write versions only")
    parser.add_argument("--quick", action="store_true", help="compile nothing")
    options = parser.parse_args()
    try:
        old = current(ROOT)
        check_order(old, options.version)
        named = (ROOT / "ship/repository").read_text().strip() != PLACEHOLDER
        changed = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True).stdout
        if not options.dry_run and (not named or changed):
            raise Refused("uncommitted changes" if changed else "ship/repository does not say where the repository is")
        if not named:
            print("note: ship/repository does not say where the repository is; a release needs it", flush=True)
        root = copied(ROOT) if options.dry_run else ROOT
        write(root, old, options.version, datetime.date.today().isoformat())
        assert current(root) == options.version
        if not options.no_build:
            build(root, ROOT / "target/packages", options.quick)
    except Refused as refused:
        print(f"error: {refused}", file=sys.stderr)
        return 1
    if options.dry_run:
        print(f"{old} -> {options.version} in {root.relative_to(ROOT)}; nothing else was changed")
        return 0
    run("git", "commit", "--all", "--message", f"Release {options.version}", at=ROOT)
    run("git", "tag", "--annotate", f"v{options.version}", "--message", f"ksparse {options.version}", at=ROOT)
    print(f"Publish with: git push --follow-tags (the workflow release.yml does the rest for v{options.version})")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Makes the site: the pages gathered, examples run, references written, Sphinx, the crates' documentation beside it.

    build.py [--fast]       from docs/ to target/site/html; --fast leaves the gallery's pictures as they are

Needs the packages of docs/requirements.txt, the package ksparse, and the command as KSPARSE_COMMAND.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import browser
import gallery
import links

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SITE = ROOT / "target/site"
SOURCE = SITE / "source"
HTML = SITE / "html"
#: Files of the repository that pages lead to get a place of their own in the site.
BESIDE = "project"


def gather() -> None:
    """Copies the pages; links out of docs/ lead to copies of what they name."""
    wanted: list[Path] = []
    for file in sorted(DOCS.rglob("*")):
        relative = file.relative_to(DOCS)
        if file.is_dir() or relative.parts[0] == "gallery" or "__pycache__" in relative.parts:
            continue
        copy(file, SOURCE / relative, wanted)
    done: set[Path] = set()
    while wanted:
        file = wanted.pop()
        if file not in done:
            done.add(file)
            copy(file, SOURCE / BESIDE / file.relative_to(ROOT), wanted, orphan=True)


def copy(file: Path, place: Path, wanted: list[Path], orphan: bool = False) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix != ".md":
        shutil.copy(file, place)
        return

    def moved(match: re.Match[str]) -> str:
        path, _, anchor = match["target"].partition("#")
        if not path or "://" in path or path.startswith("mailto:"):
            return match[0]
        named = (file.parent / path).resolve()
        inside = named.is_relative_to(DOCS)
        if inside and not orphan:
            return match[0]
        if named.is_dir():
            named /= "README.md"
        if not named.is_file():
            return f"{match['text']}"
        if not inside:
            wanted.append(named)
        new = SOURCE / (named.relative_to(DOCS) if inside else Path(BESIDE, named.relative_to(ROOT)))
        relative = os.path.relpath(new, place.parent)
        return f"{match['mark']}[{match['text']}]({relative}{'#' + anchor if anchor else ''})"

    text = re.sub(r"(?P<mark>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s]+)\)", moved, file.read_text())
    place.write_text(("---\norphan: true\n---\n" if orphan else "") + text)


def command_reference() -> None:
    """What every command says of itself."""
    command = os.environ["KSPARSE_COMMAND"]
    settings = {**os.environ, "COLUMNS": "96", "NO_COLOR": "1"}

    def said(*words: str) -> str:
        words = (command, *words, "--help")
        return subprocess.run(words, env=settings, capture_output=True, text=True, check=True).stdout

    overview = said()
    names = re.findall(r"^  (\w+)  ", overview.split("Commands:")[1].split("Options:")[0], flags=re.MULTILINE)
    parts = [(DOCS / "reference/command.md").read_text(), f"```text\n{overview.rstrip()}\n```"]
    for name in names:
        if name != "help":
            parts.append(f"## ksparse {name}\n\n```text\n{said(name).rstrip()}\n```")
    (SOURCE / "reference/command.md").write_text("\n\n".join(parts) + "\n")


def r_reference() -> None:
    """The manual pages of the R package, where there is an R to turn them into HTML."""
    page = (DOCS / "reference/r.md").read_text()
    if shutil.which("R") is None:
        page += "\nThese pages were made without R, which turns the manual into HTML: see `r/ksparse/man`.\n"
    else:
        for file in sorted((ROOT / "r/ksparse/man").glob("*.Rd")):
            words = ["R", "CMD", "Rdconv", "--type=html", file]
            html = subprocess.run(words, capture_output=True, text=True, check=True)
            body = re.search(r"<h2[^>]*>.*?</h2>(.*)</div>\s*</body>", html.stdout, re.DOTALL)
            title = re.search(r"<h2[^>]*>(.*?)</h2>", html.stdout, re.DOTALL)
            assert body and title, file
            text = re.sub(r"<a href=\"[^\"#]*\.html\">(.*?)</a>", r"\1", body[1])
            text = re.sub(r"<a href=\"\.\./[^\"]*\">(.*?)</a>", r"\1", text)
            text = re.sub(r"\n\s*\n", "\n", text.replace("h3>", "h4>"))
            page += f"\n## {file.stem}\n\n{title[1].strip()}\n\n```{{raw}} html\n{text.strip()}\n```\n"
    (SOURCE / "reference/r.md").write_text(page)


def crates() -> None:
    """The documentation of the libraries, made by `make doc`."""
    made = ROOT / "target/doc"
    if not made.is_dir():
        raise SystemExit("The documentation of the crates is missing: make doc")
    kept = ["ksparse", "ksparse_io", "ksparse_cuda", "ksparse_plot", "static.files", "src", "search.index",
            "trait.impl", "type.impl"]  # fmt: skip
    for name in kept:
        if (made / name).is_dir():
            shutil.copytree(made / name, HTML / "rust" / name, dirs_exist_ok=True)
    for file in made.glob("*.*"):
        if file.is_file():
            shutil.copy(file, HTML / "rust" / file.name)


def main() -> None:
    fast = "--fast" in sys.argv[1:]
    for folder in (SOURCE, HTML):
        for child in folder.glob("*") if folder.is_dir() else []:
            if not (fast and child.name == "gallery"):
                shutil.rmtree(child) if child.is_dir() else child.unlink()
    gather()
    if not (fast and (SOURCE / "gallery").is_dir()):
        gallery.build(DOCS / "gallery", SOURCE / "gallery")
    command_reference()
    r_reference()
    sphinx = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-E", "-j", "auto", "-b", "html"]
    subprocess.run([*sphinx, "-d", SITE / "doctrees", SOURCE, HTML], check=True)
    (HTML / ".nojekyll").touch()
    crates()
    if broken := links.broken_in_site(HTML):
        raise SystemExit("Links that lead nowhere:\n" + "\n".join(broken))
    if wrong := browser.wrong(HTML):
        raise SystemExit("Seen in a browser:\n" + "\n".join(wrong))
    print(f"{len(list(HTML.rglob('*.html')))} pages: {(HTML / 'index.html').relative_to(ROOT)}")


if __name__ == "__main__":
    main()

"""Links that lead nowhere: in the Markdown of the repository, and in the site that was made of it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LINK = re.compile(r"(?<!`)\[[^\]`]*(?:`[^`]*`[^\]`]*)*\]\(([^)\s]+)\)")


def slug(heading: str) -> str:
    """The anchor of a heading, as hosts of repositories make it."""
    words = re.sub(r"[^\w\- ]", "", heading.strip().lower().replace("`", ""))
    return words.replace(" ", "-")


def headings(text: str) -> set[str]:
    """The anchors of a page."""
    bare = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return {slug(match) for match in re.findall(r"^#+ +(.+?) *$", bare, flags=re.MULTILINE)}


def broken_in_markdown(page: Path, made: frozenset[Path] = frozenset()) -> list[str]:
    """Links of a page to files or headings that are not there. `made` are pages that only the site has."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    wrong = []
    for target in LINK.findall(text):
        path, _, anchor = target.partition("#")
        if "://" in path or path.startswith("mailto:"):
            continue
        named = (page.parent / unquote(path)).resolve() if path else page.resolve()
        if named in made:
            continue
        if not named.exists():
            wrong.append(f"{page}: {target}: no such file")
        elif anchor and named.suffix == ".md" and anchor not in headings(named.read_text()):
            wrong.append(f"{page}: {target}: no such heading")
    return wrong


class Page(HTMLParser):
    """The anchors of a page, and where it leads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.targets: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value or "")
            if (tag, name) in (("a", "href"), ("img", "src"), ("script", "src"), ("link", "href")):
                self.targets.append(value or "")


def broken_in_site(site: Path) -> list[str]:
    """Links of the site to files or anchors that are not there; rustdoc sees to its own."""
    own = [file for file in site.rglob("*.html") if "rust" not in file.relative_to(site).parts]
    pages = {file: Page(file.read_text()) for file in own}
    wrong = set()
    for file, page in pages.items():
        for target in page.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            named = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if not named.exists():
                wrong.add(f"{file.relative_to(site)}: {target}")
            elif parts.fragment and named in pages and unquote(parts.fragment) not in pages[named].anchors:
                wrong.add(f"{file.relative_to(site)}: {target}: no such anchor")
    return sorted(wrong)

"""The pages of the site: blocks print what they say, links lead somewhere, the examples of the gallery run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "site"))

import blocks  # noqa: E402
import gallery  # noqa: E402
import links  # noqa: E402

# The README's blocks of Python are run with those of its package.
PAGES = [*sorted(DOCS.rglob("*.md")), ROOT / "README.md"]
#: Pages that the site has and the repository has not: those of the examples.
MADE = frozenset(file.with_suffix(".md") for file in gallery.examples(DOCS / "gallery"))


def with_blocks(language):
    return [page for page in PAGES if any(block.language == language for block in blocks.blocks(page.read_text()))]


def check(page, language):
    for outcome in blocks.run(page, (language,)):
        assert outcome.same, f"{page}, line {outcome.block.line}: the block now prints\n{outcome.text}"


@pytest.mark.parametrize("page", with_blocks("python"), ids=lambda page: page.stem)
def test_python_blocks(page):
    pytest.importorskip("matplotlib")
    check(page, "python")


@pytest.mark.parametrize("page", with_blocks("console"), ids=lambda page: page.stem)
def test_console_blocks(page):
    if "KSPARSE_COMMAND" not in os.environ:
        pytest.skip("KSPARSE_COMMAND does not name the command")
    check(page, "console")


@pytest.mark.parametrize("file", gallery.examples(DOCS / "gallery"), ids=lambda file: file.stem)
def test_examples_of_the_gallery(file, tmp_path):
    pytest.importorskip("matplotlib")
    assert gallery.read(file).text
    printed, pictures = gallery.run(file, tmp_path)
    assert printed and all(picture.stat().st_size > 5000 for picture in pictures)


def shown(page, beginning):
    """The block of text on a page that begins so."""
    fences = re.findall(r"^```text\n(.*?)^```$", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return next(fence for fence in fences if fence.startswith(beginning))


def test_the_demo_prints_what_the_readme_shows(tmp_path):
    if "KSPARSE_COMMAND" not in os.environ:
        pytest.skip("KSPARSE_COMMAND does not name the command")
    words = [os.environ["KSPARSE_COMMAND"], "demo", "--dir", "target/demo"]
    printed = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert blocks.same(shown(ROOT / "README.md", "Data: 500 rows"), printed), printed


def test_a_large_cluster_on_paper():
    printed = subprocess.run([sys.executable, ROOT / "bench/shards.py", "paper"], capture_output=True, text=True)
    assert printed.stdout == shown(DOCS / "large-data.md", "1e+09 rows"), printed


def test_the_gallery_is_large():
    assert len(gallery.examples(DOCS / "gallery")) >= 15


def test_links_lead_somewhere():
    hidden = {"target", "shared", "scratch"}
    pages = [page for page in ROOT.rglob("*.md") if not any(part.startswith(".") or part in hidden
             for part in page.relative_to(ROOT).parts)]  # fmt: skip
    assert len(pages) > 30
    assert [wrong for page in pages for wrong in links.broken_in_markdown(page, MADE)] == []


def test_every_block_has_a_language():
    # `sh` is shown and not run: what installs, what takes long.
    known = {"python", "python spark", "console", "r", "rust", "text", "sh", "{toctree}", "{eval-rst}", "{raw} html"}
    for page in DOCS.rglob("*.md"):
        fences = re.findall(r"^```(.*)$", page.read_text(), flags=re.MULTILINE)
        assert set(fences[::2]) <= known and not any(fences[1::2]), page


def test_a_block_that_prints_something_else_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "```python\n>>> 1 + 1\n3\n>>> 1 / 0\nTraceback (most recent call last):\n    ...\n"
        "ZeroDivisionError: division by zero\n```\n\n```console\n$ echo one; echo 0.25 s\ntwo\n9 s\n```\n"
    )
    os.environ.setdefault("KSPARSE_COMMAND", sys.executable)
    found = blocks.run(page, ("python", "console"))
    assert [outcome.same for outcome in found] == [False, False]
    page.write_text(blocks.updated(page.read_text(), found))
    assert ">>> 1 + 1\n2\n>>> 1 / 0\nTraceback" in page.read_text() and "\none\n0.25 s\n" in page.read_text()
    assert all(outcome.same for outcome in blocks.run(page, ("python", "console")))
    page.write_text(page.read_text().replace("0.25 s", "7.5 s"))
    assert all(outcome.same for outcome in blocks.run(page, ("python", "console")))


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# One heading\n\n[a](#one-heading) [b](other.md) [c](#two) [d](https://example.org/x)\n")
    assert [wrong.split(": ", 1)[1] for wrong in links.broken_in_markdown(page)] == [
        "other.md: no such file",
        "#two: no such heading",
    ]

"""The blocks of the pages that need a Spark print what they say."""

import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[3] / "docs"
sys.path.insert(0, str(DOCS / "site"))

import blocks  # noqa: E402

PAGES = [page for page in sorted(DOCS.rglob("*.md")) if "```python spark\n" in page.read_text()]


def test_there_are_some():
    assert PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_spark_blocks(page):
    for outcome in blocks.run(page, ("python spark",)):
        assert outcome.same, f"{page}, line {outcome.block.line}: the block now prints\n{outcome.text}"

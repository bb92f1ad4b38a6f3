"""Examples of the gallery: files with a title, a text, a program; run, their output and pictures kept.

An example is ``docs/gallery/NAME.py``. The first line of its docstring is the title, the rest a text in Markdown. It
prints something and leaves at least one figure open.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import runpy
import warnings
from dataclasses import dataclass
from pathlib import Path

#: Settings of matplotlib under which each figure is drawn.
STYLES = {"light": ["default"], "dark": ["dark_background"]}
DRAWN = {"figure.dpi": 100, "savefig.dpi": 150, "font.size": 10, "svg.hashsalt": "ksparse"}


@dataclass
class Example:
    """An example as it is written."""

    name: str
    title: str
    text: str
    code: str


def read(file: Path) -> Example:
    """An example from its file."""
    source = file.read_text()
    tree = ast.parse(source)
    said = ast.get_docstring(tree)
    if not said:
        raise ValueError(f"{file}: an example begins with a docstring, its title and text")
    title, _, text = said.partition("\n")
    body = "".join(source.splitlines(True)[tree.body[0].end_lineno :]).strip("\n") + "\n"
    return Example(file.stem, title.rstrip("."), text.strip(), body)


def examples(folder: Path) -> list[Path]:
    """The files of a gallery, in order."""
    return sorted(folder.glob("*.py"))


def run(file: Path, pictures: Path, style: str = "light") -> tuple[str, list[Path]]:
    """What an example prints, and its figures as files."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    import matplotlib.pyplot as plt

    screen = io.StringIO()
    drawn = []
    with plt.style.context(STYLES[style], after_reset=True), plt.rc_context(DRAWN), warnings.catch_warnings():
        warnings.simplefilter("error")
        plt.close("all")
        with contextlib.redirect_stdout(screen):
            runpy.run_path(str(file), run_name="__main__")
        for number in plt.get_fignums():
            picture = pictures / f"{file.stem}-{number}-{style}.png"
            figure = plt.figure(number)
            # The page shows through: its own colour is behind the picture.
            figure.savefig(picture, transparent=True, bbox_inches="tight")
            drawn.append(picture)
        plt.close("all")
    if not drawn:
        raise ValueError(f"{file}: an example leaves a figure open")
    return screen.getvalue(), drawn


def page(example: Example, printed: str, count: int) -> str:
    """The page of an example, in Markdown."""
    parts = [f"# {example.title}", example.text, f"```python\n{example.code}```"]
    if printed:
        parts.append(f"```text\n{printed.rstrip()}\n```")
    for number in range(1, count + 1):
        for style in STYLES:
            picture = f"{example.name}-{number}-{style}.png"
            parts.append(f"```{{image}} pictures/{picture}\n:class: only-{style}\n:alt: {example.title}\n```")
    parts.append(f"{{download}}`{example.name}.py`")
    return "\n\n".join(part for part in parts if part) + "\n"


def build(source: Path, target: Path) -> None:
    """Runs all examples of a folder and writes their pages, and one with all of them, into another."""
    pictures = target / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    cards, names = [], []
    for file in examples(source):
        example = read(file)
        printed, drawn = run(file, pictures)
        run(file, pictures, "dark")
        (target / f"{example.name}.md").write_text(page(example, printed, len(drawn)))
        (target / file.name).write_text(file.read_text())
        names.append(example.name)
        images = "".join(
            f'<img class="only-{style}" src="../_images/{example.name}-1-{style}.png" alt="" loading="lazy">'
            for style in STYLES
        )
        cards.append(f'<a class="card" href="{example.name}.html">{images}<span>{example.title}</span></a>')
    index = (source / "index.md").read_text()
    listed = "```{raw} html\n<div class=\"cards\">\n" + "\n".join(cards) + "\n</div>\n```\n"
    tree = "```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```\n"
    (target / "index.md").write_text(f"{index}\n{listed}\n{tree}")

"""Runs the blocks of the pages and compares what they print with what the pages say.

    blocks.py [--update] PAGE...

``python`` blocks run one after the other in one namespace per page, ``console`` blocks (lines that begin with ``$ ``)
in one folder per page, ``r`` blocks in one session of R, their output in lines that begin with ``#>``. Numbers of
seconds and bytes of memory do not matter, and ``...`` stands for anything. ``--update`` writes what was printed into
the pages instead. ``rust`` blocks are tests of the documentation of the crate; ``sh`` blocks are shown, not run.
``python spark`` blocks run as those of Python do, in a namespace of their own, where there are Java and PySpark.

KSPARSE_COMMAND names the command; without it and without ``ksparse`` on the path, console blocks are left out, as are
those of R without Rscript or without the package. --require fails instead.
"""

from __future__ import annotations

import argparse
import contextlib
import doctest
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^```(python spark|python|console|r)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: What differs from run to run.
CHANGING = [
    (re.compile(r"\b\d+(\.\d+)?(e-\d+)? (s|ms|us)\b"), "# s"),
    (re.compile(r'("\w*seconds": )[-+.\de]+'), r"\1#"),
]
MATCH = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
#: Between the blocks of a page in what R prints.
MARK = "<<< end of block >>>"


@dataclass
class Block:
    """A fenced block: its language, its text, where it stands."""

    language: str
    text: str
    start: int
    line: int


@dataclass
class Outcome:
    """What a block looks like with what it prints now, and whether that is what it says."""

    block: Block
    text: str
    same: bool


class Missing(Exception):
    """A program that the blocks of a language need is not here."""


def blocks(page: str) -> list[Block]:
    """The blocks of a page that are run."""
    found = FENCE.finditer(page)
    return [Block(m[1], m[2], m.start(2), page.count("\n", 0, m.start()) + 1) for m in found]


def same(said: str, printed: str) -> bool:
    """Whether two outputs agree, times apart."""
    for pattern, word in CHANGING:
        said, printed = pattern.sub(word, said), pattern.sub(word, printed)
    checker = doctest.OutputChecker()
    return checker.check_output("".join(said.splitlines(True)), printed, MATCH)


def run_python(found: list[Block]) -> list[Outcome]:
    """Examples with prompts as doctest reads them; blocks without a prompt as a whole."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    namespace: dict[str, object] = {"__name__": "__main__"}
    return [python_block(block, namespace) for block in found]


def python_block(block: Block, namespace: dict[str, object]) -> Outcome:
    examples = doctest.DocTestParser().get_examples(block.text)
    if not examples:
        exec(compile(block.text, "<page>", "exec"), namespace)
        return Outcome(block, block.text, True)
    lines, agree, written = block.text.splitlines(True), True, []
    place = 0
    for example in examples:
        after = example.lineno + example.source.count("\n")
        printed = printed_by(example.source, namespace)
        agree = agree and same(example.want, printed)
        written += lines[place:after]
        written.append(example.want if same(example.want, printed) else printed)
        place = after + example.want.count("\n")
    return Outcome(block, "".join(written + lines[place:]), agree)


def printed_by(source: str, namespace: dict[str, object]) -> str:
    screen = io.StringIO()
    with contextlib.redirect_stdout(screen):
        try:
            exec(compile(source, "<page>", "single"), namespace)
        except Exception as error:
            last = "".join(traceback.format_exception_only(error))
            return f"{screen.getvalue()}Traceback (most recent call last):\n    ...\n{last}"
    return screen.getvalue()


def run_console(found: list[Block]) -> list[Outcome]:
    """Each line after a prompt by bash, standard error with standard output, in a folder of its own."""
    command = os.environ.get("KSPARSE_COMMAND") or shutil.which("ksparse")
    if command is None:
        raise Missing("the command ksparse (KSPARSE_COMMAND)")
    with tempfile.TemporaryDirectory() as folder:
        programs, work = Path(folder, "bin"), Path(folder, "work")
        programs.mkdir()
        work.mkdir()
        (programs / "ksparse").symlink_to(Path(command).resolve())
        settings = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "COLUMNS": "100", "NO_COLOR": "1"}
        return [console_block(block, work, settings) for block in found]


def console_block(block: Block, folder: Path, settings: dict[str, str]) -> Outcome:
    written, agree = "", True
    for part in re.split(r"^(?=\$ )", block.text, flags=re.MULTILINE):
        if not part.startswith("$ "):
            continue
        lines = part.splitlines(True)
        count = 1
        while lines[count - 1].endswith("\\\n"):
            count += 1
        said = "".join(lines[count:])
        source = "".join(lines[:count])[2:].replace("\n> ", "\n")
        done = subprocess.run(["bash", "-c", source], cwd=folder, env=settings, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, timeout=120)  # fmt: skip
        agree = agree and same(said, done.stdout)
        written += "".join(lines[:count]) + (said if same(said, done.stdout) else done.stdout)
    return Outcome(block, written, agree)


def run_r(found: list[Block]) -> list[Outcome]:
    """All blocks in one session, what they print told apart by a mark."""
    if shutil.which("Rscript") is None:
        raise Missing("R")
    if subprocess.run(["Rscript", "-e", "quit(status = !requireNamespace('ksparse', quietly = TRUE))"]).returncode:
        raise Missing("the R package ksparse (R_LIBS)")
    codes = ["".join(line for line in b.text.splitlines(True) if not line.startswith("#>")) for b in found]
    with tempfile.TemporaryDirectory() as folder:
        script = "options(width = 90)\n"
        for number, code in enumerate(codes):
            Path(folder, f"{number}.R").write_text(code)
            script += f"source('{number}.R', local = globalenv(), print.eval = TRUE)\ncat('\\n{MARK}\\n')\n"
        Path(folder, "all.R").write_text(script)
        done = subprocess.run(["Rscript", "all.R"], cwd=folder, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(done.stderr)
    outcomes = []
    for block, code, printed in zip(found, codes, done.stdout.split(f"\n{MARK}\n"), strict=False):
        now = "".join(f"#> {line}".rstrip() + "\n" for line in printed.splitlines())
        said = block.text[len(code) :]
        outcomes.append(Outcome(block, code + (said if same(said, now) else now), same(said, now)))
    return outcomes


def run_spark(found: list[Block]) -> list[Outcome]:
    """Blocks of Python over a Spark of this machine."""
    if shutil.which("java") is None:
        raise Missing("Java 17 or later")
    if importlib.util.find_spec("pyspark") is None:
        raise Missing("PySpark")
    # Its executors run the interpreter that runs this.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return run_python(found)


RUNNERS = {"python": run_python, "console": run_console, "r": run_r, "python spark": run_spark}


def run(page: Path, languages: tuple[str, ...] = tuple(RUNNERS)) -> list[Outcome]:
    """What the blocks of these languages do, in the order of the page."""
    found = blocks(page.read_text())
    here = Path.cwd()
    outcomes = []
    for language in languages:
        own = [block for block in found if block.language == language]
        if own:
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                try:
                    outcomes += RUNNERS[language](own)
                finally:
                    os.chdir(here)
    return sorted(outcomes, key=lambda outcome: outcome.block.start)


def updated(page: str, outcomes: list[Outcome]) -> str:
    """The page with the blocks as they are now."""
    for outcome in reversed(outcomes):
        start = outcome.block.start
        page = page[:start] + outcome.text + page[start + len(outcome.block.text) :]
    return page


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--update", action="store_true", help="write what was printed into the pages")
    parser.add_argument("--language", action="append", choices=tuple(RUNNERS), help="blocks of this language only")
    parser.add_argument("--require", action="store_true", help="fail where a program is missing")
    options = parser.parse_args()
    failed = 0
    for page in options.pages:
        for language in options.language or RUNNERS:
            try:
                outcomes = run(page.resolve(), (language,))
            except Missing as missing:
                print(f"{page}: {language} blocks are left out, they need {missing}", file=sys.stderr)
                failed += options.require
                continue
            if options.update:
                page.write_text(updated(page.read_text(), outcomes))
                continue
            for outcome in outcomes:
                if not outcome.same:
                    failed += 1
                    print(f"{page}:{outcome.block.line}: the block now prints\n{outcome.text}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

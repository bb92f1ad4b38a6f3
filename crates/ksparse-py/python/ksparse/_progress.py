"""Progress on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from ._results import Progress, reporter


class ProgressBar:
    """One line on stderr, rewritten as the work goes on; without a terminal, a line at the end."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.shown = 0.0
        self.last: Progress | None = None
        self.live = sys.stderr.isatty()

    def __call__(self, progress: Progress) -> None:
        self.last = progress
        now = time.monotonic()
        if self.live and now - self.shown >= 0.1:
            self.shown = now
            sys.stderr.write("\r\x1b[K" + self.line(progress))
            sys.stderr.flush()

    def line(self, at: Progress) -> str:
        """What is known of the work, in a line."""
        cells = ""
        if at.total:
            filled = round(20 * (at.done or 0) / at.total)
            fold = "" if at.fold is None else f" fold {at.fold}"
            cells = f" [{'#' * filled}{'.' * (20 - filled)}] {at.done}/{at.total}{fold} k={at.k}"
        return (
            f"{self.name}{cells}: iteration {at.iteration}, objective {at.objective:.6g}, "
            f"{len(at.support)} columns, {at.seconds:.1f} s"
        )

    def close(self, message: str) -> None:
        """Ends the line, saying how it ended."""
        begin = "\r\x1b[K" if self.live else ""
        line = self.line(self.last) if self.last else self.name
        sys.stderr.write(f"{begin}{line}; {message}\n")
        sys.stderr.flush()


class Watcher:
    """The callback the core gets, if any: the user's, the progress bar's, or both."""

    def __init__(self, name: str, verbose: int, callback: Callable[[Progress], object] | None, n_features: int) -> None:
        if callback is not None and not callable(callback):
            raise TypeError(f"callback must be callable, got {type(callback).__name__}.")
        self.bar = ProgressBar(name) if verbose else None
        self.user = callback
        self.n_features = n_features

    def callback(self) -> Callable[[dict[str, Any]], object] | None:
        """For the core; None when nobody wants to know."""
        if self.bar is None and self.user is None:
            return None
        return reporter(self._both, self.n_features)

    def _both(self, progress: Progress) -> object:
        if self.bar is not None:
            self.bar(progress)
        return None if self.user is None else self.user(progress)

    def close(self, message: str) -> None:
        """Ends the progress bar."""
        if self.bar is not None:
            self.bar.close(message)

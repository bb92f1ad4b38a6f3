"""Pages in a real browser: nothing is fetched from elsewhere, no script fails, nothing is wider than the window."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
#: Nearly a telephone (a browser without a screen has no narrower window), and a screen.
WIDTHS = (500, 1280)
#: What a page says of itself once it is there; an error of a script is kept.
SCRIPT = """<script>
window.wrong = [];
window.addEventListener('error', e => window.wrong.push(e.message || e.target.src || e.target.href), true);
addEventListener('load', () => setTimeout(() => {
  const far = performance.getEntriesByType('resource').filter(r => !r.name.startsWith('file:')).map(r => r.name);
  const wide = document.documentElement.scrollWidth > innerWidth + 1 ? ['wider than ' + innerWidth] : [];
  document.title = 'seen ' + [...window.wrong, ...far, ...wide].join('; ');
}, 50));
</script>"""


def look(page: Path, width: int, browser: str, profile: str) -> str:
    """What is wrong with a page, in words; nothing where all is well."""
    copy = page.with_name(f".looked-at-{page.name}")
    copy.write_text(page.read_text().replace("<head>", f"<head>{SCRIPT}", 1))
    words = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--timeout=20000",
             f"--window-size={width},900", f"--user-data-dir={profile}", "--virtual-time-budget=5000", "--dump-dom",
             copy.resolve().as_uri()]  # fmt: skip
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    finally:
        copy.unlink()
    title = re.search(r"<title>seen (.*?)</title>", done.stdout, re.DOTALL)
    return html.unescape(title[1]) if title else "it did not load"


def wrong(site: Path) -> list[str]:
    """What is wrong with the pages of a site; says so where there is no browser."""
    browser = next((name for name in BROWSERS if shutil.which(name)), None)
    if browser is None:
        print("no Chromium was found to open the pages in", file=sys.stderr)
        return []
    pages = [site / "index.html", site / "papers.html", site / "cheat-sheet.html", site / "reference/r.html",
             site / "gallery/index.html", site / "gallery/path.html", *sorted((site / "start").glob("*.html")),
             *sorted((site / "guide").glob("*.html"))[:3],
             site / "reference/generated/ksparse.SparseLinearRegressionCV.html"]  # fmt: skip
    found = []
    with tempfile.TemporaryDirectory() as profile:
        for page in pages:
            found += [f"{page.relative_to(site)} at {width}: {seen}" for width in WIDTHS
                      if (seen := look(page, width, browser, profile))]  # fmt: skip
    return found


if __name__ == "__main__":
    sys.exit("\n".join(wrong(Path(sys.argv[1]))))

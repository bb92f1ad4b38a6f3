//! A page in a real browser without a window: what the tests of pages share.

use std::io;
use std::process::Command;

/// The programs that take Chromium's options.
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// Opens `page` in a window of 1000 x 900 with `script` run at its end, and returns the title that the script leaves
/// behind, by which it says what it saw. An error in a script becomes the title too. `None`, with a word on standard
/// error, where no browser is installed.
///
/// # Errors
///
/// When the browser or the file system fails.
pub fn title(page: &str, script: &str) -> io::Result<Option<String>> {
    let runs = |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|done| done.status.success());
    let Some(browser) = BROWSERS.into_iter().find(runs) else {
        #[allow(clippy::print_stderr)] // a skipped test says why
        {
            eprintln!("skipped: no Chromium found to open the page in");
        }
        return Ok(None);
    };
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("page.html");
    let script = format!(
        "<script>window.onerror=e=>{{document.title='error \
         '+e}};addEventListener('load',()=>{{{script}}})</script></body>"
    );
    std::fs::write(&file, page.replace("</body>", &script))?;
    let done = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1000,900"])
        .args(["--timeout=30000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .output()?;
    let dom = String::from_utf8_lossy(&done.stdout);
    let title = dom.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next());
    Ok(Some(title.unwrap_or_default().to_string()))
}

/// A script's expression for what every page owes: how many files it fetched, and whether it is wider than the window.
pub const MANNERS: &str = "performance.getEntriesByType('resource').length+' fetched, overflow \
    '+(document.documentElement.scrollWidth>innerWidth+1)";

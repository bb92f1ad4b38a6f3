//! Signals. Ctrl-C: while a solver runs, the first one ends it with the best found so far; anywhere else it ends the
//! command, and no file is left half written either way.

use ksparse::Cancel;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: LazyLock<Cancel> = LazyLock::new(Cancel::new);
static LISTENING: AtomicBool = AtomicBool::new(false);

/// The exit code shells expect of a command ended by Ctrl-C.
pub const EXIT_CODE: i32 = 130;

/// Takes over Ctrl-C.
pub fn install() {
    // Without a handler (none can be had on some systems) Ctrl-C ends the command at once, which loses nothing written.
    let _ = ctrlc::set_handler(|| {
        let again = asked();
        ASKED.set();
        if again || !LISTENING.load(Ordering::SeqCst) {
            ksparse_io::remove_unfinished();
            std::process::exit(EXIT_CODE);
        }
    });
    // A file larger than allowed (ulimit -f) then is an error of writing like a full disk, and does not end the
    // command on the spot.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}

/// The token that Ctrl-C sets.
pub fn token() -> Cancel {
    ASKED.clone()
}

/// Whether Ctrl-C was pressed.
pub fn asked() -> bool {
    ASKED.is_set()
}

/// Runs work that has the token, so that the first Ctrl-C is left to it.
pub fn listening<R>(work: impl FnOnce() -> R) -> R {
    LISTENING.store(true, Ordering::SeqCst);
    let result = work();
    LISTENING.store(false, Ordering::SeqCst);
    result
}

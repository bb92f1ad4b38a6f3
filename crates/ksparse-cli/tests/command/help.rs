//! Help, as it is: a change of a word is a change here (`INSTA_UPDATE=always cargo test -p ksparse-cli` accepts it).

use crate::bench::Bench;

const COMMANDS: [&str; 14] = [
    "fit",
    "predict",
    "path",
    "graph",
    "lda",
    "theory",
    "show",
    "convert",
    "split",
    "verify",
    "simulate",
    "demo",
    "completions",
    "man",
];

#[test]
fn help_of_every_command() {
    let bench = Bench::new();
    insta::assert_snapshot!("help", bench.ok("--help"));
    for command in COMMANDS {
        insta::assert_snapshot!(format!("help-{command}"), bench.ok(&format!("{command} --help")));
    }
}

/// Every option is in `--help`; `-h` is what most people want to know, on one screen, and says where there is more.
#[test]
fn short_help_fits_a_screen_and_all_help_any_width() {
    let bench = Bench::new();
    for command in COMMANDS {
        let short = bench.ok(&format!("{command} -h"));
        assert!(short.lines().count() <= 48, "{command} -h: {} lines", short.lines().count());
        for width in ["50", "100", "180"] {
            let asked = bench.command(&format!("{command} --help")).env("COLUMNS", width).output().unwrap();
            let long = String::from_utf8(asked.stdout).unwrap();
            // What is to be typed is not cut, nor is a word.
            let typed = |line: &str| line.trim_start().starts_with("ksparse ") || line.contains("Usage");
            let prose = long.lines().filter(|line| !typed(line) && line.trim().contains(' '));
            let widest = prose.map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= width.parse().unwrap(), "{command} --help at {width}: a line of {widest}");
        }
    }
    let short = bench.ok("fit -h");
    assert!(short.contains("--lambda") && short.contains("--help") && !short.contains("--huber-gamma"), "{short}");
}

#[test]
fn help_teaches_what_it_must() {
    let bench = Bench::new();
    let help = bench.ok("fit --help");
    for piece in ["A mean, not a sum", "lambda = 1/(C n)", "0 for squared loss", "1e-5", "ksparse fit data.csv"] {
        assert!(help.contains(piece), "{piece}");
    }
    // The rule of the dual solvers, which the code has at `Diht::limits`.
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let rule = "diht, sdiht: when the relative gap is at most T, or neither side has moved by a tenth of that for 50";
    assert!(words.contains(rule), "{help}");
    for solver in ksparse::solver::NAMES {
        assert!(help.contains(&format!("\n  {solver} ")), "{solver} is not explained");
    }
    assert!(bench.ok("--version").starts_with("ksparse "));
    // Without a command there is help, and it is bad usage.
    let done = bench.run("");
    assert!(done.code == 2 && done.stderr.contains("Usage"), "{}", done.stderr);
}

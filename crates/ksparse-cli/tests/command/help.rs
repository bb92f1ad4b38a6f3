//! Help, as it is: a change of a word is a change here (`INSTA_UPDATE=always cargo test -p ksparse-cli` accepts it).

use crate::bench::Bench;

#[test]
fn help_of_every_command() {
    let bench = Bench::new();
    insta::assert_snapshot!("help", bench.ok("--help"));
    for command in [
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
    ] {
        insta::assert_snapshot!(format!("help-{command}"), bench.ok(&format!("{command} --help")));
    }
}

#[test]
fn help_teaches_what_it_must() {
    let bench = Bench::new();
    let help = bench.ok("fit --help");
    for piece in ["A mean, not a sum", "lambda = 1/(C n)", "0 for squared loss", "1e-5", "ksparse fit data.csv"] {
        assert!(help.contains(piece), "{piece}");
    }
    for solver in ksparse::solver::NAMES {
        assert!(help.contains(&format!("\n  {solver} ")), "{solver} is not explained");
    }
    assert!(bench.ok("--version").starts_with("ksparse "));
    // Without a command there is help, and it is bad usage.
    let done = bench.run("");
    assert!(done.code == 2 && done.stderr.contains("Usage"), "{}", done.stderr);
}

//! The methods as published, and every option of every solver, from the command.

use crate::bench::Bench;
use ksparse::solver::METHODS;

/// A fit of the regression in data.csv with what depends on the clock taken out.
fn fit(bench: &Bench, options: &str) -> serde_json::Value {
    let mut fit = bench.json(&format!("fit data.csv -k 4 --lambda 0.5 --no-intercept --json {options}"));
    fit["seconds"] = 0.into();
    fit["read_seconds"] = 0.into();
    fit
}

#[test]
fn the_word_is_the_options_it_stands_for() {
    let bench = Bench::with_data();
    for method in METHODS {
        let name = method.name;
        let Some(settings) = method.published() else {
            let done = bench.run(&format!("fit data.csv -k 4 --solver {name} --published"));
            assert!(done.code == 2 && done.stderr.contains("--published is for --solver grahtp"), "{}", done.stderr);
            continue;
        };
        let spelled: Vec<String> =
            settings.iter().map(|(option, value)| format!("--{}={value}", option.replace('_', "-"))).collect();
        let published = fit(&bench, &format!("--solver {name} --published"));
        assert_eq!(published["solver"], format!("{name} as published"));
        let mut by_hand = fit(&bench, &format!("--solver {name} {}", spelled.join(" ")));
        assert_eq!(by_hand["solver"], name);
        by_hand["solver"] = published["solver"].clone();
        assert_eq!(published, by_hand, "{name}");
        assert!(published["refits"].as_u64() <= Some(published["iterations"].as_u64().unwrap() * 9 + 9), "{published}");
    }
    let table = bench.ok("fit data.csv -k 4 --solver grahtp --published");
    assert!(table.contains("grahtp as published, ") && table.contains(" refits"), "{table}");
}

#[test]
fn every_option_of_every_solver_is_a_flag() {
    let bench = Bench::with_data();
    let help = bench.ok("fit --help");
    for option in METHODS.iter().flat_map(|method| method.options) {
        assert!(help.contains(&format!("--{}", option.name.replace('_', "-"))), "{}", option.name);
    }
    for options in [
        "--solver grahtp --debias newton",
        "--solver grahtp --debias gradient --step theory",
        "--solver grasp --debias false",
        "--solver foba --forward decrease --candidates 5",
        "--solver foba --least-gain 0.01",
        "--solver svrght --inner-steps 7 --refit=false --step constant",
        "--solver diht --step shifted --refit=false",
        "--solver sdiht --step theory --blocks 3",
        "--solver grahtp --step auto --scaled",
        "--effort quick --step auto",
    ] {
        assert_eq!(fit(&bench, options)["support"].as_array().unwrap().len(), 4, "{options}");
    }
    for (options, named) in [
        ("--solver grahtp --debias sometimes", "'exact', 'newton', 'gradient' or 'none'"),
        ("--solver grahtp --step shifted", "--step is shifted"),
        ("--solver fbs --refit=false", "--refit is for --solver svrght, diht, sdiht"),
        ("--solver foba --least-gain -1", "--least-gain"),
        ("--solver diht --published=perhaps", "true or false"),
        ("--effort huge", "'quick', 'normal', 'thorough'"),
    ] {
        let done = bench.run(&format!("fit data.csv -k 4 --lambda 0.5 {options}"));
        assert!(done.code == 2 && done.stderr.contains(named), "{options}: {}", done.stderr);
    }
}

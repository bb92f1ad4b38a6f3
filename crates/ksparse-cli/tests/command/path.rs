//! `ksparse path`: values that never rise, choices that agree with what is printed, a picture.

use crate::bench::{Bench, numbers};
use serde_json::Value;

#[test]
fn the_path_falls_and_the_criterion_is_least_at_the_chosen_k() {
    let bench = Bench::with_data();
    let report = bench.json("path data.csv -k 0:8 --json -o model.json");
    let cells = report["path"].as_array().unwrap();
    assert_eq!(cells.len(), 9);
    let of = |field: &str| numbers(&cells.iter().map(|cell| cell[field].clone()).collect::<Value>());
    assert!(of("objective").windows(2).all(|pair| pair[1] <= pair[0]));
    let scores = of("score");
    let chosen = &report["chosen"];
    let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(scores[chosen["index"].as_u64().unwrap() as usize], least);
    assert_eq!((&chosen["k"], &chosen["score"]), (&3.into(), &"ebic".into()));
    let model: Value = serde_json::from_str(&bench.read("model.json")).unwrap();
    assert_eq!((&model["k"], model["objective"].as_f64()), (&3.into(), cells[3]["objective"].as_f64()));
    // The same model as a fit of that k.
    assert_eq!(bench.json("fit data.csv -k 3 --json")["support"], cells[3]["support"]);
}

#[test]
fn cross_validation_chooses_and_repeats_itself() {
    let bench = Bench::with_data();
    let line = "path labels.csv -k 1:6 --lambdas 1e-1,1e-2 --cv 4 --metric error --one-se --json -o model.json";
    let report = bench.json(line);
    let cells = report["path"].as_array().unwrap();
    assert_eq!(cells.len(), 12);
    assert!(cells.iter().all(|cell| cell["standard_error"].as_f64().is_some()));
    let chosen = &cells[report["chosen"]["index"].as_u64().unwrap() as usize];
    assert_eq!((&chosen["k"], &chosen["lambda"]), (&report["chosen"]["k"], &report["chosen"]["lambda"]));
    let model: Value = serde_json::from_str(&bench.read("model.json")).unwrap();
    assert_eq!(model["lambda"], chosen["lambda"]);
    let again = bench.json(line);
    assert_eq!(report["path"], again["path"]);
    let other = bench.json(&format!("{line} --seed 9"));
    assert_ne!(report["path"], other["path"]);
}

#[test]
fn the_picture_is_drawn() {
    let bench = Bench::with_data();
    let shown = bench.ok("path data.csv -k 0:8 --plot path.svg");
    assert!(shown.contains("<- chosen") && shown.contains("path.svg"), "{shown}");
    let picture = bench.read("path.svg");
    assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
    assert!(picture.contains("Coefficients") && picture.contains("ebic"));
}

#[test]
fn k_beyond_the_columns_are_the_columns() {
    let bench = Bench::new();
    bench.file("small.csv", "a,b,y\n1,2,3\n4,5,6.5\n7,1,8\n2,2,2\n5,3,6\n");
    let done = bench.run("path small.csv -k 1:9 --json");
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(report["path"].as_array().unwrap().len(), 2);
    assert!(done.stderr.contains("k = 9 is more than the 2 columns"), "{}", done.stderr);
}

#[test]
fn without_a_likelihood_nothing_is_chosen_unasked() {
    let bench = Bench::with_data();
    let shown = bench.ok("path labels.csv -k 1:3 --loss squared-hinge --lambda 0.01");
    assert!(shown.contains("none: say how with --cv N"), "{shown}");
    let shown = bench.ok("path labels.csv -k 1:3 --loss squared-hinge --lambda 0.01 --cv 3 -o model.json");
    assert!(shown.contains("3-fold cross-validation"), "{shown}");
}

#[test]
fn a_fit_is_the_path_at_its_k_and_effort_is_a_word_or_a_number() {
    let bench = Bench::with_data();
    let path = bench.json("path data.csv -k 1:8 --json");
    for effort in ["", "--effort normal", "--effort 1"] {
        let fit = bench.json(&format!("fit data.csv -k 5 {effort} --json"));
        assert_eq!(fit["objective"], path["path"][4]["objective"], "{effort}");
    }
    for (line, what) in [
        ("fit data.csv -k 5 --effort lots", "'quick', 'normal', 'thorough'"),
        ("fit data.csv -k 5 --effort -1", "'quick', 'normal', 'thorough'"),
        ("fit data.csv -k 5 --effort quick --solver fbs", "--solver auto"),
        ("graph data.csv -k 5 --effort quick", "leave it out for networks"),
    ] {
        let done = bench.run(line);
        assert!(done.code == 2 && done.stderr.contains(what), "{line}: {}", done.stderr);
    }
}

#[test]
fn a_path_out_of_time_reports_what_it_has() {
    let bench = Bench::with_data();
    let report = bench.json("path data.csv -k 1:8 --time-limit 0 --json");
    assert_eq!(report["stopped"], "time-limit");
    // All k are searched for at once: each has the best known by then, and says so.
    let steps = report["path"].as_array().unwrap();
    assert!(steps.len() == 8 && steps.iter().all(|step| step["status"] == "time-limit"), "{report}");
    // A model that was asked for and not chosen is a failure, after the report.
    let done = bench.run("path data.csv -k 1:8 --time-limit 0 --cv 3 --json -o model.json");
    assert!(done.code == 1 && done.stderr.contains("model.json was not written"), "{}", done.stderr);
    assert!(done.stdout.contains("time-limit") && !bench.path("model.json").exists());
}

#[test]
fn the_report_is_a_page_of_its_own_with_names_scores_and_gaps() {
    let bench = Bench::with_data();
    let shown = bench.ok("path labels.csv -k 1:6 --lambda 0.05 --cv 4 --report path.html");
    assert!(shown.contains("path.html"), "{shown}");
    let page = bench.read("path.html");
    let data = page.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next()).unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    let report = bench.json("path labels.csv -k 1:6 --lambda 0.05 --cv 4 --json");
    assert_eq!(data["chosen"], report["chosen"]["index"]);
    let names = data["names"].as_array().unwrap();
    for (step, cell) in data["steps"].as_array().unwrap().iter().zip(report["path"].as_array().unwrap()) {
        for field in ["k", "objective", "score", "coefficients"] {
            assert_eq!(step[field], cell[field], "{field}");
        }
        assert_eq!(step["error"], cell["standard_error"]);
        let gap = step["gap"].as_f64().unwrap();
        assert!((0.0..cell["objective"].as_f64().unwrap()).contains(&gap), "{gap}");
        for (place, column) in step["support"].as_array().unwrap().iter().zip(cell["support"].as_array().unwrap()) {
            let column = column.as_u64().unwrap() + 1;
            assert_eq!(names[place.as_u64().unwrap() as usize].as_str().unwrap(), format!("x{column}"));
        }
    }
    for outside in ["<link", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    // Without a ridge there is no bound, and without names the columns have numbers.
    bench.ok("path data.svm -k 1:3 --lambda 0 --report path.html");
    let page = bench.read("path.html");
    assert!(page.contains("\"gap\":null") && page.contains("column "), "{page}");
}

#[test]
fn the_report_works_in_a_browser() {
    let bench = Bench::with_data();
    bench.ok("path labels.csv -k 1:6 --lambda 0.05 --cv 4 --report path.html");
    let chosen = bench.json("path labels.csv -k 1:6 --lambda 0.05 --cv 4 --json");
    let (index, cells) = (chosen["chosen"]["index"].as_u64().unwrap() as usize, chosen["path"].as_array().unwrap());
    let size = |cell: &Value| cell["support"].as_array().unwrap().len();
    // As it opens, then with the slider at the first and at the last k.
    let look = "const s=document.getElementById('slider'),look=i=>{if(i!==null){s.value=i;s.dispatchEvent(new \
        Event('input'))}return document.getElementById('k').textContent+', '+document.querySelectorAll('#bars \
        rect').length+' bars'};const seen=[look(null),look(0),look(5)];";
    let script = format!("{look}seen.push({});document.title=seen.join(' | ')", headless::MANNERS);
    let Some(title) = headless::title(&bench.read("path.html"), &script).unwrap() else { return };
    let shown = |i: usize| {
        let mark = if i == index { " (chosen)" } else { "" };
        format!("k = {}{mark}, {} bars", cells[i]["k"], size(&cells[i]))
    };
    assert_eq!(title, format!("{} | {} | {} | 0 fetched, overflow false", shown(index), shown(0), shown(5)));
}

#[test]
fn without_a_k_everything_is_chosen() {
    let bench = Bench::with_data();
    let report = bench.json("path data.csv --json -o model.json");
    let chosen = &report["chosen"];
    assert_eq!(chosen["k"], 3, "{chosen}");
    assert!(chosen["by"].as_str().unwrap().contains("5-fold cross-validation, dealt 5 times: lean rule on deviance"));
    let cells = report["path"].as_array().unwrap();
    assert_eq!(cells[0]["k"], 0);
    assert!(cells.iter().all(|cell| cell["score"].is_number() && cell["standard_error"].is_number()));
    let objectives = numbers(&cells.iter().map(|cell| cell["objective"].clone()).collect::<Value>());
    assert!(objectives.windows(2).all(|pair| pair[1] <= pair[0]));
    // Every cell that was scored, the share of the folds of every column, both ridges in the model file.
    assert!(chosen["scores"].as_array().unwrap().len() >= cells.len());
    let often = |pair: &&Value| pair[1].as_f64().unwrap() > 0.8;
    let stable = chosen["frequencies"].as_array().unwrap().iter().filter(often).count();
    assert!(stable >= 3);
    let model: Value = serde_json::from_str(&bench.read("model.json")).unwrap();
    assert_eq!((&model["k"], &model["lambda"]), (&chosen["k"], &chosen["lambda"]));
    assert!(model["select_lambda"].is_number() || chosen["select_lambda"] == chosen["lambda"]);
    // The same, shorter, and again.
    let fit = bench.json("fit data.csv -k auto --json");
    assert_eq!((&fit["support"], &fit["coefficients"]), (&chosen["support"], &chosen["coefficients"]));
    let shown = bench.ok("path data.csv");
    assert!(shown.contains("<- chosen") && shown.contains("near ties") && shown.contains("in every fold"), "{shown}");
    assert!(bench.ok("show model.json").contains("lambda"));
    assert_eq!(bench.json("path data.csv --criterion ebic --json")["chosen"]["k"], 3);
}

#[test]
fn what_is_said_beside_it_is_heeded() {
    let bench = Bench::with_data();
    let one = bench.json("path labels.csv --lambda 0.05 --cv 4 --rule best --metric auc --json");
    assert_eq!((&one["chosen"]["lambda"], &one["chosen"]["select_lambda"]), (&0.05.into(), &0.05.into()));
    assert!(one["chosen"]["by"].as_str().unwrap().contains("4-fold cross-validation: best mean of auc"));
    // `fit` is the same choice by the same words.
    for told in ["--cv 4 --rule best --metric auc --lambda 0.05", "--cv 3x2 --one-se", ""] {
        let path = bench.json(&format!("path labels.csv --json {told}"));
        let fit = bench.json(&format!("fit labels.csv -k auto --json {told}"));
        for same in ["k", "lambda"] {
            assert_eq!(fit[same], path["chosen"][same], "{same}, {told}");
        }
    }
    let twice = bench.json("path data.csv -k 1:4 --cv 3x2 --json");
    assert!(twice["chosen"]["by"].as_str().unwrap().contains("3-fold cross-validation, dealt twice: best mean"));
    for bad in [
        "path data.csv -k 1:3 --rule lean",
        "fit data.csv -k auto --certify",
        "path data.csv --cv 4 --criterion bic",
        "fit data.csv -k auto --cv 1",
    ] {
        assert_eq!(bench.run(bad).code, 2, "{bad}");
    }
    let limited = bench.run("path labels.csv --time-limit 0 --json");
    let limited: Value = serde_json::from_str(&limited.stdout).unwrap();
    assert_eq!(limited["chosen"]["k"], 0);
}

#[test]
fn the_whole_choice_is_on_the_page() {
    let bench = Bench::with_data();
    bench.ok("path labels.csv --report path.html -q");
    let report = bench.json("path labels.csv --json");
    let script = "document.title=document.getElementById('k').textContent+' | '\
        +document.querySelectorAll('#notes li').length+' | '\
        +document.querySelectorAll('#frequencies meter').length";
    let Some(title) = headless::title(&bench.read("path.html"), script).unwrap() else { return };
    let selected = report["chosen"]["frequencies"].as_array().unwrap().len().min(60);
    let parts: Vec<&str> = title.split(" | ").collect();
    assert_eq!(parts[0], format!("k = {} (chosen)", report["chosen"]["k"]));
    assert!(parts[1].parse::<usize>().unwrap() >= 1);
    assert_eq!(parts[2], selected.to_string());
}

#[test]
fn an_ensemble_is_the_average_of_halves_of_the_rows() {
    let bench = Bench::with_data();
    let shown = bench.ok("path data.csv --resamples 6 -o alone.json");
    assert!(shown.contains("9 of 10 or more of 6 halves of the rows"), "{shown}");
    let shown = bench.ok("path data.csv --resamples 6 --ensemble -o mean.json");
    assert!(shown.contains("the average of the models of these halves"), "{shown}");
    let size = |file: &str| {
        let model: Value = serde_json::from_str(&bench.read(file)).unwrap();
        model["coefficients"].as_array().unwrap().len()
    };
    assert!(size("mean.json") >= size("alone.json"));
    assert!(bench.ok("predict mean.json data.csv").lines().count() > 10);
    for line in ["path data.csv -k 1:3 --ensemble", "path data.csv -k 1:3 --resamples 5"] {
        let done = bench.run(line);
        assert!(done.code == 2 && done.stderr.contains("leave -k out"), "{line}: {}", done.stderr);
    }
}

#[test]
fn a_path_ends_where_f_is_small_enough() {
    let bench = Bench::with_data();
    let all = bench.json("path data.csv -k 1:6 --json");
    let values: Vec<f64> =
        all["path"].as_array().unwrap().iter().map(|cell| cell["objective"].as_f64().unwrap()).collect();
    let short = bench.json(&format!("path data.csv -k 1:6 --stop-at {} --json", values[2]));
    let cells = short["path"].as_array().unwrap();
    assert_eq!(cells.len(), 3, "{short}");
    assert!(short["stopped"].is_null());
    let done = bench.run("path data.csv --stop-at 1");
    assert!(done.code == 2 && done.stderr.contains("-k"), "{}", done.stderr);
    let done = bench.run("path data.csv -k 1:3 --cv 3 --stop-at 1");
    assert!(done.code == 2 && done.stderr.contains("--cv"), "{}", done.stderr);
}

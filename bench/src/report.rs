//! The results as Markdown.

use crate::contest::Row;
use crate::goals::Goal;
use crate::workload;
use serde_json::Value;
use std::fmt::Write;

/// The report.
pub fn markdown(
    about: &[(String, String)],
    rows: &[Row],
    kernels: &Value,
    memory: &[Value],
    goals: &[Goal],
    judged: bool,
) -> String {
    let mut out = String::from("# ksparse beside its peers\n\n");
    for (key, text) in about {
        line(&mut out, format_args!("- {key}: {text}"));
    }
    if !judged {
        out.push_str(
            "- **Skipped: the peers and the judge** (see the reason above). Objectives are ksparse's own claims; \
             nothing is compared.\n",
        );
    }
    out.push_str("\n## Goals\n\n| | asked | found |\n|---|---|---|\n");
    for goal in goals {
        line(
            &mut out,
            format_args!("| {} | {} | {} |", if goal.met { "met" } else { "MISSED" }, goal.asked, goal.found),
        );
    }
    out.push_str(
        "\n## Fits\n\nOne thread each unless said; wall and CPU seconds, best of 3; CPU ratio = peer / ksparse on one \
         thread; objective by the judge.\n",
    );
    for w in workload::all() {
        let of: Vec<&Row> = rows.iter().filter(|r| r.workload == w.name).collect();
        if of.is_empty() {
            continue;
        }
        line(&mut out, format_args!("\n### {}: {}\n", w.name, w.about));
        out.push_str(
            "| seed | solver | wall s | CPU s | CPU ratio | objective | of the truth | note \
             |\n|---|---|---|---|---|---|---|---|\n",
        );
        for row in &of {
            let own = of.iter().find(|r| r.seed == row.seed && r.solver == "ksparse");
            let ratio = own.map_or(f64::NAN, |own| row.cpu / own.cpu);
            let value = if judged { row.score.value } else { row.reported };
            let note = if row.ok() { &row.note } else { &row.outcome };
            line(
                &mut out,
                format_args!(
                    "| {} | {} | {} | {} | {} | {} | {} | {note} |",
                    row.seed,
                    row.solver,
                    figure(row.wall, 3),
                    figure(row.cpu, 3),
                    figure(ratio, 2),
                    figure(value, 6),
                    row.score.hits,
                ),
            );
        }
    }
    out.push_str(
        "\n## Kernels\n\n| kernel | threads | GB/s | plain read GB/s | share | ns per entry \
         |\n|---|---|---|---|---|---|\n",
    );
    for kernel in kernels.as_array().into_iter().flatten() {
        let number = |key: &str, digits| figure(kernel[key].as_f64().unwrap_or(f64::NAN), digits);
        line(
            &mut out,
            format_args!(
                "| {} | {} | {} | {} | {} | {} |",
                kernel["kernel"].as_str().unwrap_or("?"),
                kernel["threads"],
                number("gigabytes_per_second", 1),
                number("read_gigabytes_per_second", 1),
                number("share_of_read", 2),
                number("nanoseconds_per_entry", 2),
            ),
        );
    }
    out.push_str(
        "\n## Memory\n\nResident memory of the whole process: before = data loaded (the design once, the target, the \
            program), peak = highest during the fit.\n\n\
         | workload | design MB | before MB | peak MB | peak / design |\n|---|---|---|---|---|\n",
    );
    for found in memory {
        let number = |key: &str| found[key].as_f64().unwrap_or(f64::NAN);
        line(
            &mut out,
            format_args!(
                "| {} | {:.1} | {:.1} | {:.1} | {:.2} |",
                found["workload"].as_str().unwrap_or("?"),
                number("design") / 1e6,
                number("before") / 1e6,
                number("peak") / 1e6,
                number("peak") / number("design"),
            ),
        );
    }
    out
}

fn line(out: &mut String, text: std::fmt::Arguments) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{text}");
}

/// A number, or nothing where there is none.
fn figure(value: f64, digits: usize) -> String {
    if value.is_nan() { String::new() } else { format!("{value:.digits$}") }
}

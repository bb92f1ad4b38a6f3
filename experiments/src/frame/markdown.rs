//! The page of an experiment as Markdown, for reading beside its rows.

use super::Experiment;
use super::page::{Finding, Page, Table};
use std::fmt::Write;

/// The page, with links to the figures beside it.
pub(super) fn page(experiment: &dyn Experiment, page: &Page, about: &str, rows: usize) -> String {
    let id = experiment.id();
    let mut out = format!("# {id}: {}\n", experiment.title());
    page.setting.iter().for_each(|text| paragraph(&mut out, text));
    for figure in &page.figures {
        paragraph(&mut out, &format!("![{}]({id}-{}.svg)", figure.caption, figure.name));
    }
    page.tables.iter().for_each(|t| table(&mut out, t));
    if !page.findings.is_empty() {
        paragraph(&mut out, "## What the papers found, and what was found here");
        out.push('\n');
        page.findings.iter().for_each(|f| finding(&mut out, f));
    }
    page.notes.iter().for_each(|text| paragraph(&mut out, text));
    let about: Vec<&str> = about.lines().collect();
    paragraph(&mut out, &format!("{}; {rows} rows in `{id}.csv`.", about.join("; ")));
    out
}

fn paragraph(out: &mut String, text: &str) {
    let _ = write!(out, "\n{text}\n");
}

fn table(out: &mut String, table: &Table) {
    paragraph(out, &format!("**{}**", table.caption));
    out.push('\n');
    let mut line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    };
    line(&table.header);
    line(
        &table
            .header
            .iter()
            .enumerate()
            .map(|(i, _)| if i == 0 { "---" } else { "---:" }.to_string())
            .collect::<Vec<_>>(),
    );
    table.rows.iter().for_each(|row| line(row));
}

fn finding(out: &mut String, finding: &Finding) {
    let _ =
        write!(out, "- *{}* **{}**: {}.", finding.paper, finding.verdict.word(), finding.ours.trim_end_matches('.'));
    if !finding.reason.is_empty() {
        let _ = write!(out, " Why: {}.", finding.reason.trim_end_matches('.'));
    }
    out.push('\n');
}

//! Pages and the report: one HTML file each, nothing fetched; a page also as Markdown.

use super::page::{Finding, Page, Table, Verdict};
use super::store::{Store, write_file};
use super::{Experiment, Result, Row, Settings, markdown};
use ksparse_plot::escape;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Writes the figures and the page of an experiment; returns the files.
pub(super) fn write_page(experiment: &dyn Experiment, rows: &[Row], settings: &Settings) -> Result<Vec<PathBuf>> {
    let id = experiment.id();
    let page = experiment.page(rows);
    let mut files = Vec::new();
    for figure in &page.figures {
        let file = settings.out.join(format!("{id}-{}.svg", figure.name));
        write_file(&file, &figure.svg)?;
        files.push(file);
    }
    let about = about(experiment, settings);
    let body = section(experiment, &page, &about, rows.len());
    let file = settings.out.join(format!("{id}.html"));
    write_file(&file, document(&format!("{id} {}", experiment.title()), &body))?;
    files.push(file);
    let file = settings.out.join(format!("{id}.md"));
    write_file(&file, markdown::page(experiment, &page, &about, rows.len()))?;
    files.push(file);
    Ok(files)
}

/// One report of every experiment that has rows in the folder of the settings.
pub fn report(all: &[Box<dyn Experiment>], settings: &Settings, file: &Path) -> Result<()> {
    let (mut contents, mut sections, mut score) = (String::new(), String::new(), String::new());
    for experiment in all {
        let rows = Store::open(experiment.as_ref(), settings)?.rows();
        let (id, title) = (experiment.id(), escape(experiment.title()));
        if rows.is_empty() {
            let _ = write!(contents, "<li class=\"absent\">{id} {title}: not run</li>");
            continue;
        }
        let page = experiment.page(&rows);
        let _ = write!(contents, "<li><a href=\"#{id}\">{id} {title}</a></li>");
        let count = |verdict| page.findings.iter().filter(|f| f.verdict == verdict).count();
        let verdicts = [Verdict::Agrees, Verdict::Partly, Verdict::Differs, Verdict::Open];
        let cells: String = verdicts.iter().map(|v| format!("<td>{}</td>", count(*v))).collect();
        let _ = write!(score, "<tr><th><a href=\"#{id}\">{id}</a> {title}</th>{cells}</tr>");
        sections.push_str(&section(experiment.as_ref(), &page, &about(experiment.as_ref(), settings), rows.len()));
    }
    let body = format!(
        "<header><h1>The papers' experiments, run again</h1><p>\
            Every figure and table is drawn from the rows in the CSV files beside this report. \
         Each section ends with the findings of the papers, one by one, beside what was found here.</p></header>\
         <nav><ul>{contents}</ul></nav><div class=\"wide\"><table><caption>Findings</caption><thead><tr><th>\
         experiment</th><th>agree</th><th>in part</th>\
         <th>differ</th><th>open</th></tr></thead><tbody>{score}</tbody></table></div>{sections}"
    );
    write_file(file, document("The papers' experiments, run again", &body))
}

fn about(experiment: &dyn Experiment, settings: &Settings) -> String {
    fs::read_to_string(settings.out.join(format!("{}.about", experiment.id()))).unwrap_or_default()
}

fn section(experiment: &dyn Experiment, page: &Page, about: &str, rows: usize) -> String {
    let id = experiment.id();
    let mut out = format!("<section id=\"{id}\"><h2>{id} {}</h2>", escape(experiment.title()));
    page.setting.iter().for_each(|text| paragraph(&mut out, text));
    for figure in &page.figures {
        let caption = escape(&figure.caption);
        let _ =
            write!(out, "<figure><div class=\"wide\">{}</div><figcaption>{caption}</figcaption></figure>", figure.svg);
    }
    page.tables.iter().for_each(|t| table(&mut out, t));
    if !page.findings.is_empty() {
        out.push_str("<h3>What the papers found, and what was found here</h3><ol class=\"findings\">");
        page.findings.iter().for_each(|f| finding(&mut out, f));
        out.push_str("</ol>");
    }
    if !page.notes.is_empty() {
        out.push_str("<h3>Notes</h3>");
        page.notes.iter().for_each(|text| paragraph(&mut out, text));
    }
    let about = about.lines().map(escape).collect::<Vec<_>>().join(" \u{b7} ");
    let _ = write!(out, "<p class=\"about\">{about} \u{b7} {rows} rows in {id}.csv</p></section>");
    out
}

fn paragraph(out: &mut String, text: &str) {
    let _ = write!(out, "<p>{}</p>", escape(text));
}

fn table(out: &mut String, table: &Table) {
    let _ = write!(out, "<div class=\"wide\"><table><caption>{}</caption><thead><tr>", escape(&table.caption));
    table.header.iter().for_each(|h| {
        let _ = write!(out, "<th>{}</th>", escape(h));
    });
    out.push_str("</tr></thead><tbody>");
    for row in &table.rows {
        out.push_str("<tr>");
        for (i, text) in row.iter().enumerate() {
            let tag = if i == 0 { "th" } else { "td" };
            let _ = write!(out, "<{tag}>{}</{tag}>", escape(text));
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
}

fn finding(out: &mut String, finding: &Finding) {
    let class = match finding.verdict {
        Verdict::Agrees => "agrees",
        Verdict::Partly => "partly",
        Verdict::Differs => "differs",
        Verdict::Open => "open",
    };
    let word = finding.verdict.word();
    let _ = write!(
        out,
        "<li><p class=\"paper\">{}</p><p><b class=\"{class}\">{word}</b> {}</p>",
        escape(&finding.paper),
        escape(&finding.ours)
    );
    if !finding.reason.is_empty() {
        let _ = write!(out, "<p class=\"reason\">{}</p>", escape(&finding.reason));
    }
    out.push_str("</li>");
}

fn document(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
            <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <title>{}</title><style>{STYLE}</style></head><body><main>{body}</main></body></html>\n",
        escape(title)
    )
}

const STYLE: &str = "
:root{color-scheme:light dark;--page:#fff;--ink:#1c1f24;--muted:#5a616b;--rule:#e1e4e8;--tint:#f6f7f9;--yes:#00734f;\
--part:#8a5a00;--no:#b33c00}
@media(prefers-color-scheme:dark){:root{--page:#15181d;--ink:#eceef1;--muted:#a4abb6;--rule:#2c3138;--tint:#1c2026;\
--yes:#3fd0a4;--part:#f2bd4b;--no:#ff8a4c}}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,\
Helvetica,Arial,sans-serif}
main{max-width:960px;margin:0 auto;padding:24px 20px 80px}
h1{font-size:30px;line-height:1.2;margin:16px 0 8px}h2{font-size:23px;margin:56px 0 8px;padding-top:16px;\
border-top:1px solid var(--rule)}h3{font-size:18px;margin:32px 0 8px}
a{color:inherit}nav ul{columns:2;padding-left:20px}.absent{color:var(--muted)}
figure{margin:24px 0}figcaption,caption,.about{color:var(--muted);font-size:14px}caption{text-align:left;padding:6px 0}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:14px;margin:16px 0;font-variant-numeric:tabular-nums}
th,td{padding:4px 12px 4px 0;text-align:right;border-bottom:1px solid var(--rule);white-space:nowrap}\
th:first-child{text-align:left}thead th{color:var(--muted);font-weight:500}
.findings{padding-left:22px}.findings li{margin:14px 0;padding:10px 14px;background:var(--tint);border-radius:6px}\
.findings p{margin:4px 0}
.paper{font-style:italic}.reason{color:var(--muted);font-size:15px}.agrees{color:var(--yes)}.partly{color:var(--part)}\
.differs{color:var(--no)}.open{color:var(--muted)}
.about{margin-top:24px}";

//! A page to look through a path: one HTML file with its own small script, nothing fetched.

use crate::svg::escape;
use std::fmt::Write;

/// One k of a path.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PathStep {
    /// Non-zeros allowed.
    pub k: usize,
    /// Features in the model: indices into [`PathPage::names`].
    pub support: Vec<usize>,
    /// Their coefficients.
    pub coefficients: Vec<f64>,
    /// The intercept.
    pub intercept: f64,
    /// f there.
    pub objective: f64,
    /// What the choice of k goes by (a cross-validated error, a criterion).
    pub score: Option<f64>,
    /// Its standard error.
    pub error: Option<f64>,
    /// How far f can be from the best possible, where that was proven.
    pub gap: Option<f64>,
}

/// A path to be looked through: a slider over k with the score, the chosen k, the coefficients by name and the paths of
/// all features.
///
/// ```
/// use ksparse_plot::{PathPage, PathStep};
/// let step = |k: usize| PathStep {
///     k,
///     support: (0..k).collect(),
///     coefficients: vec![0.5; k],
///     objective: 1.0 / k as f64,
///     ..PathStep::default()
/// };
/// let page = PathPage {
///     title: "Riboflavin".to_string(),
///     names: vec!["YXLD_at".to_string(), "YOAB_at".to_string()],
///     steps: vec![step(1), step(2)],
///     chosen: Some(1),
///     ..PathPage::default()
/// };
/// assert!(page.to_html().starts_with("<!doctype html>"));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PathPage {
    /// The title.
    pub title: String,
    /// A line about data, loss and solver.
    pub about: String,
    /// What the score is, with its unit: "cross-validated log loss".
    pub score: String,
    /// Names of the features that occur.
    pub names: Vec<String>,
    /// The path, k ascending.
    pub steps: Vec<PathStep>,
    /// Which step was chosen.
    pub chosen: Option<usize>,
    /// What else is known of the choice: its ridges, its near ties.
    pub notes: Vec<String>,
    /// Features that folds have selected, with the share of the folds (0 to 1), in the order to show them.
    pub frequencies: Vec<(String, f64)>,
}

/// Features listed by their frequency; the rest is counted.
const MOST_SHOWN: usize = 60;

impl PathPage {
    /// The page.
    pub fn to_html(&self) -> String {
        const STYLE: &str = include_str!("path_page.css");
        const SCRIPT: &str = include_str!("path_page.js");
        let (title, about) = (escape(&self.title), escape(&self.about));
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
                <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
             <title>{title}</title><style>{STYLE}</style></head><body><main><h1>{title}</h1><p class=\"about\">{about}\
             </p>{notes}\
             <noscript><p>This page needs JavaScript for its slider.</p>{table}</noscript>\
             <div class=\"controls\"><output id=\"k\" for=\"slider\"></output>\
             <button id=\"back\" type=\"button\" aria-label=\"smaller k\">\u{2212}</button>\
             <input id=\"slider\" type=\"range\" min=\"0\" max=\"0\" step=\"1\" value=\"0\" aria-label=\"k, number of \
             features\">\
             <button id=\"on\" type=\"button\" aria-label=\"larger k\">+</button><button id=\"best\" type=\"button\">\
             chosen k</button></div>\
             <dl class=\"facts\" id=\"facts\"></dl><div class=\"columns\"><section><h2>{score}\
             </h2><svg id=\"score\" role=\"img\" aria-label=\"{score} against k\"></svg>\
             </section><section><h2>All coefficients along the path</h2>\
             <svg id=\"paths\" role=\"img\" aria-label=\"coefficients against k\"></svg></section></div>\
             <p class=\"hint\">Move the slider, use its arrow keys, or click into a chart. Dashed: the chosen k.</p>\
             <h2>Coefficients of this model</h2><svg id=\"bars\" role=\"img\" aria-label=\"coefficients by feature\">\
             </svg><p class=\"hint\" id=\"more\"></p>{frequencies}\
             <script type=\"application/json\" id=\"data\">{data}</script><script>{SCRIPT}\
             </script></main></body></html>\n",
            notes = self.notes(),
            frequencies = self.frequencies(),
            table = self.table(),
            score = escape(if self.scored() { &self.score } else { "objective" }),
            data = self.json()
        )
    }

    fn scored(&self) -> bool {
        self.steps.iter().any(|step| step.score.is_some_and(f64::is_finite))
    }

    /// What else is known of the choice, as a list.
    fn notes(&self) -> String {
        if self.notes.is_empty() {
            return String::new();
        }
        let items: String = self.notes.iter().map(|note| format!("<li>{}</li>", escape(note))).collect();
        format!("<ul class=\"notes\" id=\"notes\">{items}</ul>")
    }

    /// How often the folds have selected what.
    fn frequencies(&self) -> String {
        if self.frequencies.is_empty() {
            return String::new();
        }
        let mut rows = String::new();
        for (name, share) in self.frequencies.iter().take(MOST_SHOWN) {
            let percent = if share.is_finite() { 100.0 * share.clamp(0.0, 1.0) } else { 0.0 };
            let _ = write!(
                rows,
                "<tr><th scope=\"row\">{}</th><td>\
                 <meter min=\"0\" max=\"100\" value=\"{percent:.0}\"></meter> {percent:.0} %</td></tr>",
                escape(name)
            );
        }
        let rest = self.frequencies.len().saturating_sub(MOST_SHOWN);
        let more = if rest > 0 { format!("<p class=\"hint\">and {rest} more</p>") } else { String::new() };
        format!(
            "<h2>How often the folds select a feature at the chosen k</h2>\
             <table class=\"frequencies\" id=\"frequencies\">{rows}</table>{more}"
        )
    }

    /// For readers without scripts.
    fn table(&self) -> String {
        let mut out = format!("<table><tr><th>k</th><th>objective</th><th>{}</th></tr>", escape(&self.score));
        for step in &self.steps {
            let _ = write!(
                out,
                "<tr><td>{}</td><td>{}</td><td>{}</td></tr>",
                step.k,
                number(step.objective),
                optional(step.score)
            );
        }
        out + "</table>"
    }

    fn json(&self) -> String {
        let names: Vec<String> = self.names.iter().map(|name| quoted(name)).collect();
        let mut steps = Vec::new();
        for step in &self.steps {
            // Features without a name, and coefficients without a feature, are left out.
            let pairs =
                step.support.iter().zip(&step.coefficients).filter(|(j, c)| **j < self.names.len() && c.is_finite());
            let (support, coefficients): (Vec<String>, Vec<String>) =
                pairs.map(|(j, c)| (j.to_string(), number(*c))).unzip();
            steps.push(format!(
                "{{\"k\":{},\"support\":[{}],\"coefficients\":[{}],\"intercept\":{},\"objective\":{},\
                    \"score\":{},\"error\":{},\"gap\":{}}}",
                step.k,
                support.join(","),
                coefficients.join(","),
                number(step.intercept),
                number(step.objective),
                optional(step.score),
                optional(step.error),
                optional(step.gap)
            ));
        }
        let chosen =
            self.chosen.filter(|i| *i < self.steps.len()).map_or_else(|| "null".to_string(), |i| i.to_string());
        format!(
            "{{\"score\":{},\"chosen\":{chosen},\"names\":[{}],\"steps\":[{}]}}",
            quoted(&self.score),
            names.join(","),
            steps.join(",")
        )
    }
}

/// A number of JSON: `null` for what is not finite.
fn number(v: f64) -> String {
    if v.is_finite() { format!("{v:e}") } else { "null".to_string() }
}

fn optional(v: Option<f64>) -> String {
    number(v.unwrap_or(f64::NAN))
}

/// A string of JSON that can stand inside a script element: nothing in it can end the element.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

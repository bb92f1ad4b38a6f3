//! Writing SVG: numbers, escaped text, a few elements.

use crate::theme;
use std::fmt::{self, Write};

/// An SVG document while it is written.
pub(crate) struct Svg {
    out: String,
}

/// Where a text stands relative to its point.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    /// A whole document of this size; `draw` fills it.
    pub fn document(width: f64, height: f64, title: &str, draw: impl FnOnce(&mut Self)) -> String {
        let (w, h) = (px(width), px(height));
        let mut svg = Self { out: String::with_capacity(8192) };
        let _ = write!(
            svg.out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"kp\" role=\"img\" width=\"{w}\" height=\"{h}\" \
                viewBox=\"0 0 {w} {h}\" \
             style=\"max-width:100%;height:auto\">"
        );
        if !title.is_empty() {
            svg.tip(title);
        }
        svg.out.push_str(&theme::style());
        svg.put(format_args!("<rect class=\"kp-page\" width=\"{w}\" height=\"{h}\"/>"));
        draw(&mut svg);
        svg.out.push_str("</svg>\n");
        svg.out
    }

    /// Appends markup as it is.
    pub fn put(&mut self, markup: fmt::Arguments<'_>) {
        let _ = self.out.write_fmt(markup);
    }

    /// A tooltip for the element that is open.
    pub fn tip(&mut self, text: &str) {
        self.put(format_args!("<title>{}</title>", escape(text)));
    }

    /// Whatever `draw` draws, moved.
    pub fn shifted(&mut self, x: f64, y: f64, draw: impl FnOnce(&mut Self)) {
        self.put(format_args!("<g transform=\"translate({} {})\">", px(x), px(y)));
        draw(self);
        self.out.push_str("</g>");
    }

    /// A text; nothing when it is empty.
    pub fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, class: &str, text: &str) {
        if !text.is_empty() {
            let (x, y, anchor) = (px(x), px(y), anchor.name());
            self.put(format_args!(
                "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" class=\"{class}\">{}</text>",
                escape(text)
            ));
        }
    }

    /// A text over data: with a rim in the colour of the page.
    pub fn text_over(&mut self, at: (f64, f64), anchor: Anchor, class: &str, text: &str) {
        self.text(at, anchor, &format!("{class} kp-halo"), text);
        self.text(at, anchor, class, text);
    }

    /// A text turned by `degrees` around its point.
    pub fn text_turned(&mut self, (x, y): (f64, f64), degrees: f64, anchor: Anchor, class: &str, text: &str) {
        if !text.is_empty() {
            let (x, y, anchor) = (px(x), px(y), anchor.name());
            self.put(format_args!(
                "<text transform=\"translate({x} {y}) rotate({degrees})\" text-anchor=\"{anchor}\" \
                    class=\"{class}\">{}</text>",
                escape(text)
            ));
        }
    }

    /// A straight line.
    pub fn line(&mut self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), class: &str) {
        let (x1, y1, x2, y2) = (px(x1), px(y1), px(x2), px(y2));
        self.put(format_args!("<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" class=\"{class}\"/>"));
    }
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// Text for XML: markup characters replaced, characters XML forbids dropped.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}

/// A length in pixels: two decimals at most, and always a number.
pub(crate) fn px(v: f64) -> String {
    if !v.is_finite() {
        return "0".to_string();
    }
    let text = format!("{v:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_string() } else { text.to_string() }
}

/// How much wider bold letters are: those of DejaVu Sans by 12 %, of Helvetica by 6 %.
pub(crate) const BOLD: f64 = 1.13;

/// About how wide a text is, in pixels: fonts differ, so rather too wide than too narrow. The widths of letters are
/// those of DejaVu Sans, the widest font of the style sheet.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 0.36,
        't' | 'f' | 'r' | '(' | ')' | '[' | ']' => 0.42,
        'm' | 'W' | '@' | '%' => 1.0,
        'w' | 'M' => 0.87,
        'A'..='Z' => 0.69,
        '\u{2070}'..='\u{209f}' | '\u{b2}' | '\u{b3}' | '\u{b9}' => 0.4,
        c if (c as u32) > 0x2e80 => 1.05,
        _ => 0.63,
    };
    size * text.chars().map(em).sum::<f64>()
}

/// The text cut to a width, with an ellipsis.
pub(crate) fn fit(text: &str, size: f64, width: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_string();
    }
    let mut out = String::new();
    for c in text.chars() {
        if text_width(&out, size) + 1.6 * size > width {
            break;
        }
        out.push(c);
    }
    out.push('\u{2026}');
    out
}

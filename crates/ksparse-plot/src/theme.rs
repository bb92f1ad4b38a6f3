//! Colours and fonts. Two palettes after Okabe and Ito (safe for the common kinds of colour blindness), for light and
//! for dark pages.

use std::fmt::Write;

/// Colours of series 0, 1, ... on a light page.
pub const PALETTE: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#b5548b", "#c98500", "#3a9bd9", "#7a6a00", "#5b5b66"];
/// The same on a dark page.
pub const PALETTE_DARK: [&str; 8] =
    ["#58b4ec", "#ff8a4c", "#3fd0a4", "#e59ac6", "#f2bd4b", "#9fd6ff", "#d9cc5a", "#b6b6c2"];

/// Sequential colours, from nothing to much: lightness falls all the way.
pub(crate) const SEQUENTIAL: [(u8, u8, u8); 6] =
    [(245, 247, 250), (201, 223, 241), (139, 190, 221), (66, 143, 195), (24, 92, 158), (8, 44, 98)];
/// Diverging colours, from negative over nothing to positive.
pub(crate) const DIVERGING: [(u8, u8, u8); 7] =
    [(158, 66, 4), (221, 122, 55), (247, 196, 158), (246, 246, 246), (163, 204, 231), (56, 128, 192), (9, 58, 122)];

/// Font sizes in pixels.
pub(crate) const TITLE: f64 = 16.0;
pub(crate) const LABEL: f64 = 13.0;
pub(crate) const SMALL: f64 = 12.0;

/// The style sheet of every picture. Class names begin with `kp-`, so that pictures in one page share them and disturb
/// nothing else.
pub(crate) fn style() -> String {
    let mut out = String::from(
        "<style>.kp{font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,'DejaVu Sans',sans-serif}",
    );
    let _ = write!(out, ".kp text{{font-size:{SMALL}px}}.kp .kp-label{{font-size:{LABEL}px}}");
    let _ = write!(out, ".kp .kp-title{{font-size:{TITLE}px;font-weight:600}}");
    out.push_str(
        ".kp-line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}.kp-thin{stroke-width:1.1}\
         .kp-rule{stroke-width:1.2;stroke-dasharray:5 4;fill:none}.kp-band{stroke:none;opacity:.17}\
         .kp-bar{stroke-width:1.3;fill:none}\
         .kp-halo{stroke-width:3.5;stroke-linejoin:round;opacity:.88}.kp-frame{fill:none;stroke-width:1}",
    );
    write_colours(&mut out, "#ffffff", "#1c1f24", "#5a616b", "#e4e7eb", "#8b929c", &PALETTE);
    out.push_str("@media (prefers-color-scheme:dark){");
    write_colours(&mut out, "#15181d", "#eceef1", "#a4abb6", "#2c3138", "#767e89", &PALETTE_DARK);
    out.push_str("}</style>");
    out
}

fn write_colours(out: &mut String, page: &str, ink: &str, muted: &str, grid: &str, axis: &str, palette: &[&str; 8]) {
    let _ = write!(
        out,
        ".kp-page{{fill:{page}}}.kp text,.kp-ink{{fill:{ink}}}.kp .kp-muted{{fill:{muted}}}\
            .kp text.kp-halo{{stroke:{page};fill:{page}}}\
         .kp-grid{{stroke:{grid};fill:none}}.kp-frame{{stroke:{axis}}}.kp-rule,.kp-lead{{stroke:{muted}}}\
         .kp-rest{{stroke:{axis};opacity:.45}}.kp-none{{fill:{grid}}}.kp-edge{{stroke:{page}}}\
         .kp-ring{{stroke:{ink};fill:none;stroke-width:2}}"
    );
    for (i, colour) in palette.iter().enumerate() {
        let _ = write!(out, ".kp-s{i}{{stroke:{colour}}}.kp-f{i}{{fill:{colour}}}.kp text.kp-f{i}{{fill:{colour}}}");
    }
}

/// The colour at `t` in \[0, 1\] of a list of equally spaced colours, as `#rrggbb`.
pub(crate) fn interpolate(stops: &[(u8, u8, u8)], t: f64) -> String {
    let last = stops.len() - 1;
    let at = t.clamp(0.0, 1.0) * last as f64;
    let i = (at as usize).min(last.saturating_sub(1));
    let (a, b, f) = (stops[i], stops[(i + 1).min(last)], at - i as f64);
    let mix = |a: u8, b: u8| (f64::from(a) + f * (f64::from(b) - f64::from(a))).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

//! What every picture owes: well-formed XML, no text unescaped, no number that is not one, whatever the data.

use ksparse_plot::{
    Axis, Chart, CoefficientPath, Grid, HeatMap, Legend, Marker, Network, PALETTE, PALETTE_DARK, Reference, Series,
    Stems,
};

const NASTY: &str = "a<b & \"c\" > 'd' \u{0}\u{7}\u{ffff} \u{1f600} ]]> <!-- -->";
const BAD: [f64; 9] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1e308, -1e308, 5e-324, f64::MAX];

/// Parses the little XML that is written: every tag closed in order, every attribute quoted, only known entities, no
/// other bracket.
fn check(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = svg.trim_end();
    assert!(rest.starts_with("<svg ") && rest.ends_with("</svg>"));
    while let Some(start) = rest.find('<') {
        check_text(&rest[..start]);
        let end = start + rest[start..].find('>').expect("a closing bracket");
        let tag = &rest[start + 1..end];
        assert!(!tag.contains('<'), "bracket in a tag: {tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closed out of order");
        } else {
            check_attributes(tag.trim_end_matches('/'));
            if !tag.ends_with('/') {
                open.push(tag.split(' ').next().expect("a name"));
            }
        }
        rest = &rest[end + 1..];
        assert!(!open.is_empty() || rest.is_empty(), "more than one root");
    }
    assert!(open.is_empty(), "left open: {open:?}");
    for word in ["NaN", "inf\"", "inf ", "-inf"] {
        assert!(!svg.contains(word), "{word} in {svg}");
    }
    assert!(svg.chars().all(|c| !c.is_control() || c == '\n'), "a control character");
}

fn check_text(text: &str) {
    for (i, _) in text.match_indices('&') {
        let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
        assert!(known.iter().any(|entity| text[i..].starts_with(entity)), "a bare ampersand in {text}");
    }
}

fn check_attributes(tag: &str) {
    let mut parts = tag.split('"');
    let mut names = vec![parts.next().unwrap_or_default().split_once(' ').map_or("", |(_, rest)| rest).to_string()];
    while let Some(value) = parts.next() {
        check_text(value);
        names.push(parts.next().expect("a closing quote").to_string());
    }
    assert_eq!(names.pop().as_deref().map(str::trim), Some(""), "attribute without a value in {tag}");
    let mut seen = Vec::new();
    for name in names {
        let name = name.trim().strip_suffix('=').expect("name=").to_string();
        assert!(!seen.contains(&name), "{name} twice in {tag}");
        seen.push(name);
    }
}

fn nasty_points() -> Vec<(f64, f64)> {
    BAD.iter().flat_map(|&x| BAD.iter().map(move |&y| (x, y))).chain([(1.0, 1.0), (2.0, 3.0), (5.0, 4.0)]).collect()
}

fn every_chart(points: &[(f64, f64)]) -> Vec<Chart> {
    let pairs: Vec<(f64, f64)> = points.iter().map(|(a, b)| (*b, *a)).collect();
    let mut out = Vec::new();
    for axis in [Axis::linear(NASTY), Axis::log(NASTY), Axis::linear("").from_zero(), Axis::linear("").range(2.0, 1.0)]
    {
        for make in [Series::new, Series::points, Series::columns, Series::steps] {
            let series = make(NASTY, points.to_vec()).band(pairs.clone()).bars(pairs.clone());
            let chart = Chart::new(NASTY).subtitle(NASTY).x(axis.clone()).y(axis.clone());
            let chart = chart.with(series.clone()).with(series.faint()).with(Series::new("", points.to_vec()));
            let chart = chart.at_x(f64::NAN, NASTY).at_y(2.0, NASTY).at_y(f64::INFINITY, NASTY);
            out.push(chart.mark(2.0, f64::NAN, NASTY).mark(2.0, 3.0, NASTY).legend(Legend::End));
        }
    }
    out
}

#[test]
fn charts_take_any_data() {
    for points in [nasty_points(), vec![], vec![(3.0, 3.0)], vec![(1.0, 7.0), (2.0, 7.0)], vec![(0.0, 0.0); 3]] {
        for chart in every_chart(&points) {
            check(&chart.to_svg());
            check(&chart.clone().size(f64::NAN, -5.0).legend(Legend::Top).to_svg());
            check(&Grid::new(NASTY, 0).with(chart.clone()).with(chart).to_svg());
        }
    }
}

#[test]
fn ranges_at_the_edge_of_precision_end() {
    for (low, high) in [(1.0, 1.0 + 1e-15), (1e15, 1e15 + 1.0), (-1e299, 1e299), (1e-299, 2e-299), (0.0, 5e-324)] {
        for axis in [Axis::linear("x"), Axis::log("x")] {
            check(
                &Chart::new("").x(axis.clone()).y(axis).with(Series::new("s", vec![(low, low), (high, high)])).to_svg(),
            );
        }
    }
}

#[test]
fn maps_networks_paths_and_stems_take_any_data() {
    for values in [vec![], vec![vec![]], vec![BAD.to_vec(), vec![1.0], vec![]], vec![vec![2.0; 3]; 2], vec![vec![0.0]]]
    {
        let map = HeatMap::new(NASTY, values).names([NASTY]).label(NASTY);
        check(&map.to_svg());
        check(&map.clone().diverging().to_svg());
        check(&HeatMap { height: Some(f64::NAN), width: f64::INFINITY, ..map.range(3.0, 3.0) }.to_svg());
    }
    check(&Network::new(NASTY, Vec::<String>::new()).to_svg());
    let mut network = Network::new(NASTY, [NASTY; 5]).subtitle(NASTY).weight(NASTY);
    for (i, &w) in BAD.iter().enumerate() {
        network = network.edge(i % 3, i % 7, w).edge(1, 1, 1.0);
    }
    check(&network.to_svg());
    check(&Network { isolated: false, ..network }.size(f64::NAN, 0.0).to_svg());
    let path = CoefficientPath::new(NASTY, vec![1.0, f64::NAN, 3.0]).chosen(f64::NAN, NASTY);
    check(&path.to_svg());
    check(&path.with(NASTY, BAD.to_vec()).with("short", vec![1.0]).with("zero", vec![0.0; 3]).to_svg());
    check(&Stems::new(NASTY, vec![]).to_svg());
    check(&Stems::new(NASTY, BAD.iter().map(|v| (NASTY.to_string(), *v)).collect()).to_svg());
}

#[test]
fn a_point_that_is_not_finite_breaks_the_line() {
    let points = vec![(1.0, 1.0), (2.0, 2.0), (3.0, f64::NAN), (4.0, 1.0), (5.0, 3.0)];
    let svg = Chart::new("").with(Series::new("s", points)).to_svg();
    let start = svg.find("class=\"kp-line kp-s0\" d=\"").expect("the line");
    let data = svg[start..].split('"').nth(3).expect("its data");
    assert_eq!((data.matches('M').count(), data.matches('L').count()), (2, 2), "{data}");
    assert_eq!(svg.matches("<circle").count(), 4);
}

#[test]
fn ticks_are_round_and_few() {
    let svg = Chart::new("").x(Axis::linear("k")).with(Series::new("s", vec![(0.0, 0.1), (997.0, 0.9)])).to_svg();
    for label in [">0<", ">200<", ">1000<", ">0.2<", ">0.8<"] {
        assert!(svg.contains(label), "{label} in {svg}");
    }
    let svg = Chart::new("").y(Axis::log("s")).with(Series::new("s", vec![(0.0, 1e-6), (1.0, 10.0)])).to_svg();
    assert!(svg.contains("10\u{207b}\u{2074}"), "{svg}");
    let svg = Chart::new("").x(Axis::linear("k")).with(Series::new("s", vec![(1.0, 1.0), (3.0, 9.0)])).to_svg();
    assert!(!svg.contains(">1.5<"), "half a k");
}

#[test]
fn tooltips_say_what_is_shown() {
    let svg = Chart::new("")
        .x(Axis::linear("k"))
        .y(Axis::linear("error"))
        .with(Series::new("GraHTP", vec![(85.0, 0.1284)]))
        .to_svg();
    assert!(svg.contains("<title>GraHTP, k 85: error 0.1284</title>"), "{svg}");
    let svg = HeatMap::new("", vec![vec![0.25]]).names(["TP53"]).to_svg();
    assert!(svg.contains("<title>TP53, TP53: 0.25</title>"));
    let svg = Network::new("", ["A", "B"]).edge(0, 1, -0.5).to_svg();
    assert!(
        svg.contains("<title>A \u{2013} B: weight \u{2212}0.5</title>") && svg.contains("<title>A: 1 edge</title>")
    );
    assert!(svg.contains("stroke-dasharray=\"6 5\""), "a negative edge is dashed");
}

#[test]
fn the_legend_names_every_series_once_and_leaves_the_plot_alone() {
    let line = |name: &str, colour| Series::new(name, vec![(0.0, 0.0), (1.0, 1.0)]).colour(colour).marker(Marker::None);
    let chart = Chart::new("").with(line("first", 0)).with(line("second", 1));
    let grid = Grid::new("", 2).with(chart.clone()).with(chart.clone().with(line("third", 2)));
    for name in ["first", "second", "third"] {
        assert_eq!(grid.to_svg().matches(&format!(">{name}</text>")).count(), 1);
    }
    let top = |svg: &str| {
        svg.split("<path class=\"kp-frame\" d=\"M").nth(1).and_then(|d| d.split([' ', 'V']).nth(1)?.parse().ok())
    };
    let (with, without): (Option<f64>, Option<f64>) =
        (top(&chart.to_svg()), top(&chart.legend(Legend::Hidden).to_svg()));
    assert!(with.expect("a frame") >= without.expect("a frame") + 20.0, "the plot begins below the legend");
}

#[test]
fn the_same_data_give_the_same_picture() {
    let mut network = Network::new("", (0..60).map(|i| i.to_string()));
    for i in 0..80 {
        network = network.edge(i * 7 % 60, i * 13 % 50, 1.0);
    }
    assert_eq!(network.to_svg(), network.clone().to_svg());
}

#[test]
fn one_edge_is_no_edges() {
    let network = Network::new("", ["a", "b", "c"].map(String::from)).edge(0, 1, 0.5).weight("correlation");
    let svg = network.edge(1, 2, -0.5).to_svg();
    assert!(svg.contains("positive correlation (1 edge)<") && svg.contains("a: 1 edge<"), "{svg}");
}

#[test]
fn hubs_have_their_names_first() {
    let mut network = Network::new("", (0..40).map(|i| format!("n{i}")));
    network.most_names = 1;
    for i in (0..40).filter(|i| *i != 23) {
        network = network.edge(23, i, 0.5);
    }
    let svg = network.to_svg();
    let shown = |i: usize| svg.contains(&format!(">n{i}</text>"));
    assert!(shown(23) && (0..40).filter(|i| shown(*i)).count() == 1, "{svg}");
}

/// Nodes of a network stay inside the picture and do not cover each other.
#[test]
fn nodes_keep_apart() {
    for nodes in [2, 10, 60, 200] {
        let mut network = Network::new("", (0..nodes).map(|i| format!("n{i}")));
        for i in 0..nodes + nodes / 3 {
            network = network.edge((i * i + 3) % nodes, (i * 5 + 1) % nodes, 1.0);
        }
        let svg = network.to_svg();
        let value = |tag: &str, name: &str| -> f64 {
            tag.split(&format!(" {name}=\"")).nth(1).and_then(|v| v.split('"').next()?.parse().ok()).expect("a number")
        };
        let circles: Vec<(f64, f64, f64)> =
            svg.split("<circle ").skip(1).map(|tag| (value(tag, "cx"), value(tag, "cy"), value(tag, "r"))).collect();
        assert_eq!(circles.len(), nodes);
        let mut touching = 0;
        for (i, a) in circles.iter().enumerate() {
            assert!((0.0..=760.0).contains(&a.0) && (0.0..=600.0).contains(&a.1));
            touching += circles[..i].iter().filter(|b| (a.0 - b.0).hypot(a.1 - b.1) < a.2 + b.2 - 0.5).count();
        }
        assert!(touching * 50 <= nodes, "{touching} of {nodes} nodes cover another");
    }
}

/// Contrast of at least 3 with the page for every colour of a series (WCAG for graphics).
#[test]
fn colours_can_be_seen_on_their_page() {
    let luminance = |hex: &str| -> f64 {
        let channel = |i: usize| f64::from(u8::from_str_radix(&hex[i..i + 2], 16).expect("hex")) / 255.0;
        let linear = |c: f64| if c <= 0.03928 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
        0.2126 * linear(channel(1)) + 0.7152 * linear(channel(3)) + 0.0722 * linear(channel(5))
    };
    let contrast = |a: &str, b: &str| {
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        a.max(b) / a.min(b)
    };
    for (palette, page) in [(PALETTE, "#ffffff"), (PALETTE_DARK, "#15181d")] {
        for colour in palette {
            assert!(contrast(colour, page) >= 2.9, "{colour} on {page}: {}", contrast(colour, page));
        }
    }
}

#[test]
fn fields_are_public_and_plain() {
    let mut chart = Chart { title: "T".to_string(), ..Chart::default() };
    chart.references.push(Reference { upright: true, at: 1.0, label: "here".to_string() });
    chart.series.push(Series { name: "s".to_string(), points: vec![(0.0, 1.0), (2.0, 3.0)], ..Series::default() });
    assert!(chart.to_svg().contains(">here</text>"));
}

fn page() -> ksparse_plot::PathPage {
    use ksparse_plot::{PathPage, PathStep};
    let step = |k: usize| PathStep {
        k,
        support: (0..k).chain([99]).collect(),
        coefficients: (0..k).map(|j| if j % 2 == 0 { 1.0 / (j + 1) as f64 } else { -0.5 }).chain([1.0]).collect(),
        intercept: 0.25,
        objective: if k == 3 { f64::NAN } else { 1.0 / k as f64 },
        score: (k != 2).then_some(0.5 - 0.1 * k as f64),
        error: Some(0.05),
        gap: (k == 4).then_some(0.01),
    };
    PathPage {
        title: NASTY.to_string(),
        about: NASTY.to_string(),
        score: "</script><b>score".to_string(),
        names: vec![
            "</script><script>alert(1)".to_string(),
            NASTY.to_string(),
            "\u{2028}".to_string(),
            "d".to_string(),
        ],
        steps: (1..=4).map(step).collect(),
        chosen: Some(2),
        notes: vec![NASTY.to_string()],
        frequencies: vec![(NASTY.to_string(), 1.0), ("d".to_string(), 0.4), ("e".to_string(), f64::NAN)],
    }
}

#[test]
fn a_page_holds_what_it_is_given_and_nothing_escapes() {
    use ksparse_plot::PathPage;
    let html = page().to_html();
    assert_eq!(html.matches("<script").count(), 2, "its data and its script");
    assert_eq!(html.matches("</script>").count(), 2);
    for outside in ["http-equiv", "<link", "src=", "@import", "url("] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert!(!html.contains("NaN") && !html.contains(",99]"));
    assert!(PathPage { chosen: Some(7), ..PathPage::default() }.to_html().contains("\"chosen\":null"));
}

/// Moves the slider in a real browser and reads what the page then shows.
#[test]
fn a_page_works_in_a_browser() {
    let look = "const look=()=>document.getElementById('k').textContent+', '+document.querySelectorAll('#bars rect')\
        .length+' bars, '+\
        document.querySelectorAll('#paths .on').length+' lines, '+document.getElementById('facts')\
        .textContent.includes('proven gap');\
        const seen=[look()],s=document.getElementById('slider');s.value=0;s.dispatchEvent(new Event('input'));\
        seen.push(look());\
        document.getElementById('on').click();document.getElementById('on').click();\
        document.getElementById('on').click();seen.push(look());\
        document.getElementById('best').click();seen.push(look());\
        seen.push(document.querySelectorAll('#notes li').length+' note, '+\
        [...document.querySelectorAll('#frequencies meter')].map(m=>m.value));";
    let script = format!("{look}seen.push({});document.title=seen.join(' | ')", headless::MANNERS);
    let Some(title) = headless::title(&page().to_html(), &script).expect("the browser runs") else { return };
    assert_eq!(
        title,
        "k = 3 (chosen), 3 bars, 3 lines, false | k = 1, 1 bars, 1 lines, false | k = 4, 4 bars, 4 lines, true | \
         k = 3 (chosen), 3 bars, 3 lines, false | 1 note, 100,40,0 | 0 fetched, overflow false"
    );
}

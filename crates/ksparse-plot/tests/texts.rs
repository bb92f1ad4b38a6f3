//! No text leaves its picture, however long titles and names are: measured in a real browser, with its fonts.

use ksparse_plot::{
    Axis, Chart, CoefficientPath, Grid, HeatMap, Legend, Network, PathPage, PathStep, Series, Stems, escape,
};

/// A file name as instruments write them, without a place to break; with spaces; in wide letters.
fn long(kind: usize, i: usize) -> String {
    match kind {
        0 => format!("{i}_{}.csv.gz", "spectrometer_run_WM".repeat(12)),
        1 => format!("{i} {}", "a longer title than anyone reads ".repeat(8)),
        _ => format!("{i}{}", "観測値".repeat(60)),
    }
}

/// Each kind of picture, by name.
fn pictures(kind: usize) -> Vec<(&'static str, String)> {
    let name = |i| long(kind, i);
    let points = |at: f64| (0..8).map(|i| (f64::from(i), at * f64::from(i * i))).collect::<Vec<_>>();
    let chart = |legend| {
        let chart = Chart::new(name(0)).subtitle(name(1)).x(Axis::linear(name(2))).y(Axis::linear(name(3)));
        let chart = chart.with(Series::new(name(4), points(1.0))).with(Series::new(name(5), points(-0.5)));
        chart.at_x(7.0, name(6)).at_y(40.0, name(7)).mark(7.0, 49.0, name(8)).mark(0.0, 0.0, name(9)).legend(legend)
    };
    let mut path = CoefficientPath::new(name(0), (0..8).map(f64::from).collect()).chosen(7.0, name(1));
    path.subtitle = name(2);
    let mut network = Network::new(name(0), (0..12).map(name)).subtitle(name(1)).weight(name(2));
    let mut stems = Stems::new(name(0), (0..50).map(|i| (name(i), i as f64 - 20.0)).collect());
    stems.subtitle = name(1);
    for i in 0..12 {
        path = path.with(name(i), (0..8).map(|k| (k * (i + 1)) as f64 / 7.0).collect());
        network = network.edge(i, (i * 5 + 1) % 12, if i % 2 == 0 { 0.5 } else { -0.5 });
    }
    let values = (0..12).map(|i| (0..12).map(|j| (i * j) as f64).collect()).collect();
    let map = HeatMap::new(name(0), values).subtitle(name(1)).names((0..12).map(name)).label(name(2));
    let bare = |at: usize| Chart { subtitle: String::new(), ..chart(Legend::Top) }.size(300.0 + at as f64, 240.0);
    vec![
        ("chart", chart(Legend::Top).to_svg()),
        ("chart with names at the ends", chart(Legend::End).to_svg()),
        ("narrow chart", bare(0).to_svg()),
        ("path", path.to_svg()),
        ("stems", stems.to_svg()),
        ("heat map", map.to_svg()),
        ("network", network.to_svg()),
        ("grid", Grid::new(name(0), 2).subtitle(name(1)).with(bare(0)).with(bare(1)).with(map).to_svg()),
    ]
}

#[test]
fn texts_stay_in_their_picture() {
    for kind in 0..3 {
        let mut page = String::from("<!doctype html><html><head><title></title></head><body>");
        for (name, svg) in pictures(kind) {
            page += &format!("<div data-kind=\"{}\">{svg}</div>", escape(name));
        }
        let script = "const out=[];for(const d of document.querySelectorAll('div')){const s=d.firstElementChild\
            .getBoundingClientRect();for(const t of d.querySelectorAll('text')){const b=t.getBoundingClientRect();\
            if(b.left<s.left-1||b.right>s.right+1||b.top<s.top-1||b.bottom>s.bottom+1)out.push(d.dataset.kind+' '+\
            t.getAttribute('class')+' '+t.textContent.slice(0,12)+' '+[s.left-b.left,b.right-s.right,s.top-b.top,\
            b.bottom-s.bottom].map(Math.round))}}\
            document.title=document.querySelectorAll('text').length+' texts, outside: '+out.join('; ')";
        let Some(said) = headless::title(&(page + "</body></html>"), script).expect("the browser runs") else { return };
        let (count, outside) = said.split_once(" texts, outside: ").expect(&said);
        assert!(count.parse::<usize>().expect("a number") > 100 && outside.is_empty(), "{kind}: {said}");
    }
}

#[test]
fn a_page_is_not_wider_for_a_long_title() {
    for kind in 0..3 {
        let step = |k| PathStep { k, support: (0..k).collect(), coefficients: vec![1.0; k], ..PathStep::default() };
        let page = PathPage {
            title: long(kind, 0),
            about: long(kind, 1),
            score: long(kind, 2),
            names: (0..4).map(|i| long(kind, i)).collect(),
            steps: (1..=4).map(step).collect(),
            notes: vec![long(kind, 3)],
            frequencies: vec![(long(kind, 4), 1.0)],
            ..PathPage::default()
        };
        let script = format!("document.title={}", headless::MANNERS);
        let Some(said) = headless::title(&page.to_html(), &script).expect("the browser runs") else { return };
        assert_eq!(said, "0 fetched, overflow false", "{kind}");
    }
}

//! graph, lda.

use crate::bench::Bench;

/// 200 samples of 12 variables with a sparse precision matrix.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.ok("simulate precision --rows 200 --cols 12 -o data.csv");
    bench
}

#[test]
fn a_network_has_the_edges_asked_for() {
    let bench = bench();
    let found = bench.json("graph data.csv -k 7 --json");
    assert_eq!((found["k"].as_u64(), found["edges"].as_array().unwrap().len()), (Some(7), 7));
    let rows = found["precision"].as_array().unwrap();
    assert_eq!(rows.len(), 12);
    for edge in found["edges"].as_array().unwrap() {
        let (i, j) = (edge["nodes"][0].as_u64().unwrap() as usize, edge["nodes"][1].as_u64().unwrap() as usize);
        let (weight, back) = (rows[i][j].as_f64().unwrap(), rows[j][i].as_f64().unwrap());
        assert_eq!((edge["weight"].as_f64(), weight), (Some(weight), back));
        let scale = (rows[i][i].as_f64().unwrap() * rows[j][j].as_f64().unwrap()).sqrt();
        assert!((edge["partial_correlation"].as_f64().unwrap() + weight / scale).abs() < 1e-12);
        assert_eq!(edge["names"][0].as_str().unwrap(), format!("x{}", i + 1));
    }
    for key in ["objective", "status", "iterations", "seconds"] {
        assert!(!found[key].is_null(), "{key}");
    }
}

#[test]
fn a_network_is_written_and_drawn() {
    let bench = bench();
    for (file, piece) in
        [("a.json", "\"edges\""), ("a.csv", "node_a,node_b"), ("a.graphml", "<graphml"), ("a.dot", "--")]
    {
        bench.ok(&format!("graph data.csv -k 5 -o {file}"));
        assert!(bench.read(file).contains(piece), "{file}");
    }
    bench.ok("graph data.csv -k 5 --plot net.svg --heat heat.svg");
    assert!(bench.read("net.svg").starts_with("<svg") && bench.read("heat.svg").starts_with("<svg"));
    assert_eq!(bench.run("graph data.csv -k 5 -o a.txt").code, 2);
}

#[test]
fn k_is_chosen_and_edges_are_weighed() {
    let bench = bench();
    let cv = bench.json("graph data.csv -k 0,4,8 --cv 3 --solver grahtp --json");
    assert_eq!(cv["choice"]["scores"].as_array().unwrap().len(), 3);
    let stable = bench.json("graph data.csv -k 4 --stability 5 --solver grahtp --json");
    assert!(stable["edges"].as_array().unwrap().iter().all(|e| e["frequency"].as_f64().unwrap() <= 1.0));
    let refused = bench.run("graph data.csv -k 4 --covariance");
    assert!(refused.code == 2 && refused.stderr.contains("no covariance matrix"), "{}", refused.stderr);
}

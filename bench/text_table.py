#!/usr/bin/env python3
"""Test error and objective against k on a labelled text collection, by the `ksparse` command alone.

    bench/text_table.py DATA [--ksparse target/release/ksparse] [--seed 1 2 3] [--solvers auto grahtp]

DATA is any file the command reads, two labels. Four fifths of the rows are fitted, one fifth is predicted, with the
papers' settings: lambda 1e-5, logistic scale 2, no intercept, k = 100, 200, ..., 1000. Prints tables in Markdown: means
over the splits of all seeds.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

SOLVERS = ["auto", "grahtp", "fgrahtp", "grasp", "fbs"]
KS = range(100, 1001, 100)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--ksparse", default="target/release/ksparse")
    parser.add_argument("--seed", nargs="+", default=["1"])
    parser.add_argument("--solvers", nargs="+", default=SOLVERS)
    args = parser.parse_args()

    def ksparse(*words):
        done = subprocess.run([args.ksparse, *map(str, words)], check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout

    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        # The mapped form, so that reading costs nothing.
        whole, train, test = (folder / name for name in ["data.ksb", "data.train.ksb", "data.test.ksb"])
        ksparse("convert", args.data, whole)
        for seed in args.seed:
            print(ksparse("split", whole, "--test", "0.2", "--seed", seed))
            for solver in args.solvers:
                for k in KS:
                    model = folder / "model.json"
                    fit = json.loads(ksparse("fit", train, "-k", k, "--loss", "logistic", "--solver", solver,
                                             "--lambda", "1e-5", "--logistic-scale", "2", "--no-intercept", "--json",
                                             "-o", model))
                    scores = json.loads(ksparse("predict", model, test, "--score", "--json"))
                    found = (scores["error"], fit["objective"], fit["seconds"])
                    rows.setdefault((k, solver), []).append(found)
                    print(k, solver, *found, fit["status"], flush=True)
    for title, place, digits in [("test error", 0, 4), ("objective", 1, 5), ("seconds", 2, 2)]:
        print(f"\n{title}\n\n| k | {' | '.join(args.solvers)} |\n|---|{'---|' * len(args.solvers)}")
        for k in KS:
            means = [statistics.mean(found[place] for found in rows[k, solver]) for solver in args.solvers]
            print(f"| {k} | " + " | ".join(f"{mean:.{digits}f}" for mean in means) + " |")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Test error and objective against k on a labelled text collection, by the `ksparse` command alone.

    bench/text_table.py DATA [--ksparse target/release/ksparse] [--seed 1]

DATA is any file the command reads, two labels. Four fifths of the rows are fitted, one fifth is predicted, with the papers' settings:
lambda 1e-5, logistic scale 2, no intercept, k = 100, 200, ..., 1000. Prints tables in Markdown.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

SOLVERS = ["auto", "grahtp", "fgrahtp", "grasp", "fbs"]
KS = range(100, 1001, 100)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--ksparse", default="target/release/ksparse")
    parser.add_argument("--seed", default="1")
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
        print(ksparse("split", whole, "--test", "0.2", "--seed", args.seed))
        for solver in SOLVERS:
            for k in KS:
                model = folder / "model.json"
                fit = json.loads(ksparse("fit", train, "-k", k, "--loss", "logistic", "--solver", solver, "--lambda", "1e-5",
                                         "--logistic-scale", "2", "--no-intercept", "--json", "-o", model))
                scores = json.loads(ksparse("predict", model, test, "--score", "--json"))
                rows[k, solver] = (scores["error"], fit["objective"], fit["seconds"], fit["status"])
                print(k, solver, *rows[k, solver], flush=True)
    for title, place, digits in [("test error", 0, 4), ("objective", 1, 5), ("seconds", 2, 2)]:
        print(f"\n{title}\n\n| k | {' | '.join(SOLVERS)} |\n|---|{'---|' * len(SOLVERS)}")
        for k in KS:
            print(f"| {k} | " + " | ".join(f"{rows[k, solver][place]:.{digits}f}" for solver in SOLVERS) + " |")


if __name__ == "__main__":
    main()

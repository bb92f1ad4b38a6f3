#!/usr/bin/env python3
"""How tight the proven bound is on text, and what it costs, by the `ksparse` command alone.

    bench/bound_table.py [DATA ...] [--ksparse target/release/ksparse] [--seed 1]

Simulated text of RCV1's shape, then every DATA (any file the command reads, two labels). Logistic loss of scale 2, no
intercept, k = 100, lambda = 1e-3, 1e-4, 1e-5, one thread. Prints a table in Markdown: the gap between fit and bound,
the distance between the bound and the perspective relaxation (beyond which no dual bound goes), both relative to f, and
the seconds of the fit and of the bound.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path, nargs="*")
    parser.add_argument("--ksparse", default="target/release/ksparse")
    parser.add_argument("--seed", default="1")
    args = parser.parse_args()

    def ksparse(*words):
        done = subprocess.run([args.ksparse, *map(str, words)], check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout

    with tempfile.TemporaryDirectory() as folder:
        # The mapped form, so that reading costs nothing.
        text = pathlib.Path(folder) / "text.svm"
        ksparse("simulate", "text", "--rows", 20000, "--cols", 47236, "--seed", args.seed, "-o", text)
        print("| data | lambda | f | relative gap | bound to relaxation | fit s | bound s | bound / fit |")
        print("|---|---|---|---|---|---|---|---|")
        for number, source in enumerate([text, *args.data]):
            mapped = pathlib.Path(folder) / f"{number}.ksb"
            ksparse("convert", source, mapped)
            for strength in ["1e-3", "1e-4", "1e-5"]:
                fit = json.loads(ksparse("fit", mapped, "-k", 100, "--loss", "logistic", "--lambda", strength,
                                         "--logistic-scale", 2, "--no-intercept", "--threads", 1,
                                         "--certify", "--json"))
                f, took, bounding = fit["objective"], fit["seconds"], fit["certify_seconds"]
                distance = (fit["relaxation"] - fit["lower_bound"]) / f
                print(f"| {source.name} | {strength} | {f:.5f} | {fit['relative_gap']:.1e} | {distance:.1e} | "
                      f"{took:.2f} | {bounding:.2f} | {bounding / took:.2f} |", flush=True)


if __name__ == "__main__":
    main()

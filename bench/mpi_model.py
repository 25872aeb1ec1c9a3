#!/usr/bin/env python3
"""What fits by many ranks would take: a model of an iteration, measured here on one to four ranks.

    t(P) = n/P * sample + levels(P) * (latency + bytes/bandwidth) * 2 + algebra

sample: seconds per sample of a sweep on one rank with one thread; the reduction sends m*r + r^2 + a few doubles up the
tree over ranks and down again; algebra: what every rank does by itself with U, O(m r^2). Prints the measured times beside
the model's, then a table for 1e9 samples as Markdown. Needs NumPy, build/armilla and build/armilla-mpi, and mpirun."""

import argparse
import json
import math
import os
import subprocess
import tempfile

import numpy as np

BUILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build")
# A usual network between machines; --latency and --bandwidth say otherwise.
CORES = 64


def fit(path, rank, ranks, threads, iterations):
    program = [os.path.join(BUILD, "armilla")]
    if ranks:
        program = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(ranks),
                   os.path.join(BUILD, "armilla-mpi")]
    arguments = ["fit", path, "--rank", str(rank), "--start", "random", "--solver", "palm", "--tol", "0", "--max-iter",
                 str(iterations), "--threads", str(threads), "--json", "--quiet"]
    done = subprocess.run([*program, *arguments], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["seconds_per_iteration"]


def best(repeats, *arguments):
    return min(fit(*arguments) for _ in range(repeats))


def reduction(m, r, ranks, latency, bandwidth):
    """Up the tree and down; and the two agreements of an iteration, of few bytes, likewise."""
    levels = math.ceil(math.log2(ranks)) if ranks > 1 else 0
    return 2 * levels * (latency + 8 * (m * r + r * r) / bandwidth) + 2 * 2 * levels * latency


def measure(options):
    n, m, r = options.samples, options.features, options.rank
    with tempfile.TemporaryDirectory() as folder:
        path, small = os.path.join(folder, "data.npy"), os.path.join(folder, "small.npy")
        data = np.random.default_rng(1).random((n, m), dtype="f4")
        np.save(path, data)
        np.save(small, data[: n // 8])
        whole, part = best(3, path, r, 0, 1, 10), best(3, small, r, 0, 1, 10)
        sample = (whole - part) / (n - n // 8)
        algebra = max(whole - n * sample, 0)
        rows = [("1 process, 2 threads", best(3, path, r, 0, 2, 10), None)]
        for ranks in (1, 2, 3, 4):
            share = min(ranks, os.cpu_count())
            model = n / share * sample + algebra + reduction(m, r, ranks, 1e-6, 5e9)
            rows.append((f"{ranks} ranks, 1 thread each", best(3, path, r, ranks, 1, 10), model))
    return sample, algebra, rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=60000)
    parser.add_argument("--features", type=int, default=500)
    parser.add_argument("--rank", type=int, default=20)
    parser.add_argument("--latency", type=float, default=2e-6, help="seconds of a message between machines")
    parser.add_argument("--bandwidth", type=float, default=1e10, help="bytes per second between machines")
    options = parser.parse_args()
    sample, algebra, rows = measure(options)
    m, r = options.features, options.rank
    print(f"{options.samples} samples x {m} features, rank {r}; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print("\n| measured here | ms per iteration | the model's |\n|---|---|---|")
    for what, seconds, model in rows:
        print(f"| {what} | {1e3 * seconds:.1f} | {'' if model is None else f'{1e3 * model:.1f}'} |")
    entry = sample / (m * r)  # of X, for each atom
    print(f"\n{1e12 * entry:.2f} ps for each entry of X and atom on one core; algebra {1e3 * algebra:.2f} ms")
    print(f"\n1e9 samples, rank 20, nodes of {CORES} cores, seconds per iteration (of that the reduction):\n")
    counts = (64, 256, 1024, 4096)
    print("| features | " + " | ".join(f"{count} nodes" for count in counts) + " |")
    print("|---" * (len(counts) + 1) + "|")
    for features in (1000, 3000, 10000):
        cells = []
        for count in counts:
            work = 1e9 / min(count, 1024) * features * 20 * entry / CORES
            own = algebra * features / m
            sent = reduction(features, 20, count, options.latency, options.bandwidth)
            cells.append(f"{work + own + sent:.4f} ({sent:.4f})")
        print(f"| {features} | " + " | ".join(cells) + " |")
    # Sweep, exchange and algebra all grow with m*r: what decides is how many samples a node has.
    beside = 2 * 10 * 8 / options.bandwidth + algebra / (m * r)
    print(f"\nBelow {beside / (entry / CORES):.0f} samples for each of 1024 nodes the replicated basis costs more than the "
          "sweep, whatever m.")


main()

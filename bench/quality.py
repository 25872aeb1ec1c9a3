"""The part of bench.py for time to quality: `fast` against `palm` from the same random starts."""
import csv
import importlib.util
import os
import statistics

import numpy as np

import nmf

PAIRS = [(basis, codes) for basis in ("orthonormal", "nonnegative")
         for codes in ("sphere", "nonneg-sphere", "sparse-sphere", "nonneg-sparse-sphere")]
SPHERICAL_NMF = ("nonnegative", "nonneg-sphere")


def reached(trace, goal):
    """When the objective is first there; palm may stand still before its last iteration, which is no credit to fast."""
    return next((second for second, objective in trace if objective <= goal), None)


class QualityParts:
    def part_quality(self):
        """seconds until fast has the objective of palm after 500 iterations"""
        data, name = self.images()
        times, curves = {}, {}
        for pair in PAIRS:
            curves[pair] = self.quality_rows(data, name, pair, times)
        for data, other in self.quality_sets():
            self.quality_rows(data, other, SPHERICAL_NMF, times, "--normalize", "l2")
        self.details["quality"] = times
        self.draw_curves(curves, name)

    def quality_sets(self):
        """Dense and sparse data for spherical-nmf, whose samples are scaled to unit length: those given, or generated."""
        if self.options.quality:
            return [(file, os.path.basename(file)) for file in self.options.quality]
        sets = [self.images()]
        if importlib.util.find_spec("sklearn"):
            from sklearn.datasets import load_digits
            np.save(self.path("digits.npy"), load_digits().data.astype(np.float32))
            sets.append((self.path("digits.npy"), "digits"))
        if importlib.util.find_spec("scipy"):
            sets.append(nmf.sparse_data(self))
        return [(file, f"{name}, unit length") for file, name in sets]

    def quality_trace(self, data, pair, solver, seed, words):
        """(seconds, objective) of every iteration"""
        basis, codes = pair
        file = self.path(f"trace-{basis}-{codes}-{solver}-{seed}.csv")
        self.fit(data, 10, "--basis", basis, "--codes", codes, "--solver", solver, "--start", "random", "--seed", seed,
                 "--tol", 0, "--max-iter", 500, "--precision", "f32", "--trace", file,
                 *(("--sparsity", 3) if "sparse" in codes else ()), *words)
        with open(file, newline="") as lines:
            return [(float(line["seconds"]), float(line["objective"])) for line in csv.DictReader(lines)]

    def quality_rows(self, data, name, pair, times, *words):
        """The two rows of a pair; returns the traces of the first seed."""
        ratios, finals, first = [], {"palm": [], "fast": []}, None
        seeds = range(self.options.first_seed, self.options.first_seed + self.options.seeds)
        for seed in seeds:
            trace = {solver: self.quality_trace(data, pair, solver, seed, words) for solver in finals}
            for solver in finals:
                finals[solver].append(trace[solver][-1][1])
            goal = trace["palm"][-1][1]
            fast = reached(trace["fast"], goal)
            ratios.append(0.0 if fast is None else reached(trace["palm"], goal) / fast)
            first = first or trace
        palm, fast = (statistics.median(finals[solver]) for solver in ("palm", "fast"))
        target = 20 if pair[0] == "orthonormal" else 8
        ratio, failed = statistics.median(ratios), sum(value == 0 for value in ratios)
        text = f"{ratio:.1f}x" + (f"; not reached by {failed} of {len(seeds)}" if failed else "")
        pair = " x ".join(pair)
        self.row(f"time to quality, {name}: {pair}", text, f">= {target}x", ratio >= target)
        self.row(f"  median final objective, fast / palm: {pair}", f"{fast / palm:.6f} ({fast:.7g} / {palm:.7g})",
                 "<= 1", fast <= palm * (1 + 1e-6))
        times[f"{name}: {pair}"] = {"seeds": list(seeds), "ratio": ratios, **finals}
        return first

    def part_pairs(self):
        """all eight pairs by processor time of one thread, on samples of unit length"""
        seeds = range(self.options.first_seed, self.options.first_seed + self.options.seeds)
        for file, name in self.quality_sets():
            words = [os.path.join(self.options.build, "bench_quality"), file, "--first-seed", str(seeds[0]), "--seeds",
                     str(len(seeds))]
            lines = [line.split() for line in self.with_blas(None, words).splitlines()]
            ends = [line.split() for line in
                    self.with_blas(None, [*words, "--palm", "5000", "--finals"]).splitlines()] if not self.quick else []
            for pair in PAIRS:
                self.pair_rows(name, pair, [line for line in lines if tuple(line[:2]) == pair],
                               [line for line in ends if tuple(line[:2]) == pair])

    def pair_rows(self, name, pair, lines, ends):
        """basis codes seed goal palm_seconds fast_seconds fast_iterations fast_last palm_last (bench/quality.c)"""
        target = 20 if pair[0] == "orthonormal" else 8
        ratios = [float(line[4]) / float(line[5]) if float(line[5]) > 0 else 0.0 for line in lines]
        ratio, failed, pair = statistics.median(ratios), ratios.count(0), " x ".join(pair)
        self.row(f"{name}: {pair}", f"{ratio:.1f}x" + (f"; not reached by {failed} of {len(ratios)}" if failed else ""),
                 f">= {target}x", ratio >= target)
        if ends:
            fast, palm = (statistics.median(float(line[column]) for line in ends) for column in (7, 8))
            self.row(f"  median final objective, fast / palm after 5000: {pair}", f"{fast / palm:.5f}", "<= 1",
                     fast <= palm * (1 + 1e-6))

    def draw_curves(self, curves, name):
        """One panel per pair: objective against seconds, as a multiple of palm's last, of the first seed."""
        panels = []
        for basis, codes in curves:
            trace = curves[basis, codes]
            goal = trace["palm"][-1][1]
            file = f"curve-{basis}-{codes}.dat"
            with open(self.path(file), "w") as out:
                for solver in ("palm", "fast"):
                    out.write(f"# {solver}: seconds, objective, objective / palm's after 500 iterations\n")
                    out.writelines(f"{s:.9g} {f:.17g} {f / goal:.12g}\n" for s, f in trace[solver])
                    out.write("\n\n")
            low = min(f / goal for solver in trace for _, f in trace[solver])
            span = max(1 - low, 0.02)
            panels.append(f"set title '{basis} x {codes}'\nset yrange [{low - span / 4:.5f}:{1 + 4 * span:.5f}]\n"
                          f"plot 1 with lines lc rgb '#999999' dt 2 notitle, \\\n"
                          f"  '{file}' index 0 using 1:3 with lines lw 2 lc rgb '#0072b2' title 'palm', \\\n"
                          f"  '{file}' index 1 using 1:3 with lines lw 2 lc rgb '#d55e00' title 'fast'\n")
        script = ("set logscale x\nset format x '10^{%T}'\nset xlabel 'seconds'\nset key top right\n"
                  "set ylabel \"objective / palm's last\" offset 1\nset xtics 10\nset tics nomirror\nset border 3\n"
                  f"set multiplot layout 2,4 title 'Time to quality, {name}, r = 10, s = 3, {self.threads} threads'\n"
                  + "".join(panels) + "unset multiplot")
        self.gnuplot("curves", script, (1500, 720))
        self.picture("curves", f"Time to quality, {name}", "objective of palm and fast over seconds, for each pair")

"""Part of bench.py: the whole command `armilla cluster`, by the number of samples."""
import json
import os
import subprocess
import time

import numpy as np


class ClusterParts:
    def part_clusters(self):
        """seconds and memory of armilla cluster by its default, from reading to labels"""
        points = []
        for n in (1000, 10_000) if self.quick else (10_000, 100_000, 1_000_000):
            path, truth = self.mixture(n, 64, 20)
            seconds, memory, agreement = self.clusters_run(path, truth, 20)
            os.remove(path)
            self.row(f"armilla cluster, 64 features x {n} samples, k=20: the whole command",
                     f"{seconds:.1f} s, {memory / 1e6:.0f} MB, NMI {agreement:.3f} with the groups it was made of")
            points.append((n, seconds))
        self.lines("clusters", "armilla cluster, 64 features, k = 20", ("samples", "seconds"), {"default": points},
                   ratios=False)

    def mixture(self, n, m, k):
        """Samples around k directions, as much noise as direction: a file of f32, and whose group each belongs to."""
        rng, path = np.random.default_rng(6), self.path(f"mixture-{m}x{n}.npy")
        centres, truth = rng.standard_normal((k, m), dtype=np.float32), rng.integers(0, k, n)
        samples = np.lib.format.open_memmap(path, "w+", np.float32, (n, m))
        for first in range(0, n, 100_000):
            group = truth[first:first + 100_000]
            samples[first:first + len(group)] = centres[group] + rng.standard_normal((len(group), m), np.float32)
        return path, truth

    def clusters_run(self, path, truth, k, *words):
        """Seconds, peak memory in bytes, and NMI with the truth of one run."""
        labels, classes = self.path("clusters.txt"), self.path("clusters-truth.txt")
        np.savetxt(classes, truth, fmt="%d")
        begin = time.perf_counter()
        run = subprocess.run([self.armilla, "cluster", path, "--k", str(k), "--threads", str(self.threads), "--out", labels,
                              "--force", "--quiet", "--json", *words], stdout=subprocess.PIPE, check=True)
        seconds = time.perf_counter() - begin
        score = subprocess.run([self.armilla, "score", labels, classes, "--json"], stdout=subprocess.PIPE, check=True)
        return seconds, json.loads(run.stdout)["peak_rss_bytes"], json.loads(score.stdout)["nmi"]

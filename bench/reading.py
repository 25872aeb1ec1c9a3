"""The part of bench.py for reading: Matrix Market against SciPy, entries in order and shuffled."""
import json
import os
import sys

import numpy as np

MMREAD = r"""
import json, sys, time
import scipy.io, scipy.sparse
least = float("inf")
for _ in range(2):
    begin = time.perf_counter()
    X = scipy.sparse.csc_matrix(scipy.io.mmread(sys.argv[1]))
    least = min(least, time.perf_counter() - begin)
print(json.dumps({"seconds": least, "entries": int(X.nnz)}))
"""


class ReadingParts:
    def matrix_market_text(self, entries, shuffled):
        """A file of so many entries in 10000 features x 30000 samples, samples in order or not."""
        path = self.path(f"reading-{entries}-{'shuffled' if shuffled else 'ordered'}.mtx")
        if not os.path.exists(path):
            rng = np.random.default_rng(4)
            cells = np.unique(rng.integers(0, 30000 * 10000, entries))
            if shuffled:
                rng.shuffle(cells)
            sample, feature = np.divmod(cells, 10000)
            values = rng.random(cells.size, dtype=np.float32)
            with open(path + ".part", "w", encoding="ascii") as out:  # a run that is stopped leaves no half of it
                print(f"%%MatrixMarket matrix coordinate real general\n10000 30000 {cells.size}", file=out)
                np.savetxt(out, np.column_stack([feature + 1, sample + 1, values]), fmt="%d %d %.6g")
            os.replace(path + ".part", path)
        return path

    def part_reading(self):
        """Matrix Market against SciPy's mmread, entries in order and shuffled"""
        bars = []
        for shuffled in (False, True):
            path = self.matrix_market_text(300_000 if self.quick else 6_000_000, shuffled)
            order, megabytes = "shuffled" if shuffled else "in order", os.path.getsize(path) / 1e6
            ours, theirs = float("inf"), float("inf")
            for _ in range(2):  # interleaved
                answer = json.loads(self.with_blas(None, [sys.executable, "-c", MMREAD, path]))
                theirs = min(theirs, answer["seconds"])
                for _ in range(3):
                    fit = self.fit(path, 1, "--samples", "columns", "--start", "random", "--max-iter", 0)
                    ours = min(ours, fit["seconds_reading"])
            assert fit["nnz"] == answer["entries"], f"{path}: {fit['nnz']} entries, SciPy has {answer['entries']}"
            self.row(f"reading Matrix Market, {answer['entries']} entries {order}: against SciPy",
                     f"{theirs / ours:.1f}x ({megabytes / ours:.0f} against {megabytes / theirs:.0f} MB/s)", ">= 25x",
                     theirs >= 25 * ours)
            bars.append((f"entries {order}", theirs / ours, 25))
        self.bars("reading", "Reading Matrix Market", "times as fast as SciPy's mmread", bars)

"""Part of bench.py: nearest neighbours against FAISS and scikit-learn, by the clock, all on as many threads."""
import importlib.util
import json
import subprocess
import sys

import numpy as np

# Each prints the seconds of one search, and what part of the neighbours of some samples it has found.
FAISS = r"""
import json, sys, time
import faiss
import numpy as np
X, count, threads, recall, most = np.load(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5])
faiss.omp_set_num_threads(threads)
n, m = X.shape
flat = faiss.IndexFlatIP(m)
flat.add(X)
if recall == 1:
    begin = time.perf_counter()
    flat.search(X[:most], count + 1)
    print(json.dumps({"seconds": (time.perf_counter() - begin) * n / most, "recall": 1}))
    raise SystemExit
some = np.arange(0, n, max(1, n // 400))[:400]
exact = [set(row[row != i][:count]) for row, i in zip(flat.search(X[some], count + 1)[1], some)]
begin = time.perf_counter()
cells = faiss.IndexIVFFlat(faiss.IndexFlatIP(m), m, int(n**0.5), faiss.METRIC_INNER_PRODUCT)
cells.train(X)
cells.add(X)
trained = time.perf_counter() - begin
cells.nprobe, reached = 0, 0
while reached < recall:
    cells.nprobe += 1
    found = cells.search(X[some], count + 1)[1]
    reached = sum(len(e & set(row)) for e, row in zip(exact, found)) / (count * len(some))
begin = time.perf_counter()
cells.search(X, count + 1)
print(json.dumps({"seconds": trained + time.perf_counter() - begin, "recall": reached}))
"""
SKLEARN = r"""
import json, sys, time
import numpy as np
from sklearn.neighbors import NearestNeighbors
X, count, threads, most = np.load(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[5])
found = NearestNeighbors(n_neighbors=count + 1, metric="cosine", algorithm="brute", n_jobs=threads).fit(X)
begin = time.perf_counter()
found.kneighbors(X[:most])
print(json.dumps({"seconds": (time.perf_counter() - begin) * len(X) / most, "recall": 1}))
"""

# What is compared with what: module, program, recall, least factor.
PEERS = {
    "FAISS IndexFlatIP": ("faiss", FAISS, 1, 3),
    "scikit-learn brute": ("sklearn", SKLEARN, 1, 3),
    "FAISS IndexIVFFlat": ("faiss", FAISS, 0.98, 1),
}
COUNT, MOST = 10, 20000  # neighbours; queries of a peer that would take long, whose time is then that of all by proportion


class NeighborParts:
    def part_neighbors(self):
        """the nearest samples by angle against FAISS and scikit-learn, exactly and at a recall of 0.98"""
        self.ratios = []
        for m in (64, 784):
            for n in (20000,) if self.quick else (20000, 100000):
                file = self.neighbor_data(m, n)
                for peer, row in PEERS.items():
                    if importlib.util.find_spec(row[0]):
                        self.neighbors_row(peer, file, m, n)
                    else:
                        self.note(f"{peer} is not installed: neighbours are not compared with it")
        if self.ratios:
            self.bars("neighbors", "Nearest neighbours by angle, 10 of each", "times as fast", self.ratios)

    def neighbor_data(self, m, n):
        """Fifty groups in as many directions, of unit length."""
        random = np.random.default_rng(m + n)
        X = (random.standard_normal((50, m))[random.integers(0, 50, n)] + random.standard_normal((n, m))).astype(np.float32)
        file = self.path(f"neighbors-{m}-{n}.npy")
        np.save(file, X / np.linalg.norm(X, axis=1, keepdims=True))
        return file

    def neighbors(self, file, *words):
        words = [self.armilla, "neighbors", file, "--count", COUNT, "--threads", self.threads, "--json", "--quiet", "--force",
                 "--out", self.path("neighbors.npz"), *words]
        return json.loads(subprocess.run([*map(str, words)], stdout=subprocess.PIPE, check=True).stdout)

    def neighbors_row(self, peer, file, m, n):
        _, program, recall, target = PEERS[peer]
        most = n if recall < 1 else min(n, MOST)
        words = [file, COUNT, self.threads, recall, most]
        theirs = json.loads(self.with_blas(None, [sys.executable, "-c", program, *map(str, words)]))
        ours = self.neighbors(file, "--recall", recall)
        factor = theirs["seconds"] / ours["seconds"]
        self.row(f"neighbors, {m} features, {n} samples, recall {ours['recall']:.3f}: against {peer} ({theirs['recall']:.3f})",
                 f"{factor:.2f}x ({ours['seconds']:.2f} against {theirs['seconds']:.2f} s)", f">= {target:g}x", factor >= target)
        self.ratios.append((f"{peer}, {m} x {n}", factor, target))

"""Part of bench.py: k-means to convergence against FAISS and scikit-learn, by processor time of one thread."""
import importlib.util
import json
import os
import resource
import sys

import numpy as np

# One thread for all: threads that wait for others count as busy in some of them.
ALONE = """
import os
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", BLIS_NUM_THREADS="1", MKL_NUM_THREADS="1")
"""

# Each prints the processor seconds of so many iterations from given centres, and how many there were.
PEERS = {
    "FAISS": ("faiss", r"""
import json, sys, time
import faiss
import numpy as np
X, start = np.load(sys.argv[1]), np.ascontiguousarray(np.load(sys.argv[2]).T)
k, m = start.shape
found = faiss.Clustering(m, k)
found.niter, found.spherical, found.max_points_per_centroid, found.min_points_per_centroid = int(sys.argv[3]), True, len(X), 1
faiss.copy_array_to_vector(start.ravel(), found.centroids)
begin = time.process_time()
found.train(X, faiss.IndexFlatIP(m))
print(json.dumps({"seconds": time.process_time() - begin, "iterations": found.niter}))
"""),
    "scikit-learn": ("sklearn", r"""
import json, sys, time, warnings
import numpy as np
import scipy.sparse
from sklearn.cluster import KMeans
warnings.simplefilter("ignore")
X = scipy.sparse.load_npz(sys.argv[1]) if sys.argv[1].endswith("z") else np.load(sys.argv[1])
start = np.ascontiguousarray(np.load(sys.argv[2]).T)
least = None
for algorithm in ("lloyd", "elkan"):
    begin = time.process_time()
    fit = KMeans(len(start), algorithm=algorithm, init=start, n_init=1, max_iter=int(sys.argv[3]), tol=0).fit(X)
    seconds = time.process_time() - begin
    if least is None or seconds < least["seconds"]:
        least = {"seconds": seconds, "iterations": int(fit.n_iter_)}
print(json.dumps(least))
"""),
}

# Of images and of data without structure: what is aimed at.
TARGETS = {"FAISS": (2, 1.2), "scikit-learn": (3, 1.2)}

SHORT = 0.1  # seconds that starting a process disturbs


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class KmeansParts:
    def centres(self, file, k):
        """Samples of a file as an .npy with U, one atom per column."""
        if file.endswith("z"):
            import scipy.sparse
            X = scipy.sparse.load_npz(file)[:7 * k:7].toarray()
        else:
            X = np.load(file, mmap_mode="r")[:7 * k:7]
        np.save(self.path("family-start.npy"), np.ascontiguousarray(X.T, dtype=np.float32))
        return self.path("family-start.npy")

    def part_kmeans(self):
        """k-means to convergence against FAISS and scikit-learn's KMeans, on data of unit length"""
        peers = [name for name, (module, _) in PEERS.items() if importlib.util.find_spec(module)]
        for name in PEERS.keys() - set(peers):
            self.note(f"{name} is not installed: k-means is not compared with it")
        curves = {}
        for _, unit, name in self.family_data():
            sparse = unit.endswith("z")
            for k in (20,) if sparse else (10, 64) if self.quick else (10, 64, 256, 1024):
                for peer in peers:
                    if not (sparse and peer == "FAISS"):
                        ratio = self.kmeans_row(peer, unit, name, k)
                        if ratio and not sparse:
                            curves.setdefault(f"{peer}, {name}", []).append((k, ratio))
        if curves:
            self.lines("kmeans", "Spherical k-means against its peers", ("centres", "times as fast"), curves)
        if not self.quick and self.large():
            self.many_samples()

    def lloyd_seconds(self, file, start, k, iterations):
        """Of the iterations of a fit and the last codes: the processor time of all but the start."""
        seconds, threads, self.threads = [], self.threads, 1
        for count in (iterations, 0):
            before = processor_seconds()
            self.fit(file, k, "--model", "spherical-kmeans", "--start", start, "--tol", 0, "--max-iter", count)
            seconds.append(processor_seconds() - before)
        self.threads = threads
        return seconds[0] - seconds[1]

    def kmeans_row(self, peer, file, name, k):
        start, most = self.centres(file, k), 25 if self.quick else 100
        ours, theirs = float("inf"), float("inf")
        for _ in range(2):  # interleaved, so that what disturbs one disturbs the other
            answer = json.loads(self.with_blas(None, [sys.executable, "-c", ALONE + PEERS[peer][1], file, start, str(most)]))
            theirs = min(theirs, answer["seconds"])
            ours = min(ours, self.lloyd_seconds(file, start, k, answer["iterations"]))
        what = f"spherical-kmeans, {name}, k={k}: {answer['iterations']} iterations against {peer}"
        if min(ours, theirs) < SHORT:
            self.row(what, f"{ours:.2f} against {theirs:.2f} s: too short to compare", "", None)
            return None
        target = TARGETS[peer]["normal" in name]
        self.row(what, f"{theirs / ours:.2f}x ({ours:.2f} against {theirs:.2f} s of processor time)",
                 f">= {target:g}x", theirs >= target * ours)
        return theirs / ours

    def many_samples(self, n=4_000_000, m=64, k=20):
        """The whole command, fit and clusters, on a mixture of directions with noise."""
        path, truth = self.mixture(n, m, k)
        seconds, _, agreement = self.clusters_run(path, truth, k, "--method", "kmeans")
        os.remove(path)
        self.row(f"armilla cluster --method kmeans, {m} features x {n} samples, k={k}: the whole command",
                 f"{seconds:.1f} s, NMI {agreement:.3f}", "<= 40 s", seconds <= 40)

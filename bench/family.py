"""Parts of bench.py for the models around the paper's: k-means and PCA against scikit-learn."""
import importlib.util
import json
import sys

import numpy as np

# KMeans from given centres, as often as asked for: seconds per iteration of the least times of a short and a long run.
SKLEARN_KMEANS = r"""
import json, sys, time, warnings
import numpy as np
import scipy.sparse
from sklearn.cluster import KMeans
warnings.simplefilter("ignore")
X = scipy.sparse.load_npz(sys.argv[1]) if sys.argv[1].endswith("z") else np.load(sys.argv[1])
start = np.ascontiguousarray(np.load(sys.argv[2]).T)
few, more = int(sys.argv[3]), int(sys.argv[4])
def run(iterations):
    begin = time.perf_counter()
    fit = KMeans(len(start), algorithm="lloyd", init=start, n_init=1, max_iter=iterations, tol=0).fit(X)
    return time.perf_counter() - begin, fit.n_iter_
run(1)
short, long = ([run(k) for _ in range(2)] for k in (few, more))
count = long[0][1] - short[0][1]
print(json.dumps({"seconds": (min(long)[0] - min(short)[0]) / max(count, 1), "iterations": long[0][1]}))
"""

# TruncatedSVD: seconds with the codes, and the relative error of its subspace.
SKLEARN_SVD = r"""
import json, sys, time
import numpy as np
import scipy.sparse
from sklearn.decomposition import TruncatedSVD
sparse = sys.argv[1].endswith("z")
X = scipy.sparse.load_npz(sys.argv[1]) if sparse else np.load(sys.argv[1])
begin = time.perf_counter()
svd = TruncatedSVD(int(sys.argv[2]), algorithm="randomized", random_state=0)
svd.fit_transform(X)
seconds = time.perf_counter() - begin
wide = X.astype(np.float64)
square = wide.multiply(wide).sum() if sparse else (wide ** 2).sum()
codes = wide @ svd.components_.T.astype(np.float64)
print(json.dumps({"seconds": seconds, "error": float(np.sqrt(max(1 - (codes ** 2).sum() / square, 0)))}))
"""

CLOSE = 1e-3  # errors that are the same


class FamilyParts:
    def dense_images(self):
        """The images of time to quality as samples x features in f32, and their name."""
        file, name = self.images()
        if file.endswith(".npy"):
            return np.load(file).astype(np.float32), name
        with open(file, "rb") as stream:
            return np.frombuffer(stream.read(), np.uint8, offset=16).reshape(-1, 784).astype(np.float32), name

    def family_data(self):
        """Files of dense and, where SciPy is there, sparse data, as they are and of unit length, with their names."""
        images, name = self.dense_images()
        random = np.random.default_rng(5).standard_normal((10000 if self.quick else 100000, 128)).astype(np.float32)
        found = []
        for X, what, file in ((images, name, "family-images"), (random, f"normal 128x{len(random)}", "family-normal")):
            np.save(self.path(f"{file}.npy"), X)
            length = np.linalg.norm(X, axis=1, keepdims=True)
            np.save(self.path(f"{file}-unit.npy"), X / np.where(length > 0, length, 1))
            found.append((self.path(f"{file}.npy"), self.path(f"{file}-unit.npy"), what))
        if importlib.util.find_spec("scipy"):
            import scipy.sparse
            file, what = (self.given_sparse(self.options.sparse) if self.options.sparse
                          else (self.sparse(5000 if self.quick else 20000, 0.005), "generated sparse"))
            X = scipy.sparse.load_npz(file)
            length = np.sqrt(np.asarray(X.multiply(X).sum(1))).ravel()
            unit = scipy.sparse.diags((1 / np.where(length > 0, length, 1)).astype(np.float32)) @ X
            scipy.sparse.save_npz(self.path("family-sparse-unit.npz"), scipy.sparse.csr_matrix(unit, dtype=np.float32),
                                  compressed=False)
            found.append((file, self.path("family-sparse-unit.npz"), what))
        return found

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
        """an iteration of spherical k-means against scikit-learn's KMeans on data of unit length"""
        if not importlib.util.find_spec("sklearn"):
            self.note("scikit-learn is not installed: k-means is not measured")
            return
        for _, unit, name in self.family_data():
            for k in (20,) if unit.endswith("z") else (10, 64):
                self.kmeans_rows(unit, name, k)

    def kmeans_rows(self, file, name, k):
        start = self.centres(file, k)
        ours, theirs = {}, float("inf")
        for _ in range(2 if self.quick else 3):  # interleaved, so that what disturbs one disturbs the others
            answer = json.loads(self.with_blas(None, [sys.executable, "-c", SKLEARN_KMEANS, file, start, "5", "25"]))
            theirs = min(theirs, answer["seconds"])
            for model in ("spherical-kmeans", "kmeans"):
                # Not beyond where scikit-learn's iteration ends: steps that change nothing would cost nothing here.
                fit = self.fit(file, k, "--model", model, "--start", start, "--tol", 0, "--max-iter",
                               max(answer["iterations"] - 1, 1))
                ours[model] = min(ours.get(model, float("inf")), fit["seconds_per_iteration"])
        for model, seconds in ours.items():
            target = model == "spherical-kmeans"
            self.row(f"{model}, {name}, k={k}: iteration against scikit-learn",
                     f"{theirs / seconds:.2f}x ({1e3 * seconds:.1f} against {1e3 * theirs:.1f} ms)",
                     ">= 2x" if target else "", theirs / seconds >= 2 if target else None)

    def part_pca(self):
        """pca against scikit-learn's TruncatedSVD, until the same error"""
        if not importlib.util.find_spec("sklearn"):
            self.note("scikit-learn is not installed: PCA is not measured")
            return
        for file, _, name in self.family_data():
            if "normal" in name:
                continue
            for r in (10, 32):
                self.pca_rows(file, name, r)

    def pca_rows(self, file, name, r):
        ours, theirs = float("inf"), float("inf")
        for _ in range(2 if self.quick else 4):
            answer = json.loads(self.with_blas(None, [sys.executable, "-c", SKLEARN_SVD, file, str(r)]))
            fit = self.fit(file, r, "--model", "pca", "--tol", CLOSE)
            theirs, ours = min(theirs, answer["seconds"]), min(ours, fit["seconds"])
        off = fit["relative_error"] / answer["error"] - 1
        if off > CLOSE:
            self.row(f"pca, {name}, r={r}", f"error is {off:.1e} above theirs", f"<= {CLOSE:g}", False)
            return
        self.row(f"pca, {name}, r={r}: whole fit against TruncatedSVD",
                 f"{theirs / ours:.2f}x ({1e3 * ours:.0f} against {1e3 * theirs:.0f} ms, error {off:+.0e} of theirs)",
                 ">= 1x", theirs >= ours)

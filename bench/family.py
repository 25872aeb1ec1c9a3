"""Part of bench.py for the models around the paper's: PCA against scikit-learn; and the data that k-means shares with it."""
import importlib.util
import json
import sys

import numpy as np

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

    def part_pca(self):
        """pca against scikit-learn's TruncatedSVD, until the same error"""
        if not importlib.util.find_spec("sklearn"):
            self.note("scikit-learn is not installed: PCA is not measured")
            return
        self.ratios = []
        for file, _, name in self.family_data():
            if "normal" in name:
                continue
            for r in (10, 32):
                self.pca_rows(file, name, r)
        for file, name in self.sparse_shapes() if importlib.util.find_spec("scipy") else ():
            self.pca_rows(file, name, 32)
        self.bars("pca", "PCA: a whole fit", "times as fast as scikit-learn's TruncatedSVD", self.ratios)

    def pca_rows(self, file, name, r):
        ours, theirs = float("inf"), float("inf")
        for _ in range(2 if self.quick or "features" in name else 4):
            answer = json.loads(self.with_blas(None, [sys.executable, "-c", SKLEARN_SVD, file, str(r)]))
            fit = self.fit(file, r, "--model", "pca", "--tol", CLOSE)
            theirs, ours = min(theirs, answer["seconds"]), min(ours, fit["seconds"])
        off = fit["relative_error"] / answer["error"] - 1
        if off > CLOSE:
            self.row(f"pca, {name}, r={r}", f"error is {off:.1e} above theirs", f"<= {CLOSE:g}", False)
            return
        target = 3 if file.endswith("z") else 1.5
        self.row(f"pca, {name}, r={r}: whole fit against TruncatedSVD",
                 f"{theirs / ours:.2f}x ({1e3 * ours:.0f} against {1e3 * theirs:.0f} ms, error {off:+.0e} of theirs)",
                 f">= {target}x", theirs >= target * ours)
        self.ratios.append((f"{name}, r = {r}", theirs / ours, target))

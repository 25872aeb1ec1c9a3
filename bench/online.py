"""The part of bench.py for the mini-batch solver: quality after one and three passes, beside scikit-learn's mini-batches."""
import importlib.util
import json
import sys

import numpy as np

# MiniBatchNMF or MiniBatchKMeans for some passes: seconds, and the objective of the result by our measure.
SKLEARN_MINIBATCH = r"""
import json, sys, time, warnings
import numpy as np
import scipy.sparse
from sklearn.cluster import MiniBatchKMeans
from sklearn.decomposition import MiniBatchNMF
warnings.simplefilter("ignore")
file, model, r, passes = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
sparse = file.endswith("z")
X = scipy.sparse.load_npz(file).tocsr() if sparse else np.load(file)
wide = X.astype(np.float64)
square = float(wide.multiply(wide).sum()) if sparse else float(np.square(wide).sum())
begin = time.perf_counter()
if model == "nmf":
    fit = MiniBatchNMF(r, init="nndsvda", max_iter=passes, max_no_improvement=None, tol=0, random_state=0)
    W = fit.fit_transform(X)
    seconds = time.perf_counter() - begin
    W, H = W.astype(np.float64), fit.components_.astype(np.float64)
    h = square - 2 * float(np.sum((wide @ H.T) * W)) + float(np.sum((W.T @ W) * (H @ H.T)))
else:
    fit = MiniBatchKMeans(r, max_iter=passes, max_no_improvement=None, tol=0, n_init=1, random_state=0).fit(X)
    seconds = time.perf_counter() - begin
    unit = fit.cluster_centers_ / np.linalg.norm(fit.cluster_centers_, axis=1, keepdims=True)
    best = np.asarray(wide @ unit.T).max(axis=1)  # cosines; the objective has the best radius
    h = square - float(best.sum()) ** 2 / len(best)
print(json.dumps({"seconds": seconds, "objective": h}))
"""

#: Model, whether samples are of unit length, and scikit-learn's counterpart.
MODELS = (("spherical-pca", True, None), ("spherical-nmf", True, None), ("nmf", False, "nmf"), ("spherical-kmeans", True, "kmeans"))
#: How far above the objective of `fast` one pass and three passes may end, on images.
TARGETS = {1: 0.02, 3: 0.005}


class OnlineParts:
    def sorted_digits(self):
        """scikit-learn's digits, sorted by class, as they are and of unit length."""
        from sklearn.datasets import load_digits
        X, y = load_digits(return_X_y=True)
        X = np.ascontiguousarray(X[np.argsort(y, kind="stable")], dtype=np.float32)
        np.save(self.path("online-digits.npy"), X)
        np.save(self.path("online-digits-unit.npy"), X / np.linalg.norm(X, axis=1, keepdims=True))
        return self.path("online-digits.npy"), self.path("online-digits-unit.npy"), "digits, sorted"

    def part_online(self):
        """objective of --solver online after one and three passes against fast, beside scikit-learn's mini-batches"""
        found = [data for data in self.family_data() if "normal" not in data[2]]
        if importlib.util.find_spec("sklearn"):
            found.append(self.sorted_digits())
        for plain, unit, name in found:
            for model, normalized, peer in MODELS:
                self.online_rows(unit if normalized else plain, name, model, peer)

    def online_rows(self, file, name, model, peer):
        r = 10
        fast = self.fit(file, r, "--model", model)
        for passes in (1, 3):
            fit = self.fit(file, r, "--model", model, "--solver", "online", "--max-iter", passes, "--tol", 0)
            above = fit["objective"] / fast["objective"] - 1
            bound = TARGETS[passes] if "MNIST" in name or "images" in name else None
            self.row(f"online, {model}, {name}, {passes} pass{'es' if passes > 1 else ''}: objective above fast's",
                     f"{100 * above:+.2f} % ({fit['seconds']:.2f} against {fast['seconds']:.2f} s)",
                     f"<= {100 * bound:g} %" if bound else "", above <= bound if bound else None)
            if peer and importlib.util.find_spec("sklearn"):
                theirs = json.loads(self.with_blas(None, [sys.executable, "-c", SKLEARN_MINIBATCH, file, peer, str(r),
                                                          str(passes)]))
                self.row(f"online, {model}, {name}, {passes} pass{'es' if passes > 1 else ''}: scikit-learn's mini-batches",
                         f"{100 * (theirs['objective'] / fast['objective'] - 1):+.2f} % ({theirs['seconds']:.2f} s)",
                         "ours lower and sooner" if peer == "nmf" else "",
                         fit["objective"] <= theirs["objective"] and fit["seconds"] <= theirs["seconds"] if peer == "nmf"
                         else None)

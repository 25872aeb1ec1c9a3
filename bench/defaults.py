"""Part of bench.py: whole fits by default settings, as a user times them, against scikit-learn's defaults for the same job."""
import importlib.util
import json
import os
import sys

import numpy as np

RANK = 20
MOST_ABOVE = 2e-3  # of the error of scikit-learn

# A process that holds the data: for each line on its input a fit, answered by its seconds and ||X - UV||/||X||.
SKLEARN = r"""
import json, sys, time, warnings
import numpy as np, scipy.sparse
from sklearn.decomposition import NMF, PCA
warnings.simplefilter("ignore")
file, job, rank, runs = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
sparse = file.endswith("z")
X = scipy.sparse.load_npz(file) if sparse else np.load(file)
wide = X.astype(np.float64)
if job == "pca":
    wide = wide - wide.mean(axis=0)
square = wide.multiply(wide).sum() if sparse else (wide ** 2).sum()
least = float("inf")
for _ in range(runs):
    model = {"nmf": NMF, "pca": PCA}[job](rank, random_state=0)
    begin = time.perf_counter()
    codes = model.fit_transform(X)
    least = min(least, time.perf_counter() - begin)
left = model.reconstruction_err_ ** 2 if job == "nmf" else square - (codes.astype(np.float64) ** 2).sum()
print(json.dumps({"seconds": least, "error": float(np.sqrt(max(left, 0) / square)), "iterations": getattr(model, "n_iter_", 0)}))
"""


def planted(samples, features, parts, noise, seed):
    """Samples that are made of nonnegative parts, with noise beside them."""
    draw = np.random.default_rng(seed)
    X = draw.gamma(0.5, 1, (samples, parts)) @ (draw.random((parts, features)) ** 3)
    return (X + noise * X.mean() * draw.random(X.shape)).astype(np.float32)


class DefaultParts:
    def default_sets(self):
        """File, name and rank; small ones are f64, as scikit-learn has them."""
        from sklearn import datasets
        images, images_name = self.dense_images()
        dense = [("iris", datasets.load_iris().data), ("wine", datasets.load_wine().data), ("digits", datasets.load_digits().data),
                 ("planted", planted(20000, 200, 30, 1.0, 2)),
                 ("planted", planted(10000 if self.quick else 100000, 64, 20, 0.5, 1)), (images_name, images[:10000])]
        for at, (name, X) in enumerate(dense):
            file = self.path(f"default-{at}.npy")
            np.save(file, X)
            yield file, f"{name}, {len(X)} x {X.shape[1]}", min(RANK, X.shape[1] // 2 + 1)
        yield self.sparse(5000 if self.quick else 20000, 0.005), "generated sparse", RANK

    def part_defaults(self):
        """whole fits by default settings against scikit-learn's defaults"""
        if not importlib.util.find_spec("sklearn"):
            self.note("scikit-learn is not installed: whole fits are not compared")
            return
        self.ratios = []
        for file, name, rank in self.default_sets():
            for job, words in (("nmf", ["--model", "nmf"]), ("pca", ["--model", "pca", "--center"])):
                if job == "nmf" or not file.endswith("z"):  # scikit-learn's PCA takes no sparse data
                    self.default_row(file, name, rank, job, words)
        self.bars("defaults", "Whole fits by default settings", "times as fast as scikit-learn", self.ratios)

    def default_row(self, file, name, rank, job, words):
        small = os.path.getsize(file) < 1 << 22
        runs = 5 if small else 1 if self.quick else 2
        ours, theirs = float("inf"), float("inf")
        for _ in range(2):
            answer = json.loads(self.with_blas(None, [sys.executable, "-c", SKLEARN, file, job, str(rank), str(runs)]))
            fits = [self.fit(file, rank, *words) for _ in range(runs)]
            theirs, ours = min(theirs, answer["seconds"]), min(ours, *(fit["seconds"] for fit in fits))
        off = fits[0]["relative_error"] / answer["error"] - 1 if answer["error"] > 0 else 0.0
        self.row(f"{job}, {name}, rank {rank}",
                 f"{theirs / ours:.2f}x ({1e3 * ours:.3g} against {1e3 * theirs:.3g} ms, {fits[0]['iterations']} against "
                 f"{answer['iterations']} iterations, error {100 * off:+.2f} %)",
                 f">= 1x, error at most {100 * MOST_ABOVE:g} % above", theirs >= ours and off <= MOST_ABOVE)
        self.ratios.append((f"{job}, {name}", theirs / ours, 1))

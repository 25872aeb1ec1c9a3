"""Part of bench.py: what codes cost as the rank grows beside the features, for every pair of sets."""
import json
import os
import subprocess
import sys

import numpy as np

from defaults import planted

FEATURES = 40
RATIOS = (1, 2, 8, 16)  # ranks beside the features
MOST_SECONDS = 20       # of a default fit; processor time
SLOW_SECONDS = 5        # for 400 samples
SPARSE = ("sparse-sphere", "nonneg-sparse-sphere", "sparse")
BASES = ("orthonormal", "nonnegative", "free", "unit", "orthonormal-nonneg")
CODES = ("sphere", "nonneg-sphere", *SPARSE, "free", "nonneg", "one-hot")
SCALABLE = ("free", "nonneg", "sparse")  # the codes that orthonormal-nonneg takes

# One default fit and its codes once more, by processor time; the limit ends the program.
FIT = r"""
import json, resource, sys, time, warnings
import numpy as np
import armilla
warnings.simplefilter("ignore")
file, basis, codes, rank, sparsity, precision, limit = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit)))
X = np.load(file).astype({"f32": np.float32, "f64": np.float64}[precision])
more = {"sparsity": int(sparsity)} if int(sparsity) else {}
begin = time.process_time()
model = armilla.fit(X, int(rank), basis=basis, codes=codes, threads=1, **more)
fitted = time.process_time()
model.transform(X, threads=1)
print(json.dumps({"seconds": fitted - begin, "codes": time.process_time() - fitted, **{
    name: model.info[name] for name in ("iterations", "seconds_per_iteration", "relative_error")}}))
"""


def ranks_of(basis):
    return [FEATURES * ratio for ratio in RATIOS if ratio == 1 or not basis.startswith("orthonormal")]


def sparsities_of(codes, rank):
    return (1, 2, 3, rank // 4) if codes in SPARSE else (0,)


class CodesParts:
    def code_sets(self):
        """Names, samples and precisions: mixtures of parts, images and normal numbers."""
        images, name = self.dense_images()
        middle = images.shape[1] // 2
        yield "mixtures, 400", planted(400, FEATURES, 20, 0.5, 1), "f32"
        yield f"{name}, 400", images[:400, middle:middle + FEATURES], "f32"
        yield "normal, 400", np.random.default_rng(1).standard_normal((400, FEATURES)), "f64"
        if not self.quick:
            yield "mixtures, 2000", planted(2000, FEATURES, 20, 0.5, 1), "f32"

    def code_problems(self):
        for basis in BASES:
            for codes in CODES:
                if basis == "orthonormal-nonneg" and codes not in SCALABLE:
                    continue
                for rank in ranks_of(basis):
                    for sparsity in sparsities_of(codes, rank):
                        yield basis, codes, rank, sparsity

    def part_codes(self):
        """what codes cost where atoms are many beside the features, for every pair"""
        if not os.path.exists(self.package):
            self.note("the Python package (make python) is missing: codes are not measured")
            return
        for at, (name, X, precision) in enumerate(self.code_sets()):
            file = self.path(f"codes-{at}.npy")
            np.save(file, X)
            for problem in self.code_problems():
                self.code_row(file, f"{name}, {precision}", len(X), precision, problem)

    def code_row(self, file, name, n, precision, problem):
        basis, codes, rank, sparsity = problem
        words = map(str, (file, basis, codes, rank, sparsity, precision, MOST_SECONDS))
        title = f"{basis} x {codes}, r = {rank}" + (f", s = {sparsity}" if sparsity else "") + f": {name}"
        try:
            fit = json.loads(self.with_blas(None, [sys.executable, "-c", FIT, *words]))
        except subprocess.CalledProcessError as error:
            if error.returncode >= 0:  # no signal, so that it was not the limit
                raise
            self.row(title, f"more than {MOST_SECONDS} s", f"<= {SLOW_SECONDS * n // 400} s", False)
            return
        unit = 1e9 / (n * rank * rank)
        self.row(title, f"{fit['seconds']:.3g} s, {fit['iterations']} iterations of {unit * fit['seconds_per_iteration']:.3g} "
                 f"and last codes of {unit * fit['codes']:.3g} ns per sample and r^2, error {fit['relative_error']:.4f}",
                 f"<= {SLOW_SECONDS * n // 400} s", fit["seconds"] <= SLOW_SECONDS * n / 400)

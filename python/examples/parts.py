"""Parts of images: what spherical NMF and spherical PCA see in handwritten digits."""

import matplotlib.pyplot as plt
import numpy as np

import armilla
import armilla.plot

X, y = armilla.datasets.load_digits(return_X_y=True)  # 1797 images of 8 x 8
X = X.astype(np.float32)

parts = armilla.SphericalNMF(15, normalize="l2", random_state=0).fit(X)
print(f"spherical NMF: {parts.n_iter_} iterations, explains {100 * parts.score(X):.1f} %, radius {parts.radius_:.3f}")
assert (parts.components_ >= 0).all()

few = armilla.SphericalFactorization(15, basis="nonnegative", codes="nonneg-sparse-sphere", sparsity=3, normalize="l2", random_state=0).fit(X)
print(f"at most 3 parts for each image: explains {100 * few.score(X):.1f} %")

armilla.plot.atoms(parts, (8, 8), columns=5)
plt.savefig("parts.png", dpi=110)
armilla.plot.convergence(parts, few, labels=["all parts", "3 parts"])
plt.savefig("parts-convergence.png", dpi=110)

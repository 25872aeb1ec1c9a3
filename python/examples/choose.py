"""Rank and sparsity by cross-validation: samples that the fit has not seen say how many atoms are worth having."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV

import armilla

# Five atoms, of which each sample has two, and noise.
rng = np.random.default_rng(0)
atoms = rng.random((5, 40)) ** 4
codes = np.zeros((200, 5))
for code in codes:
    code[rng.choice(5, 2, replace=False)] = rng.uniform(0.5, 1.5, 2)
X = np.abs(codes @ atoms + 0.01 * rng.standard_normal((200, 40)))


def simplest(results):
    """The model with the fewest atoms, then nonzeros, that explains what the best explains, but for half a percent."""
    good = np.flatnonzero(results["mean_test_score"] > results["mean_test_score"].max() - 0.005)
    return min(good, key=lambda k: (results["params"][k]["n_components"], results["params"][k]["sparsity"]))


search = GridSearchCV(
    armilla.SphericalFactorization(basis="nonnegative", codes="nonneg-sparse-sphere", normalize="l2", n_restarts=3, random_state=0),
    [{"n_components": [r], "sparsity": [s for s in (1, 2, 3) if s <= r]} for r in range(2, 9)],
    cv=3,
    refit=simplest,
)  # score() is the part of the squared length that is explained
search.fit(X)
results = search.cv_results_
explained = 100 * results["mean_test_score"][search.best_index_]
print("chosen:", search.best_params_, f"explains {explained:.1f} % of samples not seen")

for sparsity in (1, 2, 3):
    there = [k for k, p in enumerate(results["params"]) if p["sparsity"] == sparsity]
    ranks = [results["params"][k]["n_components"] for k in there]
    plt.plot(ranks, 1 - results["mean_test_score"][there], marker="o", label=f"sparsity {sparsity}")
plt.yscale("log")
plt.xlabel("n_components")
plt.ylabel("error of samples not seen")
plt.legend(frameon=False)
plt.tight_layout()
plt.savefig("choose.png", dpi=110)

"""Cells from an AnnData: codes into obsm, atoms into varm, clusters into obs, so that scanpy goes on from there."""

import anndata
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse
from sklearn.metrics import adjusted_rand_score

import armilla.anndata
import armilla.plot

# Counts of 60 genes in 500 cells of four kinds, in cells of very different size.
rng = np.random.default_rng(0)
kinds = rng.integers(4, size=500)
programs = rng.gamma(0.3, 1.0, (4, 60))
counts = rng.poisson(programs[kinds] * rng.lognormal(0.5, 0.7, (500, 1)) * 3)
adata = anndata.AnnData(scipy.sparse.csr_matrix(counts.astype(np.float32)))
adata.var_names = [f"gene{i}" for i in range(60)]
adata.obs["kind"] = kinds.astype(str)

model = armilla.anndata.factorize(adata, 4, model="spherical-nmf", log1p=True, normalize="l2", n_clusters=4, seed=0)
print(adata)
for number, genes in enumerate(model.top_features(4)):
    print(f"program {number}:", ", ".join(f"{gene} {weight:.2f}" for gene, weight in genes))

print(f"clusters against kinds: adjusted Rand index {adjusted_rand_score(adata.obs['kind'], adata.obs['armilla']):.2f}")

armilla.plot.clusters(model, adata.obs["armilla"])
plt.savefig("cells.png", dpi=110)

"""Spherical k-means against k-means, on data whose lengths vary: direction tells the groups apart, distance does not."""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import armilla

X, y = armilla.datasets.load_cones(400, return_X_y=True)

spherical = armilla.SphericalKMeans(2, random_state=0).fit(X)
euclidean = KMeans(2, n_init=10, random_state=0).fit(X)
figure, places = plt.subplots(1, 2, figsize=(8, 4), sharex=True, sharey=True, layout="constrained")
for ax, name, labels in ((places[0], "SphericalKMeans", spherical.labels_), (places[1], "KMeans", euclidean.labels_)):
    agreement = abs(adjusted_rand_score(y, labels))
    print(f"{name}: adjusted Rand index {agreement:.2f}")
    ax.scatter(X[:, 0], X[:, 1], c=labels, cmap="tab10", vmax=9, s=10)
    ax.set_title(f"{name}: adjusted Rand index {agreement:.2f}")
    ax.set_xlabel("first coordinate of three")
places[0].set_ylabel("second coordinate")
plt.savefig("cosine_kmeans.png", dpi=110)

print("angles to the centres of the first sample, in degrees:", (spherical.transform(X[:1]) * 57.29578).round(1))

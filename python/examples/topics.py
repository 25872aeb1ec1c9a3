"""Topics of texts: a sparse matrix of counts, nonnegative atoms, and words that say what each is about."""

import matplotlib.pyplot as plt
from sklearn.metrics import normalized_mutual_info_score

import armilla
import armilla.plot

texts = armilla.datasets.make_topics(600)  # CSR: one text per row, one word per column
print(texts.data.shape, "with", texts.data.nnz, "counts")

# Texts of 10 and of 300 words about one subject have one direction: unit length, and weights for rare words.
topics = armilla.SphericalFactorization(6, model="spherical-nmf", tfidf=True, normalize="l2", random_state=0)
codes = topics.fit_transform(texts.data)
for number, words in enumerate(topics.model_.top_features(5, texts.feature_names)):
    print(f"topic {number}:", ", ".join(word for word, _ in words))

# Clusters by cosine, straight from the counts.
labels = armilla.SphericalKMeans(6, tfidf=True, n_init=5, random_state=0).fit_predict(texts.data)

print(f"agreement of the clusters with the subjects: {normalized_mutual_info_score(texts.target, labels):.2f}")

armilla.plot.atoms(topics, columns=3, count=8, feature_names=texts.feature_names)
plt.savefig("topics.png", dpi=110)

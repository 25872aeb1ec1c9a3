"""scikit-learn's own tests of NMF, PCA, TruncatedSVD and KMeans, gone through one by one.

`PEERS` says of each: the test here that states the same property of ours, or why there is none. A test that a release of
scikit-learn adds shows up as a failure here.
"""

import pathlib
import re
import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import armilla

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::sklearn.exceptions.ConvergenceWarning")

INTERNAL = "internal: tests a function of scikit-learn's, not a property of the estimator"
NO_WEIGHTS = "not here: all samples count the same, sample_weight is refused (test_estimators)"
NO_MINIBATCH = "not here: there are no minibatches"
NO_VARIANCE = "not here: explained variances and singular values are not attributes; score() is the explained part"
NO_LIKELIHOOD = "not here: score() is the explained part of the squared length, not a likelihood"
NO_LOSS = "not here: the loss is the squared error, without penalties"
CHECKS = "test_sklearn: part of check_estimator and the further checks"

PEERS = {
    "decomposition/tests/test_nmf.py": {
        "test_convergence_warning": "test_estimators.test_warnings",
        "test_initialize_nn_output": "test_nmf_is_nonnegative",
        "test_parameter_checking": CHECKS,
        "test_initialize_close": INTERNAL,
        "test_initialize_variants": INTERNAL,
        "test_nmf_fit_nn_output": "test_nmf_is_nonnegative",
        "test_nmf_fit_close": "test_nmf_fits_closely",
        "test_nmf_true_reconstruction": "test_nmf_fits_closely",
        "test_nmf_transform": "test_estimators.test_transform_gives_the_codes_back, bit for bit",
        "test_minibatch_nmf_transform": NO_MINIBATCH,
        "test_nmf_transform_custom_init": "test_estimators.test_warm_start_and_init: init is the components alone",
        "test_nmf_inverse_transform": "test_nmf_inverse_transform",
        "test_mbnmf_inverse_transform": NO_MINIBATCH,
        "test_n_components_greater_n_features": "test_more_components_than_features",
        "test_nmf_sparse_input": "test_nmf_sparse_input",
        "test_nmf_sparse_transform": "test_nmf_sparse_input",
        "test_non_negative_factorization_consistency": "test_estimators.test_transform_gives_the_codes_back",
        "test_non_negative_factorization_checking": CHECKS,
        "test_beta_divergence": NO_LOSS,
        "test_special_sparse_dot": INTERNAL,
        "test_nmf_multiplicative_update_sparse": "test_nmf_sparse_input, with solver='mu'",
        "test_nmf_negative_beta_loss": NO_LOSS,
        "test_minibatch_nmf_negative_beta_loss": NO_LOSS,
        "test_nmf_regularization": NO_LOSS,
        "test_nmf_decreasing": "test_the_objective_never_rises",
        "test_nmf_underflow": NO_LOSS,
        "test_nmf_dtype_match": "test_dtypes",
        "test_nmf_float32_float64_consistency": "test_dtypes",
        "test_nmf_custom_init_dtype_error": "differs: an init of another precision is converted",
        "test_nmf_minibatchnmf_equivalence": NO_MINIBATCH,
        "test_minibatch_nmf_partial_fit": NO_MINIBATCH,
        "test_feature_names_out": CHECKS,
        "test_minibatch_nmf_verbose": NO_MINIBATCH,
    },
    "decomposition/tests/test_pca.py": {
        "test_pca": "test_pca_is_pca",
        "test_no_empty_slice_warning": "test_pca_is_pca",
        "test_whitening": "not here: codes on a sphere have one length instead",
        "test_pca_explained_variance_equivalence_solver": NO_VARIANCE,
        "test_pca_explained_variance_empirical": NO_VARIANCE,
        "test_pca_singular_values_consistency": NO_VARIANCE,
        "test_pca_singular_values": NO_VARIANCE,
        "test_pca_check_projection": "test_pca_projects",
        "test_pca_check_projection_list": "test_pca_projects",
        "test_pca_inverse": "test_pca_inverse",
        "test_pca_validation": "test_estimators.test_bad_input; more components than samples are no error",
        "test_n_components_none": "differs: n_components must be given",
        "test_n_components_mle": NO_LIKELIHOOD,
        "test_n_components_mle_error": NO_LIKELIHOOD,
        "test_pca_dim": NO_LIKELIHOOD,
        "test_infer_dim_1": NO_LIKELIHOOD,
        "test_infer_dim_2": NO_LIKELIHOOD,
        "test_infer_dim_3": NO_LIKELIHOOD,
        "test_infer_dim_by_explained_variance": NO_VARIANCE,
        "test_pca_score": NO_LIKELIHOOD,
        "test_pca_score3": "test_more_components_explain_more",
        "test_pca_sanity_noise_variance": NO_LIKELIHOOD,
        "test_pca_score_consistency_solvers": NO_LIKELIHOOD,
        "test_pca_zero_noise_variance_edge_cases": NO_LIKELIHOOD,
        "test_pca_svd_solver_auto": INTERNAL,
        "test_pca_sparse_input": "differs: sparse data are taken, also centred, without being made dense",
        "test_pca_deterministic_output": "test_pca_is_pca: the same bits for the same random_state",
        "test_pca_dtype_preservation": "test_dtypes",
        "test_pca_n_components_mostly_explained_variance_ratio": NO_VARIANCE,
        "test_assess_dimension_bad_rank": INTERNAL,
        "test_small_eigenvalues_mle": NO_LIKELIHOOD,
        "test_mle_redundant_data": NO_LIKELIHOOD,
        "test_fit_mle_too_few_samples": NO_LIKELIHOOD,
        "test_mle_simple_case": NO_LIKELIHOOD,
        "test_assess_dimesion_rank_one": INTERNAL,
        "test_pca_randomized_svd_n_oversamples": INTERNAL,
        "test_feature_names_out": CHECKS,
        "test_variance_correctness": NO_VARIANCE,
    },
    "decomposition/tests/test_truncated_svd.py": {
        "test_solvers": "test_pca_is_truncated_svd",
        "test_attributes": "test_pca_is_truncated_svd",
        "test_too_many_components": "test_estimators.test_bad_input",
        "test_sparse_formats": "test_data.test_sparse_forms_have_the_same_result",
        "test_inverse_transform": "test_pca_inverse",
        "test_integers": "test_dtypes",
        "test_explained_variance": NO_VARIANCE,
        "test_explained_variance_components_10_20": "test_more_components_explain_more",
        "test_singular_values_consistency": NO_VARIANCE,
        "test_singular_values_expected": NO_VARIANCE,
        "test_truncated_svd_eq_pca": "test_pca_is_pca",
        "test_fit_transform": "test_estimators.test_transform_gives_the_codes_back",
    },
    "cluster/tests/test_k_means.py": {
        "test_kmeans_results": "test_estimators.test_spherical_kmeans, by angle",
        "test_kmeans_relocated_clusters": "test_no_cluster_is_empty",
        "test_relocate_empty_clusters": INTERNAL,
        "test_kmeans_elkan_results": INTERNAL,
        "test_kmeans_convergence": "test_kmeans_converges",
        "test_algorithm_auto_full_deprecation_warning": INTERNAL,
        "test_minibatch_update_consistency": NO_MINIBATCH,
        "test_all_init": "test_kmeans_inits; a callable is not taken",
        "test_minibatch_kmeans_partial_fit_init": NO_MINIBATCH,
        "test_fortran_aligned_data": "test_kmeans_storage",
        "test_minibatch_kmeans_verbose": NO_MINIBATCH,
        "test_kmeans_verbose": "test_estimators.test_verbose",
        "test_minibatch_kmeans_warning_init_size": NO_MINIBATCH,
        "test_warning_n_init_precomputed_centers": "differs: a given init is one start, and n_init then changes nothing",
        "test_minibatch_sensible_reassign": NO_MINIBATCH,
        "test_minibatch_reassign": NO_MINIBATCH,
        "test_minibatch_with_many_reassignments": NO_MINIBATCH,
        "test_minibatch_kmeans_init_size": NO_MINIBATCH,
        "test_minibatch_declared_convergence": NO_MINIBATCH,
        "test_minibatch_iter_steps": NO_MINIBATCH,
        "test_kmeans_copyx": "test_data.test_inputs_stay_as_they_are",
        "test_score_max_iter": "test_kmeans_score",
        "test_kmeans_predict": "test_kmeans_predicts",
        "test_dense_sparse": "test_kmeans_storage: the same clusters, maybe numbered in another order",
        "test_predict_dense_sparse": "test_kmeans_storage",
        "test_integer_input": "test_kmeans_storage",
        "test_transform": "test_kmeans_predicts: angles instead of distances",
        "test_fit_transform": "test_kmeans_predicts",
        "test_n_init": "test_kmeans_score",
        "test_k_means_function": "not here: there is no function beside the class",
        "test_float_precision": "test_dtypes",
        "test_centers_not_mutated": "test_kmeans_inits",
        "test_kmeans_init_fitted_centers": "test_kmeans_inits",
        "test_kmeans_warns_less_centers_than_unique_points": "differs: fewer different directions than clusters leave clusters empty, without a warning",
        "test_weighted_vs_repeated": NO_WEIGHTS,
        "test_unit_weights_vs_no_weights": NO_WEIGHTS,
        "test_scaled_weights": NO_WEIGHTS,
        "test_kmeans_elkan_iter_attribute": "test_kmeans_converges",
        "test_kmeans_empty_cluster_relocated": "test_no_cluster_is_empty",
        "test_result_equal_in_diff_n_threads": "test_kmeans_storage: the same bits",
        "test_warning_elkan_1_cluster": INTERNAL,
        "test_k_means_1_iteration": INTERNAL,
        "test_euclidean_distance": INTERNAL,
        "test_inertia": "test_estimators.test_spherical_kmeans",
        "test_change_n_init_future_warning": INTERNAL,
        "test_n_init_auto": INTERNAL,
        "test_sample_weight_unchanged": NO_WEIGHTS,
        "test_wrong_params": "test_estimators.test_spherical_kmeans",
        "test_kmeans_plusplus_wrong_params": INTERNAL,
        "test_kmeans_plusplus_output": INTERNAL,
        "test_kmeans_plusplus_norms": INTERNAL,
        "test_kmeans_plusplus_dataorder": INTERNAL,
        "test_is_same_clustering": INTERNAL,
        "test_kmeans_with_array_like_or_np_scalar_init": "test_kmeans_inits",
        "test_feature_names_out": CHECKS,
        "test_predict_does_not_change_cluster_centers": "test_kmeans_predicts",
    },
}


def test_the_list_is_complete():
    place = pathlib.Path(sklearn.__file__).parent
    if not sklearn.__version__.startswith("1.2."):
        pytest.skip("the list is that of scikit-learn 1.2")
    for path, known in PEERS.items():
        if not (place / path).exists():
            pytest.skip("scikit-learn is installed without its tests")
        theirs = set(re.findall(r"^def (test_\w+)", (place / path).read_text(), re.M))
        assert theirs == set(known), path
    ours = {name for name in globals() if name.startswith("test_")}
    for known in PEERS.values():
        for where in known.values():
            named = re.match(r"(test_\w+)", where)
            assert not named or "." in where.split(" ")[0] or named.group(1) in ours | {"test_sklearn"}, where


def nmf(*arguments, **options):
    return armilla.SphericalFactorization(*arguments, model="nmf", random_state=0, **options)


def pca(*arguments, **options):
    return armilla.SphericalFactorization(*arguments, model="pca", random_state=0, **options)


def test_nmf_is_nonnegative():
    A = np.c_[5.0 - np.arange(1, 6), 5.0 + np.arange(1, 6)]
    for init in (None, "random", "nndsvd", "samples", "kmeans++"):
        for make in (nmf(2, init=init), nmf(2, init=init, solver="mu") if init in (None, "random") else nmf(2), armilla.SphericalNMF(2, init=init, random_state=0)):
            codes = make.fit_transform(A)
            assert (make.components_ >= 0).all() and (codes >= 0).all()


def test_nmf_fits_closely():
    rng = np.random.default_rng(42)
    assert nmf(5, max_iter=600).fit(np.abs(rng.standard_normal((6, 5)))).reconstruction_err_ < 0.1
    W, H = np.maximum(rng.standard_normal((50, 5)), 0), np.maximum(rng.standard_normal((5, 10)), 0)
    model = nmf(5, max_iter=2000, n_restarts=5, tol=1e-10).fit(W @ H)
    assert model.reconstruction_err_ < 0.05 * np.linalg.norm(W @ H)
    np.testing.assert_allclose(np.linalg.norm(W @ H - model.codes_ @ model.components_), model.reconstruction_err_, rtol=1e-6)


def test_nmf_inverse_transform():
    A = np.abs(np.random.RandomState(0).randn(6, 4))
    model = nmf(4, max_iter=1000, tol=1e-12)
    np.testing.assert_allclose(model.inverse_transform(model.fit_transform(A)), A, atol=5e-2)


def test_more_components_than_features():
    A = np.abs(np.random.RandomState(0).randn(30, 10))
    assert nmf(15).fit(A).components_.shape == (15, 10)
    assert armilla.SphericalNMF(15).fit(A).codes_.shape == (30, 15)


def test_nmf_sparse_input():
    A = np.abs(np.random.RandomState(0).randn(10, 10))
    A[:, 2 * np.arange(5)] = 0
    for solver in ("fast", "mu"):
        dense, sparse = nmf(5, solver=solver, init="random"), nmf(5, solver=solver, init="random")
        np.testing.assert_allclose(dense.fit_transform(A), sparse.fit_transform(scipy.sparse.csc_matrix(A)), atol=1e-4)
        np.testing.assert_allclose(dense.components_, sparse.components_, atol=1e-4)
        np.testing.assert_allclose(dense.transform(A), dense.transform(scipy.sparse.csr_matrix(A)), atol=1e-6)


def test_the_objective_never_rises():
    X = np.abs(np.random.RandomState(0).randn(20, 15)) + 1e-6
    for row in armilla.tables()["models"]:
        sparsity = 2 if "sparse" in row["name"] or row["name"] == "dictionary" else None
        trace = armilla.SphericalFactorization(5, model=row["name"], sparsity=sparsity, random_state=0).fit(X).trace_
        assert (np.diff(trace["objective"]) <= 1e-13 * np.linalg.norm(X) ** 2).all(), row["name"]


def test_dtypes():
    X = np.abs(np.random.RandomState(0).randn(20, 15))
    for make in (nmf(3), pca(3), armilla.SphericalPCA(3, random_state=0)):
        for given, got in ((np.float32, np.float32), (np.float64, np.float64), (np.int32, np.float64), (np.int64, np.float64), (np.float16, np.float32)):
            codes = make.fit_transform((10 * X).astype(given))
            assert codes.dtype == make.components_.dtype == make.transform((10 * X).astype(given)).dtype == got
        single, double = make.fit(X.astype(np.float32)).reconstruction_err_, make.fit(X).reconstruction_err_
        np.testing.assert_allclose(single, double, rtol=1e-3)
    kmeans = [armilla.SphericalKMeans(4, random_state=0).fit(X.astype(kind)) for kind in (np.float32, np.float64)]
    assert np.array_equal(kmeans[0].labels_, kmeans[1].labels_)
    np.testing.assert_allclose(kmeans[0].cluster_centers_, kmeans[1].cluster_centers_, atol=1e-5)


def test_pca_is_pca():
    X = np.random.RandomState(0).randn(60, 8) @ np.diag([9, 7, 5, 3, 1, 1, 1, 1]) + 5
    for r in (1, 2, 3, 8):
        theirs = PCA(r).fit(X)
        ours = pca(r, center=True, tol=1e-14, max_iter=5000).fit(X)
        lost = np.linalg.norm(X - theirs.inverse_transform(theirs.transform(X)))
        np.testing.assert_allclose(ours.reconstruction_err_, lost, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), theirs.inverse_transform(theirs.transform(X)), atol=1e-3)
        np.testing.assert_allclose(ours.components_ @ ours.components_.T, np.eye(r), atol=1e-13)
        assert ours.components_.tobytes() == pca(r, center=True, tol=1e-14, max_iter=5000).fit(X).components_.tobytes()


def test_pca_projects():
    rng = np.random.RandomState(0)
    X = rng.randn(100, 3) * 0.1
    X[:10] += np.array([3, 4, 5])
    point = 0.1 * rng.randn(1, 3) + np.array([3, 4, 5])
    for points in (point, point.tolist()):
        found = pca(2, center=True).fit(X).transform(points)
        assert np.abs(found / np.linalg.norm(found)).max() > 0.9


def test_pca_inverse():
    rng = np.random.RandomState(0)
    X = rng.randn(50, 3)
    X[:, 1] *= 1e-5
    X += [5, 4, 3]
    model = pca(2, center=True).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-3)


def test_more_components_explain_more():
    X = np.random.RandomState(0).rand(100, 30)
    for make in (pca, nmf):
        scores = [make(r, n_restarts=3).fit(X).score(X) for r in (1, 2, 5, 10, 20)]
        assert np.all(np.diff(scores) > -1e-6) and scores[-1] <= 1


def test_pca_is_truncated_svd():
    X = scipy.sparse.random(60, 55, 0.2, "csr", random_state=0)
    theirs = TruncatedSVD(8, algorithm="arpack", random_state=0).fit(X)
    lost = np.linalg.norm(X - theirs.inverse_transform(theirs.transform(X)))
    ours = pca(8, tol=1e-13, max_iter=5000).fit(X)
    assert ours.components_.shape == (8, 55) and ours.codes_.shape == (60, 8)
    np.testing.assert_allclose(ours.reconstruction_err_, lost, rtol=1e-5)


@pytest.fixture(scope="module")
def blobs():
    """Five directions, at any distance."""
    X, y = make_blobs(120, 6, centers=5, cluster_std=0.5, random_state=3)
    return X * np.random.RandomState(0).uniform(0.2, 5, (120, 1)), y


def test_kmeans_converges():
    X = np.random.RandomState(0).randn(2000, 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        kmeans = armilla.SphericalKMeans(5, random_state=0, max_iter=1000, tol=1e-9).fit(X)
    assert 1 <= kmeans.n_iter_ < 1000


def test_kmeans_inits(blobs):
    X, y = blobs
    best = armilla.SphericalKMeans(5, random_state=0, n_init=10).fit(X)
    for init in ("kmeans++", "samples", "random"):
        assert armilla.SphericalKMeans(5, init=init, random_state=0, n_init=10).fit(X).inertia_ <= 1.5 * best.inertia_
    centers = np.array(best.cluster_centers_)
    for init in (centers, centers.tolist()):
        again = armilla.SphericalKMeans(5, init=init).fit(X)
        assert np.array_equal(again.labels_, best.labels_) and again.n_iter_ <= 2
        np.testing.assert_allclose(again.cluster_centers_, best.cluster_centers_, atol=1e-12)
    assert np.array_equal(centers, best.cluster_centers_)


def test_kmeans_storage(blobs):
    X, _ = blobs
    usual = armilla.SphericalKMeans(5, random_state=0).fit(X)
    aligned = armilla.SphericalKMeans(5, random_state=0).fit(np.asfortranarray(X))
    assert aligned.cluster_centers_.tobytes() == usual.cluster_centers_.tobytes()
    for other in (scipy.sparse.csr_matrix(X), scipy.sparse.csc_matrix(X)):
        kmeans = armilla.SphericalKMeans(5, random_state=0).fit(other)
        assert adjusted_rand_score(kmeans.labels_, usual.labels_) == 1 and np.array_equal(usual.predict(other), usual.labels_)
        np.testing.assert_allclose(kmeans.inertia_, usual.inertia_, rtol=1e-9)
    for threads in (1, 2, 3):
        assert armilla.SphericalKMeans(5, random_state=0, n_jobs=threads).fit(X).cluster_centers_.tobytes() == usual.cluster_centers_.tobytes()
    whole = np.round(10 * X)
    for kind in (np.int32, np.int64):
        assert np.array_equal(armilla.SphericalKMeans(5, random_state=0).fit(whole.astype(kind)).labels_, armilla.SphericalKMeans(5, random_state=0).fit(whole).labels_)


def test_kmeans_score(blobs):
    X = np.random.RandomState(0).randn(300, 10)
    few, many = (armilla.SphericalKMeans(8, random_state=0, max_iter=k, tol=0, init="samples").fit(X).score(X) for k in (1, 50))
    assert many > few
    inertias = [armilla.SphericalKMeans(8, random_state=0, n_init=k).fit(X).inertia_ for k in (1, 5, 20)]
    assert inertias[2] <= inertias[1] * (1 + 1e-9) <= inertias[0] * (1 + 2e-9)


def test_kmeans_predicts(blobs):
    X, _ = blobs
    kmeans = armilla.SphericalKMeans(5, random_state=0).fit(X)
    centers = np.array(kmeans.cluster_centers_)
    assert np.array_equal(kmeans.predict(centers), np.arange(5))
    angles = kmeans.transform(centers)
    np.testing.assert_allclose(np.diag(angles), 0, atol=1e-7)
    assert (angles + np.eye(5) > 1e-3).all()
    np.testing.assert_allclose(kmeans.fit_transform(X), kmeans.fit(X).transform(X))
    assert np.array_equal(centers, kmeans.cluster_centers_)


def test_no_cluster_is_empty():
    X = np.array([[-1.0, 0.2], [-1, 0.3], [1, 0.2], [1, 0.1], [1, 0.3]])
    for init in ("samples", "kmeans++"):
        for seed in range(10):
            assert len(set(armilla.SphericalKMeans(3, init=init, random_state=seed).fit(X).labels_)) == 3


def test_euclidean_kmeans_too():
    """model='kmeans' of the factorization is k-means by distance, and as good."""
    X, _ = make_blobs(200, 5, centers=6, random_state=1)
    ours = armilla.SphericalFactorization(6, model="kmeans", n_restarts=10, random_state=0).fit(X)
    theirs = KMeans(6, n_init=10, random_state=0).fit(X)
    assert ours.reconstruction_err_**2 <= theirs.inertia_ * 1.01

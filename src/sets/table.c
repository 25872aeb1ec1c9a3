/* The tables of basis sets, code sets and named pairs. */
#include "sets/sets.h"

#include <string.h>

static const armilla_basis_set *const basis_rows[] = {
    &armilla_basis_orthonormal, &armilla_basis_nonnegative,        &armilla_basis_free,
    &armilla_basis_unit,        &armilla_basis_orthonormal_nonneg,
};

static const armilla_code_set *const code_rows[] = {
    &armilla_codes_sphere,        &armilla_codes_nonneg_sphere,
    &armilla_codes_sparse_sphere, &armilla_codes_nonneg_sparse_sphere,
    &armilla_codes_free,          &armilla_codes_nonneg,
    &armilla_codes_sparse,        &armilla_codes_one_hot,
};

static const armilla_named_model model_rows[] = {
    {"spherical-pca", "orthonormal", "sphere", "orthonormal x sphere", "principal components with codes on a sphere", 0,
     NULL},
    {"spherical-nmf", "nonnegative", "nonneg-sphere", "nonnegative x nonneg-sphere",
     "parts that add up, with codes on a sphere", 0, NULL},
    {"sparse-spherical-pca", "orthonormal", "sparse-sphere", "orthonormal x sparse-sphere",
     "spherical PCA with few components per sample", 0, NULL},
    {"sparse-spherical-nmf", "nonnegative", "nonneg-sparse-sphere", "nonnegative x nonneg-sparse-sphere",
     "spherical NMF with few parts per sample", 0, NULL},
    {"pca", "orthonormal", "free", "orthonormal x free",
     "principal components (of the data as they are: " ARMILLA_FIELD("center") ")", 0, NULL},
    {"nmf", "nonnegative", "nonneg", "nonnegative x nonneg", "nonnegative matrix factorization: parts that add up", 0,
     NULL},
    {"onmf", "orthonormal-nonneg", "nonneg", "orthonormal-nonneg x nonneg",
     "orthogonal NMF: parts without a common feature", 0, NULL},
    {"semi-nmf", "free", "nonneg", "free x nonneg", "NMF of data with both signs", 0, NULL},
    {"dictionary", "unit", "sparse", "unit x sparse", "dictionary learning: few atoms per sample", 0, NULL},
    {"kmeans", "free", "one-hot", "free x one-hot", "k-means: an atom per sample", 0, NULL},
    {"spherical-kmeans", "unit", "nonneg-sparse-sphere", "unit x nonneg-sparse-sphere",
     "k-means by angle: " ARMILLA_FIELD("sparsity 1") " and " ARMILLA_FIELD("normalize l2"), 1, "l2"},
};

enum {
    BASIS_ROWS = sizeof basis_rows / sizeof basis_rows[0],
    CODE_ROWS = sizeof code_rows / sizeof code_rows[0],
    MODEL_ROWS = sizeof model_rows / sizeof model_rows[0],
};

static bool called(const char *word, const char *name, const char *alias)
{
    return strcmp(word, name) == 0 || (alias && strcmp(word, alias) == 0);
}

const armilla_basis_set *armilla_basis_row(size_t index)
{
    return index < BASIS_ROWS ? basis_rows[index] : NULL;
}

const armilla_basis_set *armilla_basis_find(const char *name)
{
    for (size_t i = 0; i < BASIS_ROWS; i++)
        if (called(name, basis_rows[i]->name, basis_rows[i]->alias)) return basis_rows[i];
    return NULL;
}

const armilla_code_set *armilla_codes_row(size_t index)
{
    return index < CODE_ROWS ? code_rows[index] : NULL;
}

const armilla_code_set *armilla_codes_find(const char *name)
{
    for (size_t i = 0; i < CODE_ROWS; i++)
        if (called(name, code_rows[i]->name, code_rows[i]->alias)) return code_rows[i];
    return NULL;
}

const armilla_named_model *armilla_models_row(size_t index)
{
    return index < MODEL_ROWS ? &model_rows[index] : NULL;
}

const armilla_named_model *armilla_models_find(const char *name)
{
    for (size_t i = 0; i < MODEL_ROWS; i++)
        if (strcmp(name, model_rows[i].name) == 0) return &model_rows[i];
    return NULL;
}

const armilla_named_model *armilla_models_of_pair(const char *basis, const char *codes, int64_t sparsity,
                                                  const char *normalize)
{
    for (size_t i = 0; i < MODEL_ROWS; i++) {
        const armilla_named_model *row = &model_rows[i];
        if (strcmp(basis, row->basis) != 0 || strcmp(codes, row->codes) != 0) continue;
        if (row->sparsity > 0 && row->sparsity != sparsity) continue;
        if (!row->normalize || strcmp(normalize, row->normalize) == 0) return row;
    }
    return NULL;
}

bool armilla_pair_allowed(const armilla_basis_set *basis, const armilla_code_set *codes)
{
    return codes->conic || !basis->needs_conic_codes;
}

bool armilla_codes_have_one_atom(const armilla_code_set *codes, int64_t s)
{
    return codes->sparse ? s == 1 : !codes->spherical && !codes->conic;
}

bool armilla_pair_assigns(const armilla_basis_set *basis, const armilla_code_set *codes, int64_t s)
{
    return armilla_codes_have_one_atom(codes, s) && codes->nonnegative && basis->is_signed && basis->atom;
}

bool armilla_pair_is_pca(const armilla_basis_set *basis, const armilla_code_set *codes)
{
    const bool any = codes->conic && !codes->spherical && !codes->nonnegative && !codes->sparse;
    return any && basis->gram_is_identity && basis->is_signed;
}

/* The tables of basis sets, code sets and named pairs. */
#include "sets/sets.h"

#include <string.h>

static const armilla_basis_set *const basis_rows[] = {
    &armilla_basis_orthonormal,
    &armilla_basis_nonnegative,
};

static const armilla_code_set *const code_rows[] = {
    &armilla_codes_sphere,
    &armilla_codes_nonneg_sphere,
    &armilla_codes_sparse_sphere,
    &armilla_codes_nonneg_sparse_sphere,
};

static const armilla_named_model model_rows[] = {
    {"spherical-pca", "orthonormal", "sphere", "orthonormal x sphere", "principal components with codes on a sphere"},
    {"spherical-nmf", "nonnegative", "nonneg-sphere", "nonnegative x nonneg-sphere",
     "parts that add up, with codes on a sphere"},
    {"sparse-spherical-pca", "orthonormal", "sparse-sphere", "orthonormal x sparse-sphere",
     "spherical PCA with few components per sample"},
    {"sparse-spherical-nmf", "nonnegative", "nonneg-sparse-sphere", "nonnegative x nonneg-sparse-sphere",
     "spherical NMF with few parts per sample"},
};

enum {
    BASIS_ROWS = sizeof basis_rows / sizeof basis_rows[0],
    CODE_ROWS = sizeof code_rows / sizeof code_rows[0],
    MODEL_ROWS = sizeof model_rows / sizeof model_rows[0],
};

static bool called(const char *spoken, const char *name, const char *alias)
{
    return strcmp(spoken, name) == 0 || strcmp(spoken, alias) == 0;
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

const armilla_named_model *armilla_models_of_pair(const char *basis, const char *codes)
{
    for (size_t i = 0; i < MODEL_ROWS; i++)
        if (strcmp(basis, model_rows[i].basis) == 0 && strcmp(codes, model_rows[i].codes) == 0) return &model_rows[i];
    return NULL;
}

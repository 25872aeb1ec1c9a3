/* The result of a fit: its factors, its history, its file, and what can be done with it. */
#ifndef ARMILLA_MODEL_H
#define ARMILLA_MODEL_H

#include <armilla/base.h>
#include <armilla/data.h>
#include <armilla/fit.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct armilla_model_summary {
    const char *model; /* the pair's name, NULL where it has none */
    const char *basis, *codes, *solver, *start;
    const char *normalize;
    bool center, tfidf, log1p, scale;
    int64_t sparsity; /* 0 where the code set is not sparse */
    int64_t rank, m, n, nnz;
    int64_t seed, threads, ranks;
    int64_t iterations, sweeps;
    int64_t zero_samples;
    uint64_t fingerprint; /* of the data, armilla_data_facts */
    armilla_type precision;
    armilla_stop stop;
    double objective, relative_error, squared_norm, radius;
    double seconds, seconds_per_iteration;
    /* The codes are those that transform gives for the same samples; false where the solver does not promise that, or
     * where the fit was stopped before. */
    bool sealed;
} armilla_model_summary;

ARMILLA_API void armilla_model_free(armilla_model *model);
/* Strings belong to the model. */
ARMILLA_API void armilla_model_summarize(const armilla_model *model, armilla_model_summary *summary);

/* Every option of the fit, as a JSON object of the words a user would type. */
ARMILLA_API const char *armilla_model_options(const armilla_model *model);

/* Column-major, in the model's precision: U is m x r, V is r x n. */
ARMILLA_API const void *armilla_model_basis(const armilla_model *model);
ARMILLA_API const void *armilla_model_codes(const armilla_model *model);
/* m doubles, or NULL where the fit did not use them. */
ARMILLA_API const double *armilla_model_mean(const armilla_model *model);
ARMILLA_API const double *armilla_model_idf(const armilla_model *model);
ARMILLA_API const double *armilla_model_scale(const armilla_model *model); /* factors: 1/sd, or 1 */
/* The name of a feature or sample of the fit's data, or a sample's label, from 0; NULL where these had none. */
ARMILLA_API const char *armilla_model_name(const armilla_model *model, armilla_naming kind, int64_t index);
/* Where the fit's data were chosen from others (armilla_data_select): which places of those, from 0, the model's m
 * features and n samples are; *of is how many there were. NULL where all were taken. */
ARMILLA_API const int64_t *armilla_model_kept_features(const armilla_model *model, int64_t *of);
ARMILLA_API const int64_t *armilla_model_kept_samples(const armilla_model *model, int64_t *of);
/* Entries 0 ... count-1. */
ARMILLA_API const armilla_trace_entry *armilla_model_trace(const armilla_model *model, int64_t *count);

/* The .npz of docs/model-file.md; it appears whole or not at all. */
ARMILLA_API armilla_status armilla_model_save(armilla_context *context, const armilla_model *model, const char *path,
                                              bool overwrite);
ARMILLA_API armilla_status armilla_model_open(armilla_context *context, const char *path, armilla_model **model);
/* *model = whether the file is an archive with the arrays of a model: cheap, and says nothing about what is in them.
 * An error only where the file cannot be opened or read. */
ARMILLA_API armilla_status armilla_model_recognize(armilla_context *context, const char *path, bool *model);
/* The trace as CSV: iter,objective,relative_error,dU,dV,radius,seconds. */
ARMILLA_API armilla_status armilla_model_save_trace(armilla_context *context, const armilla_model *model,
                                                    const char *path, bool overwrite);

/* Codes of new samples, r x n column-major in the model's precision, into codes. The preparation of the fit is applied;
 * where the fit was to some of the features, X has those, or all that they were chosen from. A sample's codes depend on
 * that sample alone. threads <= 0: all cores. */
ARMILLA_API armilla_status armilla_model_transform(armilla_context *context, const armilla_model *model,
                                                   const armilla_data *X, int threads, void *codes);

/* Columns first ... first+count-1 of UV, with centring, scale, tf-idf and log1p undone (sample lengths are not
 * kept, so `--normalize l2` is not), m x count column-major in the model's precision. */
ARMILLA_API armilla_status armilla_model_reconstruct(armilla_context *context, const armilla_model *model,
                                                     int64_t first, int64_t count, void *X);

/* The preparation of the fit, for columns in memory (m x count doubles, column-major, in place): what the fit saw of such
 * samples before it rounded them to its precision. lengths, where not NULL, gets the length that each column had before it
 * was scaled to length 1, or 1 where the fit did not scale. */
ARMILLA_API armilla_status armilla_model_prepare_columns(armilla_context *context, const armilla_model *model,
                                                         int64_t count, double *X, double *lengths);
/* The same undone. Columns stay as long as they are where lengths is NULL. A feature with the weight 0, and a column that
 * had no length, do not come back. */
ARMILLA_API armilla_status armilla_model_undo_columns(armilla_context *context, const armilla_model *model,
                                                      int64_t count, const double *lengths, double *X);

/* What a model says and what plain loops over the data find. Violations are of the model's own constraints. */
typedef struct armilla_check {
    bool passed;
    double objective_stated, objective_found;
    double objective_tolerance; /* the difference of the two that rounding explains (docs/model-file.md) */
    double radius_stated;
    double radius_tolerance;      /* of radius_violation */
    double radius_violation;      /* max_j | ||v_j|| / l - 1 |; 0 where codes are not on a sphere */
    double orthonormal_violation; /* max |U'U - I|, 0 where the basis is not orthonormal */
    double basis_negative;        /* the most negative entry of U as a positive number, 0 where signs are free */
    double unit_violation;        /* max_k | ||u_k|| - 1 |, 0 where atoms need not have length 1 */
    int64_t row_nonzeros;         /* in the fullest row of U, where one is the most; else 0 */
    double codes_negative;
    int64_t not_one_hot;   /* codes that are not one entry 1 and zeros, where they should be */
    int64_t most_nonzeros; /* in a code */
    bool fingerprint_matches;
    int64_t rises;       /* iterations in which the trace's objective rose by more than rounding */
    bool rises_expected; /* the fit used a lambda or mu below the safe value */
    char finding[256];   /* the first difference in words, "" where there is none */
} armilla_check;

/* X: the data of the fit, or those that they were chosen from. */
ARMILLA_API armilla_status armilla_model_check(armilla_context *context, const armilla_model *model,
                                               const armilla_data *X, armilla_check *check);

#ifdef __cplusplus
}
#endif

#endif

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
    size_t size;
    const char *model; /* the pair's name, NULL where it has none */
    const char *basis, *codes, *solver, *start;
    const char *normalize;
    bool center, tfidf, log1p, scale;
    /* The codes are those that transform gives for the same samples; false where the solver does not promise that, or
     * where the fit was stopped before. */
    bool sealed;
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
    int64_t samples_seen; /* n, and those of earlier data where the model was continued (armilla_model_update) */
    /* How often the fit read all of the data, all passes and those before the first iteration; 0 of a model made from
     * arrays, or by 0.1.0. */
    int64_t passes, passes_before;
    /* Rows and columns of data that are images, such as IDX files and folders of images, pixels row by row; else 0.
     * They count all features, also where some were selected. */
    int64_t image_rows, image_columns;
    double total;         /* what samples are scaled to add up to; 0: they are not */
    int64_t top_features; /* features that were chosen because they vary; 0: all were taken */
} armilla_model_summary;

/* Sets the options that say how data are prepared (ARMILLA_PREPARATION) to those of the model's fit, with the numbers that
 * it learned: the total of the samples, and how many features were chosen. Others stay. Texts are the model's. */
ARMILLA_API void armilla_model_preparation(const armilla_model *model, armilla_options *options);

/* *updated = the model continued on new samples by solver `online`, without the data that it was fitted to: its basis
 * moves as far as the new samples say against what it remembers of all before, atoms keep their places, and the
 * preparation stays. Codes, objective and trace are those of X, so that X is what armilla_model_check wants. The
 * options that count are batch, max_iter (passes over X), tol, seed, radius, threads, kernel, time_limit, memory and
 * the callback; the model decides the others. The model stays as it is. X has the features that the model was fitted
 * to. */
ARMILLA_API armilla_status armilla_model_update(armilla_context *context, const armilla_model *model,
                                                const armilla_data *X, const armilla_options *options,
                                                armilla_model **updated);

/* A model that was not fitted here. */
typedef struct armilla_model_arrays {
    size_t size;
    armilla_type precision; /* ARMILLA_F32 or ARMILLA_F64, of basis and codes */
    int64_t m, n;           /* features, and samples; the rank is that of the options */
    const void *basis;      /* U, m x r, column-major */
    const void *codes;      /* V, r x n, column-major; NULL with n = 0: the model transforms, but cannot be saved */
    double radius;          /* of codes on a sphere: the length that all have */
    const double *mean;     /* m each, where the options say center, tfidf, scale; else NULL */
    const double *idf;
    const double *scale;
    double objective, squared_norm; /* of the data, where they are known; squared_norm 0: not */
    double total;                   /* where the options say total: the number that sums are scaled to; else 0 */
    const double *top_features;     /* m, where the options say top_features: 1 for those that were chosen, else 0 */
} armilla_model_arrays;

ARMILLA_API void armilla_model_arrays_default_sized(armilla_model_arrays *arrays, size_t size);
/* f64, and all else 0 or NULL. */
static inline void armilla_model_arrays_default(armilla_model_arrays *arrays)
{
    armilla_model_arrays_default_sized(arrays, sizeof *arrays);
}
/* The model of these arrays, which are copied. The options say what it is: rank, model or basis and codes, sparsity,
 * and the preparation. The caller ensures that the arrays are points of the sets: armilla_model_check checks it. */
ARMILLA_API armilla_status armilla_model_from_arrays(armilla_context *context, const armilla_options *options,
                                                     const armilla_model_arrays *arrays, armilla_model **model);
ARMILLA_API void armilla_model_free(armilla_model *model);
ARMILLA_API void armilla_model_summarize_sized(const armilla_model *model, armilla_model_summary *summary, size_t size);
/* Strings belong to the model. */
static inline void armilla_model_summarize(const armilla_model *model, armilla_model_summary *summary)
{
    armilla_model_summarize_sized(model, summary, sizeof *summary);
}

/* Every option of the fit, as a JSON object of the words a user would type. */
ARMILLA_API const char *armilla_model_options(const armilla_model *model);

/* How the file was read that the model was fitted to, as a JSON object of texts that the program has given it, or NULL. The
 * library keeps it in the model's file (docs/model-file.md) and makes nothing of it. */
ARMILLA_API const char *armilla_model_reading(const armilla_model *model);
/* NULL: it is forgotten. */
ARMILLA_API armilla_status armilla_model_set_reading(armilla_context *context, armilla_model *model,
                                                     const char *reading);

/* Column-major, in the model's precision: U is m x r, V is r x n. */
ARMILLA_API const void *armilla_model_basis(const armilla_model *model);
ARMILLA_API const void *armilla_model_codes(const armilla_model *model);
/* m doubles, or NULL where the fit did not use them. */
ARMILLA_API const double *armilla_model_mean(const armilla_model *model);
ARMILLA_API const double *armilla_model_idf(const armilla_model *model);
ARMILLA_API const double *armilla_model_scale(const armilla_model *model); /* factors: 1/sd, or 1 */
/* The name of a feature or sample of the fit's data, or a sample's label, from 0; NULL where these had none. */
ARMILLA_API const char *armilla_model_name(const armilla_model *model, armilla_naming kind, int64_t index);
/* The model gets names of features or samples, or labels, from a file with one for each: what it was fitted to had none,
 * or others. */
ARMILLA_API armilla_status armilla_model_read_names(armilla_context *context, armilla_model *model, armilla_naming kind,
                                                    const char *path);
/* The places, from 0, of the model's m features and n samples in the data that the fit's data were selected from
 * (armilla_data_select); *of is how many there were. NULL where all were taken. */
ARMILLA_API const int64_t *armilla_model_kept_features(const armilla_model *model, int64_t *of);
ARMILLA_API const int64_t *armilla_model_kept_samples(const armilla_model *model, int64_t *of);
/* The samples that are 0 as they were fitted, from 0 and rising, *count of them: they have no direction, whatever code they
 * have. NULL where there are none, or the model does not know: of one that several ranks have fitted the first does. */
ARMILLA_API const int64_t *armilla_model_zero_samples(const armilla_model *model, int64_t *count);
/* Entries of the trace: iterations + 1. */
ARMILLA_API int64_t armilla_model_trace_count(const armilla_model *model);
ARMILLA_API bool armilla_model_trace_entry_sized(const armilla_model *model, int64_t k, armilla_trace_entry *entry,
                                                 size_t size);
/* Entry k, from 0; false, and all of it 0, past the last. */
static inline bool armilla_model_trace_entry(const armilla_model *model, int64_t k, armilla_trace_entry *entry)
{
    return armilla_model_trace_entry_sized(model, k, entry, sizeof *entry);
}

/* The .npz of docs/model-file.md; it appears whole or not at all. */
ARMILLA_API armilla_status armilla_model_save(armilla_context *context, const armilla_model *model, const char *path,
                                              bool overwrite);
ARMILLA_API armilla_status armilla_model_open(armilla_context *context, const char *path, armilla_model **model);
/* The same bytes in memory: *bytes is a block that armilla_release frees. Opened, they are needed during the call
 * alone. */
ARMILLA_API armilla_status armilla_model_save_memory(armilla_context *context, const armilla_model *model, void **bytes,
                                                     size_t *count);
ARMILLA_API armilla_status armilla_model_open_memory(armilla_context *context, const void *bytes, size_t count,
                                                     armilla_model **model);
/* *model = whether the file is an archive with the arrays of a model: cheap, and says nothing about what is in them.
 * An error only where the file cannot be opened or read. */
ARMILLA_API armilla_status armilla_model_recognize(armilla_context *context, const char *path, bool *model);
/* The trace as CSV: iter,objective,relative_error,dU,dV,radius,seconds. */
ARMILLA_API armilla_status armilla_model_save_trace(armilla_context *context, const armilla_model *model,
                                                    const char *path, bool overwrite);

/* *matched = X with the model's features, found by name, in the model's order; NULL where X has them so already, or
 * where the model or X has no names: then features count by their places, of which a warning to the context's log tells
 * if the model has names. Features that the model does not have are left out, and counted in a message to the log. One
 * that X does not have is ARMILLA_BAD_DATA, or with fill_missing 0 in every sample; where X has none of them it is
 * always an error. Equal names are matched in their order. Results have the bits that X would give in the model's
 * order. X must outlive *matched. */
ARMILLA_API armilla_status armilla_model_match(armilla_context *context, const armilla_model *model,
                                               const armilla_data *X, bool fill_missing, armilla_data **matched);

/* Codes of new samples, r x n column-major in the model's precision, into codes. The preparation of the fit is applied;
 * where the fit was to some of the features, X has those, or all that they were chosen from. Features are matched by
 * name where both have names (armilla_model_match, without messages). A sample's codes depend on that sample alone.
 * threads <= 0: all cores. */
ARMILLA_API armilla_status armilla_model_transform(armilla_context *context, const armilla_model *model,
                                                   const armilla_data *X, int threads, void *codes);

/* Columns first ... first+count-1 of UV, with centring, scale, tf-idf and log1p undone (sample lengths are not
 * kept, so normalize l2 is not), m x count column-major in the model's precision. */
ARMILLA_API armilla_status armilla_model_reconstruct(armilla_context *context, const armilla_model *model,
                                                     int64_t first, int64_t count, void *X);
/* The same of `count` given codes, r x count column-major in the model's precision: those of transform, or any others. */
ARMILLA_API armilla_status armilla_model_reconstruct_codes(armilla_context *context, const armilla_model *model,
                                                           const void *codes, int64_t count, void *X);

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
    size_t size;
    bool passed;
    bool fingerprint_matches;
    bool
        rises_expected; /* the fit used a lambda or mu below the safe value, or a solver that does not promise descent */
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
    int64_t rises;         /* iterations in which the trace's objective rose by more than rounding */
    char finding[256];     /* the first difference in words, "" where there is none */
} armilla_check;

ARMILLA_API armilla_status armilla_model_check_sized(armilla_context *context, const armilla_model *model,
                                                     const armilla_data *X, armilla_check *check, size_t size);
/* Recomputes objective, constraints and radius from the data by code of its own, and compares them with what the model
 * says. X: the data of the fit, or those that they were chosen from; features are matched by name where both have names. */
static inline armilla_status armilla_model_check(armilla_context *context, const armilla_model *model,
                                                 const armilla_data *X, armilla_check *check)
{
    return armilla_model_check_sized(context, model, X, check, sizeof *check);
}

#ifdef __cplusplus
}
#endif

#endif

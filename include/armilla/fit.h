/* Options and the fit itself. */
#ifndef ARMILLA_FIT_H
#define ARMILLA_FIT_H

#include <armilla/base.h>
#include <armilla/data.h>
#include <armilla/options.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct armilla_model armilla_model;

/* One line of the trace. Entry 0 is the start, entry k what k iterations have reached. */
typedef struct armilla_trace_entry {
    size_t size;
    int64_t iteration;
    double objective;      /* h = ||X - UV||^2 */
    double relative_error; /* sqrt(h / ||X||^2) */
    double dU, dV;         /* ||U_k - U_{k-1}||_F, ||V_k - V_{k-1}||_F; 0 at the start */
    double radius;
    double seconds; /* since the data were ready */
} armilla_trace_entry;

/* A fit that is stopped, by the context's watch (armilla/base.h), by its callback or by time_limit, ends
 * within about two sweeps and returns the last state that was whole, an exact point of its sets. Its codes are those of
 * transform only where the summary says `sealed`. While a start is made there is no state yet: the start becomes random
 * samples (random atoms with mu). Only a fit that is stopped during the first look at the data returns no model, but
 * ARMILLA_STOPPED; time_limit lets that look end. */

/* Called after the start and after each iteration, from the thread that called armilla_fit; nonzero stops the fit. It
 * sees iteration 0, 1, 2, ... and none twice: what it has seen is the trace of the model, but for the last objective,
 * which the model has computed directly, and for objectives that its stored codes do not reach
 * (docs/algorithm.md#canonical-form-and-sealing), which state the model's own. With restarts this holds for each start,
 * one after the other, and the model's trace is that of the best. Starts that are compared on a part of the data are
 * not seen. */
typedef int (*armilla_callback)(void *user, const armilla_trace_entry *entry);

/* Strings are borrowed until the fit returns. armilla_option_table describes every field down to scale,
 * and batch. */
typedef struct armilla_options {
    size_t size;
    int64_t rank;
    const char *model; /* a named pair, instead of basis and codes; NULL: none */
    const char *basis; /* NULL: the model's, or orthonormal */
    const char *codes; /* NULL: the model's, or sphere */
    int64_t sparsity;  /* 0: none */
    double radius;     /* 0: learned */
    const char *solver;
    const char *lambda; /* a number, or a multiple of the safe value such as "0.3x" */
    const char *mu;
    const char *start; /* a row of the starts table or a file; NULL: the pair's default */
    int64_t seed;
    int64_t restarts;
    int64_t max_iter;
    double tol;            /* -1: as soon as little is still to be gained (docs/algorithm.md#when-to-stop) */
    double time_limit;     /* seconds from the call on; 0: none */
    const char *precision; /* "f32", "f64"; NULL: f64 where the data are, f32 else */
    int64_t threads;       /* 0: the cores this process may use */
    const char *kernel;    /* "auto", "portable", "avx2", "avx512": the products' instruction set; NULL: auto */
    const char *normalize; /* "none", "l2"; NULL: what the model stands for, else none */
    bool center;
    bool tfidf;
    bool log1p; /* the preparation is, in this order: total, log1p, top_features, tfidf, scale, center, normalize */
    bool scale;

    /* Not in the table: what only a program can give, and what changes no number. */
    int64_t memory; /* most bytes of the context during the fit, if below its own limit; 0: none */
    /* Atoms that are clusters (k-means) keep the order in which they are given; others are numbered by size. */
    const double *start_basis;        /* U0, m x r, column-major; overrides start */
    const armilla_model *start_model; /* U0, V0 and the radius; overrides start */
    armilla_callback callback;
    void *callback_user;

    int64_t batch;   /* samples of a block of solver online; 0: automatic */
    const char *idf; /* of tfidf: "smooth", ln((1+n)/(1+n_i)) + 1, which NULL is too; "plain", ln(n/n_i) */
    /* What the entries of each sample are scaled to add up to: a number, "median" of the samples' sums, or "none"; NULL:
     * none. */
    const char *total;
    int64_t top_features; /* so many features that vary most for their mean, the others become 0; 0: all */
} armilla_options;

/* Rows for armilla_options; ends with a row whose name is NULL. */
ARMILLA_API const armilla_option *armilla_option_table(void);

ARMILLA_API void armilla_options_default_sized(armilla_options *options, size_t size);
/* Sets every member to its default; rank stays to be given. */
static inline void armilla_options_default(armilla_options *options)
{
    armilla_options_default_sized(options, sizeof *options);
}

/* The steps of preparation that the options ask for, in their order and in words, such as "log1p, tf-idf, unit length";
 * returns the buffer. */
ARMILLA_API const char *armilla_preparation_show(const armilla_options *options, char *buffer, size_t size);
/* The name of the first option of the group ARMILLA_PREPARATION that is not its default; NULL where all are. */
ARMILLA_API const char *armilla_preparation_given(const armilla_options *options);

/* Whether the options are right in themselves and together (not whether they fit data). */
ARMILLA_API armilla_status armilla_options_check(armilla_context *context, const armilla_options *options);

/* Whether they fit the data too; nothing is computed that reads the data. */
ARMILLA_API armilla_status armilla_fit_check(armilla_context *context, const armilla_data *X,
                                             const armilla_options *options);

/* Fits X by the options: *model is the best that was found, also where the fit was stopped. The data stay as they are,
 * and are not needed afterwards. */
ARMILLA_API armilla_status armilla_fit(armilla_context *context, const armilla_data *X, const armilla_options *options,
                                       armilla_model **model);

#ifdef __cplusplus
}
#endif

#endif

/* The model object: factors, history and how it was made. Words in the summary are rows of tables or owned here. */
#ifndef ARMILLA_MODEL_MODEL_H
#define ARMILLA_MODEL_MODEL_H

#include "base/samples.h"
#include "data/preparation.h"
#include "sets/sets.h"
#include "solve/problem.h"

#include <armilla/model.h>

enum { ARMILLA_MOST_RANK = 32000 }; /* LAPACK counts its work space, 2r^2 and more, in int */

/* Clusters of the model's samples that it keeps; all zeros: none. */
typedef struct armilla_kept_clusters {
    int64_t k;
    char *method;
    int64_t *labels; /* n, 0 ... k-1 */
    int64_t *sizes;  /* k */
    double *centres; /* r x k, means of codes, of unit ones where the method goes by angle */
} armilla_kept_clusters;

struct armilla_model {
    armilla_context *context;
    armilla_model_summary summary;
    const armilla_basis_set *basis;
    const armilla_code_set *codes;
    char *start;           /* what summary.start points to */
    char *options_text;    /* every option as JSON, for the file */
    char *reading_text;    /* how the data were read, likewise; NULL: not known */
    bool unsafe;           /* a lambda or mu that may be below the safe value */
    void *U, *V;           /* m x r, r x n in the precision */
    armilla_samples share; /* the samples whose codes are there; */
    bool spread;           /* the other ranks have the others */
    bool gathered;         /* and this one has these too */
    armilla_preparation preparation;
    armilla_options prepared; /* options that ask for it, and nothing else */
    armilla_step_texts step_texts;
    armilla_past past; /* of samples before the last, where the model was continued; A is NULL else */
    armilla_trace_entry *trace;
    int64_t trace_count;
    armilla_names names[ARMILLA_NAMING_COUNT];
    armilla_kept kept[ARMILLA_KEPT_COUNT]; /* of the data that the fit's were chosen from */
    armilla_kept_clusters clusters;
    armilla_kept
        zeros; /* the samples of length 0, which have a code on a sphere too; at is NULL where there are none */
};

/* Options with every name looked up. */
typedef struct armilla_resolved {
    const armilla_basis_set *basis;
    const armilla_code_set *codes;
    const char *model;  /* the pair's name, or NULL */
    armilla_type type;  /* the working precision */
    const char *kernel; /* of the products: a name in the kernels table */
} armilla_resolved;

/* *whole = the program's options, the defaults where it was compiled for a library with fewer. */
armilla_status armilla_options_read(armilla_context *context, const armilla_options *options, armilla_options *whole);

/* armilla_fit_check and armilla_fit, of options that have been read. */
armilla_status armilla_fit_check_whole(armilla_context *context, const armilla_data *X, const armilla_options *options);
armilla_status armilla_fit_whole(armilla_context *context, const armilla_data *X, const armilla_options *options,
                                 armilla_model **model);

/* The index-th choice of the option `kernel`, "auto" first; NULL past the last. */
const char *armilla_kernel_choice(size_t index);

/* Whether every word of them is one of its table: for what uses some of the options only. */
armilla_status armilla_options_check_words(armilla_context *context, const armilla_options *options);

/* Checks the options in themselves and looks up their names; X may be NULL, and then the type is not decided. */
armilla_status armilla_options_resolve(armilla_context *context, const armilla_options *options, const armilla_data *X,
                                       armilla_resolved *resolved);

/* The options with the preset word in place of every NULL that has one. */
armilla_options armilla_options_fill(const armilla_options *options);

/* All options as a JSON object, *text from armilla_take. */
armilla_status armilla_options_describe(armilla_context *context, const armilla_options *options,
                                        const armilla_resolved *resolved, char **text);
/* The option of that name in the text, as a user would type it; "" where it is not there. */
void armilla_options_recorded(const char *text, const char *name, char *value, size_t size);
/* A hash of the same, without the threads: two sets of options that differ have, in all likelihood, different
 * hashes. */
uint64_t armilla_options_token(const armilla_options *options, const armilla_resolved *resolved);
/* The kernels that the options, described as above, were fitted with; NULL where this machine does not have them. */
const char *armilla_options_kernel(const char *text);
/* Whether lambda or mu, as texts, may be below the safe value; NULL counts as safe. */
bool armilla_weights_unsafe(const char *lambda, const char *mu);

/* The radius of the codes; 1 where they have none. */
double armilla_model_code_length(const armilla_model *model);

/* What the model says of its preparation, when that has been learned or read. */
void armilla_model_describe_preparation(armilla_model *model);

void armilla_kept_clusters_release(armilla_context *context, armilla_kept_clusters *clusters);

armilla_status armilla_model_new(armilla_context *context, armilla_model **model);
/* ARMILLA_BAD_ARGUMENT where other ranks have codes of the model. */
armilla_status armilla_model_is_whole(armilla_context *context, const armilla_model *model);
/* ARMILLA_BAD_ARGUMENT where other ranks have codes that this process would need. */
armilla_status armilla_model_within_reach(armilla_context *context, const armilla_model *model);

/* ARMILLA_BAD_DATA where data of m features and n samples have other features than the model. */
armilla_status armilla_model_fits(armilla_context *context, const armilla_model *model, int64_t m, int64_t n);

/* What armilla_model_match does with what it finds. */
typedef struct armilla_matching {
    bool fill;   /* features that the data do not have are zeros, instead of an error */
    bool silent; /* no messages */
} armilla_matching;

/* armilla_model_match; *matched stays NULL where X is to be taken as it is. */
armilla_status armilla_features_match(armilla_context *context, const armilla_model *model, const armilla_data *X,
                                      armilla_matching how, armilla_data **matched);
/* The same of queries and the samples that they are compared with, where both have names. */
armilla_status armilla_queries_match(armilla_context *context, const armilla_data *X, const armilla_data *queries,
                                     armilla_data **matched);

/* X as the model's fit saw it. */
typedef struct armilla_view {
    armilla_data *matched;    /* X with the model's features in the model's order; NULL where it has that order */
    armilla_data *selected;   /* what the model keeps of X; NULL where that is all */
    const armilla_data *raw;  /* before the preparation */
    armilla_data *prepared;   /* NULL where there is none */
    const armilla_data *data; /* what is fitted */
} armilla_view;

/* Features are matched by name where both have names. X may be the data that the fit's were chosen from: then the same
 * features are picked, and the same samples where X is for `training`. Fails where X has other features than the model. */
armilla_status armilla_model_view(armilla_context *context, const armilla_model *model, const armilla_data *X,
                                  bool training, armilla_view *view);
void armilla_view_free(armilla_view *view);

/* U (m x r) and V (r x n) in the type. */
typedef struct armilla_factorization {
    armilla_type type;
    int64_t r;
    const void *U, *V;
} armilla_factorization;

/* ||X - UV||^2 by plain residuals, in double: the figure that is reported, because (A3) cancels where the fit is nearly
 * exact. What checks it is another code (model/check.h). */
armilla_status armilla_residual(armilla_context *context, const armilla_data *X, const armilla_factorization *of,
                                double *squared);

/* V = lW in the place of W: the codes of a share, r for each sample in the type. */
armilla_status armilla_codes_scale(armilla_context *context, armilla_type type, int64_t r, const armilla_samples *share,
                                   double l, void *codes);

/* Codes of X for a fixed basis and radius, r x n in the type: each a function of its sample alone. */
armilla_status armilla_solve_codes(armilla_context *context, const armilla_model *model, const armilla_data *view,
                                   void *codes);

#endif

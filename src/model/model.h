/* The model object: factors, history and how it was made. Words in the summary are rows of tables or owned here. */
#ifndef ARMILLA_MODEL_MODEL_H
#define ARMILLA_MODEL_MODEL_H

#include "data/data.h"
#include "sets/sets.h"

#include <armilla/model.h>

struct armilla_model {
    armilla_context *context;
    armilla_model_summary summary;
    const armilla_basis_set *basis;
    const armilla_code_set *codes;
    char *start;        /* what summary.start points to */
    char *options_text; /* every option as JSON, for the file */
    bool unsafe;        /* a lambda or mu that may be below the safe value */
    void *U, *V;        /* m x r, r x n in the precision */
    double *mean, *idf; /* m, or NULL */
    armilla_trace_entry *trace;
    int64_t trace_count;
};

/* Options with every name looked up. */
typedef struct armilla_resolved {
    const armilla_basis_set *basis;
    const armilla_code_set *codes;
    const char *model;     /* the pair's name, or NULL */
    const char *normalize; /* "none" or "l2" */
    armilla_type type;     /* the working precision */
    const char *kernel;    /* of the products: a name in the kernels table */
} armilla_resolved;

/* Checks the options in themselves and looks up their names; X may be NULL, and then the type is not decided. */
armilla_status armilla_options_resolve(armilla_context *context, const armilla_options *options, const armilla_data *X,
                                       armilla_resolved *resolved);

/* The options with the preset word in place of every NULL that has one. */
armilla_options armilla_options_fill(const armilla_options *options);

/* All options as a JSON object, *text from armilla_take. */
armilla_status armilla_options_describe(armilla_context *context, const armilla_options *options,
                                        const armilla_resolved *resolved, char **text);
/* The kernels that the options, described as above, were fitted with; NULL where this machine does not have them. */
const char *armilla_options_kernel(const char *text);
/* Whether lambda or mu, as texts, may be below the safe value; NULL counts as safe. */
bool armilla_weights_unsafe(const char *lambda, const char *mu);

armilla_status armilla_model_new(armilla_context *context, armilla_model **model);

/* X as the model's fit saw it: with its preparation, where it has one. *prepared is NULL, or to be freed. Fails where
 * X has other features than the model. */
armilla_status armilla_model_view(armilla_context *context, const armilla_model *model, const armilla_data *X,
                                  armilla_data **prepared, const armilla_data **view);

/* ARMILLA_BAD_DATA where the facts have a bad place, which it names, or numbers too large to compute with. */
armilla_status armilla_facts_finite(armilla_context *context, const armilla_data_facts *facts, const armilla_data *X,
                                    armilla_type work);

/* ||X - UV||^2 by plain residuals, in double: the figure that is reported and checked, because (A3) cancels where the
 * fit is nearly exact. U and V in the type. */
armilla_status armilla_residual(armilla_context *context, const armilla_data *X, armilla_type type, int threads,
                                int64_t r, const void *U, const void *V, double *squared);

/* Codes of X for a fixed basis and radius, r x n in the type: each a function of its sample alone. */
armilla_status armilla_solve_codes(armilla_context *context, const armilla_model *model, const armilla_data *view,
                                   int threads, void *codes);

#endif

/* What armilla_model_check is made of. It shares nothing with the fit but the reading of samples and the model: own
 * loops, own preparation, own sums. So what a fit gets wrong is not got wrong a second time here. */
#ifndef ARMILLA_MODEL_CHECK_H
#define ARMILLA_MODEL_CHECK_H

#include "base/call.h"
#include "base/ranks.h"
#include "data/slots.h"
#include "model/model.h"

/* What the model's record says was learned by a step, m numbers, or NULL. */
static inline const double *armilla_check_stated(const armilla_model *model, armilla_step step)
{
    return model->preparation.learned[step];
}

/* A sum and what its additions have rounded away (Knuth's two-sum: exact, and without a branch). */
typedef struct armilla_sum {
    double high, low;
} armilla_sum;

static inline void armilla_sum_add(armilla_sum *sum, double x)
{
    const double total = sum->high + x, added = total - sum->high;
    sum->low += (sum->high - (total - added)) + (x - added);
    sum->high = total;
}

static inline double armilla_sum_value(armilla_sum sum)
{
    return sum.high + sum.low;
}

/* sum_i a_i*b_i: short runs in plain double, which become vector code, and the runs by armilla_sum. */
double armilla_check_dot(int64_t count, const double *a, const double *b);
/* The exponent e with max |x_i| < 2^e <= 2*max; 0 where all are 0 or one is not finite. */
int armilla_check_exponent(int64_t count, const double *x);

/* What a check takes time for, in order; what is not needed is left out. */
enum {
    ARMILLA_CHECK_ATOMS, /* their products */
    ARMILLA_CHECK_UNIT,
    ARMILLA_CHECK_RESIDUAL,
    ARMILLA_CHECK_SIZES, /* and below: what was learned */
    ARMILLA_CHECK_SUMS,
    ARMILLA_CHECK_SQUARES,
    ARMILLA_CHECK_BASIS,
    ARMILLA_CHECK_CODES,
    ARMILLA_CHECK_STEPS
};

/* Asks before sample `at` of n, on `thread` of a team, once in a few samples: ARMILLA_STOPPED, without a message, where
 * the check is to end. */
static inline armilla_status armilla_check_ask(armilla_context *context, int thread, int64_t at, int64_t n)
{
    enum { FEW = 16 };
    return at % FEW == 0 ? armilla_call_pass(context, thread, at, n) : ARMILLA_OK;
}

/* The data, with what the model keeps of them. */
typedef struct armilla_source {
    armilla_context *context;
    const armilla_data *X;
    armilla_type type;
    int64_t m, n;
    bool sparse;
    const int64_t *features, *samples; /* which are kept, or NULL: all */
    int64_t *numbers;                  /* sparse data of which features are kept: what each becomes, or -1 */
    armilla_slots blocks;              /* of samples, whose sums are made each by itself; */
    int64_t first_block, last_block;   /* those of this rank, */
    int64_t first, last;               /* and the samples of these */
} armilla_source;

/* Fails where the data have another shape than the model's. */
armilla_status armilla_source_open(armilla_context *context, const armilla_model *model, const armilla_data *X,
                                   armilla_source *source);
void armilla_source_close(armilla_source *source);

/* Samples of a source, one after another, on one thread: some neighbours at a time are in memory. */
typedef struct armilla_source_reader {
    const armilla_source *source;
    armilla_panel panel;
    void *workspace;
    int64_t span;        /* samples at a time, at most */
    int64_t first, last; /* that are there */
    int64_t end;         /* behind the last that will be wanted */
} armilla_source_reader;

armilla_status armilla_source_reader_open(const armilla_source *source, armilla_source_reader *reader);
void armilla_source_reader_close(armilla_source_reader *reader);
/* Sample j as it is stored. Dense: m values. Sparse: entries, their features rising in rows. *count is how many. */
armilla_status armilla_source_read(armilla_source_reader *reader, int64_t j, int64_t *rows, double *values,
                                   int64_t *count);

/* How far what a step learned from the data is from what the data say: the worst ratio of a difference to what rounding
 * explains (docs/model-file.md); 0 where nothing was learned. */
typedef struct armilla_learned {
    double excess[ARMILLA_STEP_COUNT];
} armilla_learned;

/* What the model says was done to samples before the fit, by the kinds of its steps. */
typedef struct armilla_check_steps {
    double total;              /* what samples add up to, or 0 */
    double (*entry)(double x); /* that entries become, or NULL */
    bool weighs;               /* whether features are multiplied by armilla_check_weight */
    const double *mean;        /* that is subtracted, or NULL */
    bool unit;                 /* whether samples have length 1 */
} armilla_check_steps;

armilla_check_steps armilla_check_steps_of(const armilla_model *model);
/* What the steps before that one multiply feature i by. */
double armilla_check_weight(const armilla_model *model, armilla_step step, int64_t i);

/* The entries of a sample, none negative, become their parts of the total; those of a sample whose sum is 0 stay. */
void armilla_check_total(int64_t count, double total, double *x);

/* m numbers each, one for every feature: 1/2^e, and the mean and the standard deviation in units of 2^e. */
typedef struct armilla_feature_moments {
    const double *unit, *mean, *spread;
} armilla_feature_moments;

/* The ratios of `learned` for the total, and for the features that were chosen because they vary. */
armilla_status armilla_check_sums(const armilla_source *source, const armilla_model *model,
                                  const armilla_feature_moments *of, double *excess);
armilla_status armilla_check_top(const armilla_source *source, const armilla_model *model,
                                 const armilla_feature_moments *of, double *excess);

armilla_status armilla_check_learned(const armilla_source *source, const armilla_model *model,
                                     armilla_learned *learned);
/* What is wrong where the step's ratio is above 1; NULL: nobody has written how to learn that step again. */
const char *armilla_check_learned_wrong(armilla_step step);

/* What one pass over the data as fitted finds. Squares are in units of 2^(2*exponent), so that none overflows. */
typedef struct armilla_findings {
    int exponent;
    double squared_norm, objective;
    double data_rounding; /* how far X as fitted may be from ours, ||.||_F */
    double rounding;      /* and X - UV */
    double magnitude;     /* what ||x||^2 - 2c'v + v'Hv adds up, absolute values */
    double cancelling;    /* the same where less than six digits cancel, as in a residual of sparse data */
    uint64_t fingerprint;
    int64_t zeros_least, zeros_most; /* samples without a direction: certainly, and where rounding decides */
    int64_t bad_sample;              /* the first that is not finite as prepared, or -1 */
} armilla_findings;

armilla_status armilla_check_residual(const armilla_source *source, const armilla_model *model,
                                      armilla_findings *findings);

#endif

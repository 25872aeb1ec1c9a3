/* What the files of the sweep share: its numbers, and where its sums lie.
 *
 * All its sums are one vector, [G | scalars | tally | counters | A]; where A is not wanted the vector ends before it, and
 * where codes are assignments, so that G is diagonal, or no more of it is wanted, it begins with the diagonal. The counters, one for each atom, say which columns of A a slot has, where A is made of changes alone. A form
 * of data may want U and A to lie in another way than m x r (armilla_layout): then there are r sums that are wanted
 * beside A, and A, in a segment of its own. */
#ifndef ARMILLA_SOLVE_SWEEP_SUMS_H
#define ARMILLA_SOLVE_SWEEP_SUMS_H

#include "base/size.h"
#include "data/transposed.h"
#include "solve/sweep.h"

enum { ARMILLA_SWEEP_CROSS, ARMILLA_SWEEP_CHANGE, ARMILLA_SWEEP_SCALARS };

/* One thread's numbers. */
typedef struct armilla_sweep_workspace {
    double *C, *W, *Q;             /* r x ARMILLA_STRIP */
    void *typed;                   /* the panel's W in the working type */
    double *scratch;               /* for the step */
    void *packing;                 /* for the kernels; NULL where the data have a layout and codes are assignments */
    int32_t before[ARMILLA_STRIP]; /* the previous assignments */
    char *part;                    /* the panel's XW', where the data have a layout and it is not written directly */
    double *column;                /* m: a sample that changes its assignment */
} armilla_sweep_workspace;

/* How XW' of tall data is summed by blocks of features (sweep_features.c). */
typedef struct armilla_features armilla_features;

struct armilla_sweep {
    armilla_context *context;
    const armilla_data *X;
    armilla_traversal *traversal;
    armilla_type type;
    int64_t r, tally, runs;
    bool assigning; /* no plan has codes of numbers */
    int64_t partitions;
    bool assigned; /* the last run, or the one in progress, has assignments */
    bool diagonal; /* it has the diagonal of G alone, for this reason or because no more is wanted */
    bool unread;   /* the run in progress does not read X */
    void *packed;  /* the basis as the data's layout has it; NULL where that is m x r */
    double *A;     /* m x r where the data have a layout, else inside sums */
    char *panels;  /* XW' of the panels of each thread, where it is not written directly */
    armilla_sweep_workspace *workspaces;
    double *numbers; /* of all workspaces */
    double *columns; /* the same */
    char *typed;
    char *U;       /* space for the plan's U, packed or tiled on whole cache lines, as products read it fastest */
    bool tiled;    /* which of the two, in the run in progress */
    bool scales;   /* codes are left to the kernels there, as the plan allows */
    char *packing; /* of all workspaces */
    double *sums;
    armilla_transposed *own_copy;         /* by feature; NULL: there is none, or another sweep owns it */
    const armilla_transposed *transposed; /* NULL: XW' is added up in parts */
    armilla_transposed_product product;   /* the transposed data with the codes of the run in progress */
    void *kept;                           /* r x n codes in the working type, for plans that do not keep them */
    bool by_features;                     /* XW' is in no slot's vector, but summed when all codes are there: */
    armilla_features *features;           /* what that needs */
    const armilla_sweep_plan *plan;       /* of the run in progress */
};

/* Whether it pays for such data, which a fit without blocks has at hand. */
bool armilla_features_pay(armilla_context *context, const armilla_data *X, armilla_type work, int64_t r);
armilla_status armilla_features_new(armilla_sweep *sweep, int threads);
void armilla_features_free(armilla_features *features);
/* The panel's codes, in the working type. */
void armilla_features_take_codes(const armilla_sweep *sweep, const armilla_panel *panel, const void *typed);
/* A, when all are there. */
armilla_status armilla_features_sum(armilla_sweep *sweep);

static inline int64_t armilla_sweep_scalar_offset(const armilla_sweep *sweep)
{
    return sweep->diagonal ? sweep->r : sweep->r * sweep->r;
}

static inline int64_t armilla_sweep_tally_offset(const armilla_sweep *sweep)
{
    return armilla_sweep_scalar_offset(sweep) + ARMILLA_SWEEP_SCALARS;
}

static inline int64_t armilla_sweep_counter_offset(const armilla_sweep *sweep)
{
    return armilla_sweep_tally_offset(sweep) + sweep->tally;
}

static inline int64_t armilla_sweep_product_offset(const armilla_sweep *sweep)
{
    return armilla_sweep_counter_offset(sweep) + sweep->r;
}

/* The sums in double that a run has; what a layout's A begins behind is whole cache lines. */
static inline int64_t armilla_sweep_whole_length(const armilla_sweep *sweep)
{
    enum { STEP = ARMILLA_LINE / sizeof(double) };
    const int64_t before = armilla_sweep_product_offset(sweep);
    return sweep->X->ops->layout ? (before + sweep->r + STEP - 1) / STEP * STEP : before + sweep->X->m * sweep->r;
}

/* Numbers of A in the data's layout; 0 where they have none. */
static inline int64_t armilla_sweep_part_numbers(const armilla_sweep *sweep)
{
    const armilla_layout *layout = sweep->X->ops->layout;
    return layout ? layout->numbers(sweep->X, sweep->type, sweep->r) : 0;
}

#endif

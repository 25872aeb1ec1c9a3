/* Whole calls by one process or by ranks that are threads (reference/ranks.h): a problem, what each rank comes to, and
 * whether that is what one process came to. Numbers of samples that belong to other ranks are NaN on each: whoever reads
 * one shows. */
#ifndef ARMILLA_TESTS_RANK_TRIAL_H
#define ARMILLA_TESTS_RANK_TRIAL_H

#include "cluster/cluster.h"
#include "model/model.h"

#include <armilla/armilla.h>

/* A problem. Sparse where density is below 1. */
typedef struct rank_scene {
    const char *what;
    int64_t m, n, r;
    double density;
    armilla_type type;
    const char *basis, *codes, *solver, *start, *precision;
    bool log1p, tfidf, scale, center, normalize;
    int64_t sparsity, restarts, max_iter;
    int64_t batch; /* of solver online, whose models are then continued, too */
    bool mixed;    /* signs */
} rank_scene;

/* The numbers of a rank_scene in its storage. */
typedef struct numbers {
    void *values;
    int32_t *rows, *starts;
} rank_numbers;

rank_numbers rank_numbers_make(const rank_scene *s, uint64_t *random);
void rank_numbers_free(rank_numbers *x);

/* What a process, or a rank, comes to. */
typedef struct rank_outcome {
    armilla_status status;
    char message[ARMILLA_MESSAGE];
    armilla_model *model, *updated;
    void *codes; /* by transform */
    armilla_check check;
    armilla_clustering *of_data, *of_model;
    /* What is left of it when the rank has ended: */
    armilla_samples share;
    armilla_stop stop;
    int64_t iterations;
    double objective;
    const char *differs; /* from one process: what does, or NULL */
} rank_outcome;

typedef struct rank_trial {
    const rank_scene *s;
    const rank_numbers *x;
    int size, threads;
    rank_outcome *outcomes;
    const rank_outcome *one; /* by one process, where it is to be the same */
    bool short_of_calls;     /* only the fit */
    /* What goes wrong, and where. */
    int bad_rank;
    armilla_status (*spoil)(armilla_context *context, rank_numbers *own, armilla_options *options);
} rank_trial;

void rank_outcome_clear(rank_outcome *o);

/* A body for reference_run_ranks: what a rank does, and what is left of it. self: a rank_trial. */
void rank_trial_run(void *self, int rank, armilla_context *context);

enum { RANK_TRIAL_MOST = 320 };

#endif

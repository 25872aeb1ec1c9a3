/* What a program is at, part by part, and how long the rest will take. A part has a phase, and the seconds that it is
 * expected to take on an ordinary machine; what the parts that are done have really taken corrects those that are to
 * come, and how far the part in progress is corrects that one. The clock is the caller's, so that a test can have its own. */
#ifndef ARMILLA_BASE_PLAN_H
#define ARMILLA_BASE_PLAN_H

#include <armilla/base.h>

/* X(name, stage, words for people, whether its length is anybody's guess: iterations end when they have converged). */
#define ARMILLA_PHASE_LIST(X)                                                                                          \
    X(ARMILLA_PHASE_READING, ARMILLA_STAGE_READING, "reading", false)                                                  \
    X(ARMILLA_PHASE_SURVEY, ARMILLA_STAGE_SURVEY, "looking at the data", false)                                        \
    X(ARMILLA_PHASE_START, ARMILLA_STAGE_START, "start", false)                                                        \
    X(ARMILLA_PHASE_ITERATIONS, ARMILLA_STAGE_ITERATIONS, "iterations", true)                                          \
    X(ARMILLA_PHASE_CODES, ARMILLA_STAGE_CODES, "final codes", true)                                                   \
    X(ARMILLA_PHASE_CLUSTERS, ARMILLA_STAGE_CLUSTERS, "clusters", false)                                               \
    X(ARMILLA_PHASE_CHECK, ARMILLA_STAGE_CHECK, "checking", false)                                                     \
    X(ARMILLA_PHASE_WRITING, ARMILLA_STAGE_WRITING, "writing", false)                                                  \
    X(ARMILLA_PHASE_NEIGHBORS, ARMILLA_STAGE_NEIGHBORS, "neighbours", false)                                           \
    X(ARMILLA_PHASE_FITS, ARMILLA_STAGE_ITERATIONS, "fits", true)                                                      \
    X(ARMILLA_PHASE_CELLS, ARMILLA_STAGE_NEIGHBORS, "cells", false)                                                    \
    X(ARMILLA_PHASE_RECALL, ARMILLA_STAGE_NEIGHBORS, "recall", false)                                                  \
    X(ARMILLA_PHASE_WEIGHTS, ARMILLA_STAGE_NEIGHBORS, "weights of the graph", false)                                   \
    X(ARMILLA_PHASE_COMMUNITIES, ARMILLA_STAGE_CLUSTERS, "communities", false)                                         \
    X(ARMILLA_PHASE_NUMBER, ARMILLA_STAGE_CLUSTERS, "number of clusters", false)                                       \
    X(ARMILLA_PHASE_SMOOTHING, ARMILLA_STAGE_CLUSTERS, "smoothing", false)                                             \
    X(ARMILLA_PHASE_TRIES, ARMILLA_STAGE_CLUSTERS, "k-means on a sample", true)                                        \
    X(ARMILLA_PHASE_KMEANS, ARMILLA_STAGE_CLUSTERS, "k-means", true)                                                   \
    X(ARMILLA_PHASE_STRUCTURE, ARMILLA_STAGE_CLUSTERS, "verdict on structure", false)

#define ARMILLA_ENUM_PHASE(name, stage, word, loose) name,
typedef enum armilla_phase { ARMILLA_PHASE_LIST(ARMILLA_ENUM_PHASE) ARMILLA_PHASE_COUNT } armilla_phase;
#undef ARMILLA_ENUM_PHASE

const char *armilla_phase_word(armilla_phase phase);
armilla_stage armilla_phase_stage(armilla_phase phase);
/* The phase that is called as the stage. */
armilla_phase armilla_phase_of(armilla_stage stage);

typedef struct armilla_plan_part {
    armilla_phase phase;
    armilla_work work; /* the kind of call that it belongs to */
    double expected;   /* seconds on an ordinary machine */
    double taken;      /* really */
} armilla_plan_part;

/* Further parts are left out. */
enum { ARMILLA_PLAN_MOST = 64 };

/* Zeros are a plan without parts. */
typedef struct armilla_plan {
    armilla_plan_part parts[ARMILLA_PLAN_MOST];
    int count;              /* of the parts */
    int begun;              /* those that are done or in progress: these come first */
    int place;              /* where the parts of the call in progress go on */
    bool active;            /* the last of those begun is in progress */
    double first;           /* the clock when the first began; */
    double entered;         /* and the one in progress */
    double fraction;        /* of the one in progress, */
    double seen;            /* of the last estimate that saw it moved, */
    double advanced;        /* and its seconds then */
    double soonest, latest; /* of what it is expected to take still, the least and the most that is likely */
    double reached;         /* the most that was reported of the whole */
} armilla_plan;

/* What a plan says of the rest. */
typedef struct armilla_outlook {
    double done;            /* the part of the whole that is done, which never falls */
    double left;            /* seconds that are left, NaN where nothing is known */
    double soonest, latest; /* between which they are likely to be */
} armilla_outlook;

/* Parts of a call of that kind follow: those that were expected of the next one are replaced. */
void armilla_plan_call(armilla_plan *plan, armilla_work work);
/* One of them. Nothing where it would take no time. */
void armilla_plan_expect(armilla_plan *plan, armilla_work work, armilla_phase phase, double seconds);
/* More is known of what the next part with that phase takes, or the one in progress. */
void armilla_plan_revise(armilla_plan *plan, armilla_work work, armilla_phase phase, double seconds);
/* The call is over: what was expected of it and has not begun never will. */
void armilla_plan_leave(armilla_plan *plan, armilla_work work, double clock);

/* The next part with that phase is in progress; parts before it are left out. One that was not expected is added. */
void armilla_plan_begin(armilla_plan *plan, armilla_work work, armilla_phase phase, double clock);
/* How far it is: no less than before, but for iterations, whose end is guessed anew. */
void armilla_plan_reach(armilla_plan *plan, double fraction);
/* What is left of the part in progress is likely between so many times what is expected, until the next begins. */
void armilla_plan_bound(armilla_plan *plan, double soonest, double latest);

/* What the plan says at that clock. deadline: the clock at which iterations end, 0: they need not. */
armilla_outlook armilla_plan_estimate(armilla_plan *plan, double clock, double deadline);

#endif

/* A problem from a seed: storage, model and options. What options refuse by themselves is drawn again. */
#include "odd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const odd_storage storages[] = {
    {"dense f64", ARMILLA_F64, false, ARMILLA_I32},     {"dense f32", ARMILLA_F32, false, ARMILLA_I32},
    {"dense u8", ARMILLA_U8, false, ARMILLA_I32},       {"sparse f64 i32", ARMILLA_F64, true, ARMILLA_I32},
    {"sparse f64 i64", ARMILLA_F64, true, ARMILLA_I64}, {"sparse f32 i32", ARMILLA_F32, true, ARMILLA_I32},
    {"sparse f32 i64", ARMILLA_F32, true, ARMILLA_I64},
};

/* What bytes are held in as well: which, the seed says, so that its other draws stay what they were. */
static const odd_storage halves[] = {{"dense f16", ARMILLA_F16, false, ARMILLA_I32},
                                     {"dense bf16", ARMILLA_BF16, false, ARMILLA_I32}};

/* Exponents of ten; the first ones are more likely. Single precision holds those up to 28. */
static const int exponents[] = {0,  0,   0,   0,    1,   -3,   -6,  -9,  3,    9,    -20, 20,   -24, 28,
                                60, -60, 100, -100, 150, -150, 154, 160, -161, -154, 200, -200, 300, -300};
enum { SINGLE_EXPONENTS = 14 };

#define COUNT(table) ((int64_t)(sizeof(table) / sizeof *(table)))

static bool chance(uint64_t *random, double probability)
{
    return odd_uniform(random) < probability;
}

static const char *table_word(uint64_t *random, armilla_table table)
{
    armilla_table_row row;
    size_t count = 0;
    while (armilla_table_get(table, count, &row)) count++;
    (void)armilla_table_get(table, (size_t)odd_below(random, (int64_t)count), &row);
    return row.name;
}

static const char *const precisions[] = {NULL, "f32", "f64"};

static void draw_preparation(uint64_t *random, armilla_options *o)
{
    o->normalize = chance(random, 0.45) ? "l2" : "none";
    o->center = chance(random, 0.2);
    o->tfidf = chance(random, 0.15);
    o->log1p = chance(random, 0.15);
    o->scale = chance(random, 0.15);
}

/* A pair with solver, start and the rest, whatever the data are. */
static void draw_options(uint64_t *random, armilla_options *o)
{
    armilla_options_default(o);
    o->basis = table_word(random, ARMILLA_TABLE_BASIS);
    o->codes = table_word(random, ARMILLA_TABLE_CODES);
    o->solver = chance(random, 0.7) ? "fast" : table_word(random, ARMILLA_TABLE_SOLVERS);
    o->batch = strcmp(o->solver, "online") == 0 && chance(random, 0.7) ? odd_between(random, 1, 60) : 0;
    o->start = chance(random, 0.5) ? NULL : table_word(random, ARMILLA_TABLE_STARTS);
    o->rank = chance(random, 0.05) ? odd_between(random, 20, 300) : odd_between(random, 1, 40);
    o->sparsity = strstr(o->codes, "sparse") ? odd_between(random, 1, o->rank) : 0;
    o->restarts = chance(random, 0.1) ? odd_between(random, 2, 3) : 1;
    o->seed = odd_below(random, 1000);
    o->max_iter = chance(random, 0.1) ? 0 : odd_between(random, 1, 25);
    o->tol = chance(random, 0.3) ? 0 : 1e-6;
    o->precision = precisions[odd_below(random, COUNT(precisions))];
    o->kernel = chance(random, 0.2) ? "portable" : "auto";
    draw_preparation(random, o);
}

/* How long samples of that scale are, roughly: a given radius is some powers of ten away. */
static void draw_radius(uint64_t *random, int exponent, armilla_options *o)
{
    static const double factors[] = {1, 1e-3, 1e3, 1e6, 1e-8, 1e20};
    const double size = strcmp(o->normalize, "l2") == 0 ? 1 : pow(10, exponent);
    const double factor = factors[odd_below(random, COUNT(factors))];
    if (chance(random, 0.25)) o->radius = size * factor;
}

static void draw_allowed(uint64_t *random, int exponent, armilla_options *o)
{
    armilla_context *context = odd_context();
    do {
        draw_options(random, o);
        draw_radius(random, exponent, o);
    } while (armilla_options_check(context, o) != ARMILLA_OK);
    armilla_context_free(context);
}

/* Another way of holding the same numbers, of the same sort where the data are large. */
static const odd_storage *draw_other(uint64_t *random, const odd_wish *wish, const odd_storage *storage)
{
    for (;;) {
        const odd_storage *s = &storages[odd_below(random, COUNT(storages))];
        const bool holds = (s->type != ARMILLA_U8 || wish->bytes) && (s->type != ARMILLA_F32 || wish->single);
        if (s != storage && holds && (!wish->sparse || s->sparse)) return s;
    }
}

/* Work is bounded: fewer atoms, then fewer iterations. */
static void bound_work(odd_problem *p)
{
    armilla_options *o = &p->options;
    const double cells = p->storage->sparse && p->other->sparse ? (double)p->matrix.entries + (double)p->matrix.m
                                                                : (double)p->matrix.m * (double)p->matrix.n;
    const double codes = (double)p->matrix.n * (double)(o->rank < 64 ? 64 : o->rank * o->rank / 8);
    while (o->rank > 1 && cells * (double)o->rank * 10 > 3e7) o->rank = (o->rank + 1) / 2;
    while (o->max_iter > 3 && (cells * (double)o->rank + codes) * (double)(o->max_iter * o->restarts) > 1e8)
        o->max_iter /= 2;
    if (o->rank > p->matrix.m && odd_below(&(uint64_t){p->seed}, 8)) o->rank = p->matrix.m; /* else mostly refused */
    if (o->sparsity > o->rank) o->sparsity = o->rank;
}

static void describe(odd_problem *p)
{
    const armilla_options *o = &p->options;
    const size_t used = strlen(p->words);
    snprintf(p->words + used, sizeof p->words - used,
             "; %s and %s; %s x %s, rank %lld, sparsity %lld, radius %g, %s, start %s, restarts %lld, seed %lld, "
             "max-iter %lld, tol %g, %s, %s, normalize %s%s%s%s%s",
             p->storage->name, p->other->name, o->basis, o->codes, (long long)o->rank, (long long)o->sparsity,
             o->radius, o->solver, o->start ? o->start : "default", (long long)o->restarts, (long long)o->seed,
             (long long)o->max_iter, o->tol, o->precision ? o->precision : "own precision", o->kernel, o->normalize,
             o->center ? ", center" : "", o->tfidf ? ", tfidf" : "", o->log1p ? ", log1p" : "",
             o->scale ? ", scale" : "");
}

void odd_problem_draw(uint64_t seed, odd_problem *problem)
{
    uint64_t random = seed * 0x2545f4914f6cdd1du + 1;
    odd_wish wish = {.bytes = chance(&random, 0.1)};
    *problem = (odd_problem){.seed = seed};
    wish.single = wish.bytes || chance(&random, 0.4);
    wish.sparse = !wish.bytes && chance(&random, 0.4);
    wish.exponent = wish.bytes ? 0 : exponents[odd_below(&random, wish.single ? SINGLE_EXPONENTS : COUNT(exponents))];
    if (!wish.bytes && chance(&random, 0.15)) wish.spread = wish.single ? 3 : abs(wish.exponent) < 200 ? 120 : 5;
    draw_allowed(&random, wish.exponent, &problem->options);
    wish.positive = strcmp(problem->options.solver, "mu") == 0;
    wish.above_minus_one = problem->options.log1p;
    do problem->storage = draw_other(&random, &wish, NULL);
    while (wish.bytes && problem->storage->type != ARMILLA_U8);
    problem->other = draw_other(&random, &wish, problem->storage);
    if (problem->storage->type == ARMILLA_U8 && seed % 3) problem->storage = &halves[seed % 3 - 1];
    odd_matrix_draw(&random, &wish, &problem->matrix, problem->words, sizeof problem->words);
    bound_work(problem);
    describe(problem);
}

void odd_problem_free(odd_problem *problem)
{
    free(problem->matrix.starts);
    free(problem->matrix.rows);
    free(problem->matrix.values);
    problem->matrix = (odd_matrix){0};
}

/* Samples for the tests of neighbours: of every kind, in every storage. */
#ifndef UNIT_NEIGHBOR_TRIALS_H
#define UNIT_NEIGHBOR_TRIALS_H

#include "reference/reference.h"
#include "unit/fixture.h"

#include "base/context.h"
#include "graph/neighbors.h"
#include "linalg/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How samples are made, and how they are kept. */
typedef enum kind { NORMAL, GROUPED, WHOLE_NUMBERS, TWINS, ZEROS, EQUAL, MIXED_SCALES } kind;
typedef enum form { DENSE, SPARSE, SPARSE_CENTRED, SOURCE, STREAMED } form;

typedef struct scenario {
    kind kind;
    form form;
    armilla_type type;
    int64_t m, n, count;
    double scale;
} scenario;

enum { PATH = 4200 };

typedef struct trial {
    const scenario *of;
    double *X;    /* as they are given */
    double *unit; /* as they are compared */
    double *mean;
    char *typed;
    reference_sparse compressed;
    armilla_data *raw, *view;
} trial;

static void fill(const scenario *s, uint64_t *random, double *X)
{
    double *places = reference_new(7 * s->m);
    reference_fill_normal(random, 7 * s->m, places);
    reference_fill_normal(random, s->m * s->n, X);
    for (int64_t j = 0; j < s->n; j++)
        for (int64_t i = 0; i < s->m; i++) {
            double *x = X + j * s->m + i;
            if (s->kind == GROUPED) *x = places[j % 7 * s->m + i] + 0.2 * *x;
            if (s->kind == TWINS && j % 2) *x = x[-s->m];
            if (s->kind == ZEROS && j % 3 == 0) *x = 0;
            if (s->kind == EQUAL) *x = (double)(i + 1);
            if (s->kind == WHOLE_NUMBERS) *x = (double)reference_below(random, 3);
            if (s->kind == MIXED_SCALES) *x *= pow(10, (double)(j % 301 - 150));
            if (s->form == SPARSE && s->kind != EQUAL && reference_below(random, 4)) *x = 0;
            *x *= s->scale;
        }
    free(places);
}

static armilla_status fill_panel(void *self, int64_t first, int64_t count, void *buffer, int64_t stride, char *message)
{
    const trial *t = self;
    const size_t size = armilla_type_size(t->of->type);
    (void)message;
    for (int64_t j = 0; j < count; j++)
        memcpy((char *)buffer + (size_t)(j * stride) * size, t->typed + (size_t)((first + j) * t->of->m) * size,
               (size_t)t->of->m * size);
    return ARMILLA_OK;
}

static armilla_data *open_source(trial *t)
{
    armilla_data_source source;
    armilla_data *data = NULL;
    armilla_data_source_default(&source);
    source.type = t->of->type;
    source.m = t->of->m;
    source.n = t->of->n;
    source.fill = fill_panel;
    source.self = t;
    support_ok(context, armilla_data_from_source(context, &source, &data));
    return data;
}

static armilla_data *open_streamed(const trial *t)
{
    char path[PATH];
    armilla_data *data = NULL, *stream = NULL;
    armilla_read_options options;
    armilla_write_options over;
    const int64_t bytes = t->of->m * t->of->n * (int64_t)armilla_type_size(t->of->type);
    armilla_write_options_default(&over);
    over.overwrite = true;
    support_path(path, sizeof path, "data.npy");
    support_ok(context, armilla_data_wrap_dense(context, t->of->type, t->typed, t->of->m, t->of->n, t->of->m, &data));
    support_ok(context, armilla_data_write(context, data, path, &over));
    armilla_data_free(data);
    armilla_read_options_default(&options);
    options.memory = armilla_context_memory_live(context) + bytes * 7 / 4;
    support_ok(context, armilla_data_open(context, path, &options, &stream));
    assert_non_null(strstr(armilla_data_storage(stream), "streamed"));
    return stream;
}

static armilla_data *open_raw(trial *t)
{
    const scenario *s = t->of;
    armilla_data *data = NULL;
    if (s->form == SOURCE) return open_source(t);
    if (s->form == STREAMED) return open_streamed(t);
    if (s->form == DENSE) {
        support_ok(context, armilla_data_wrap_dense(context, s->type, t->typed, s->m, s->n, s->m, &data));
        return data;
    }
    reference_sparse_new(&t->compressed, s->type, ARMILLA_I32, false, s->m, s->n, t->X);
    support_ok(context, armilla_data_wrap_sparse(context, s->type, ARMILLA_I32, t->compressed.values,
                                                 t->compressed.features, t->compressed.starts, s->m, s->n, &data));
    return data;
}

static void begin_trial(trial *t, const scenario *s, uint64_t seed)
{
    const int64_t size = s->m * s->n;
    *t = (trial){.of = s, .X = reference_new(size), .unit = reference_new(size), .mean = reference_new(s->m)};
    fill(s, &seed, t->X);
    t->typed = malloc((size_t)size * sizeof(double));
    assert_non_null(t->typed);
    armilla_store(s->type, size, t->X, t->typed);
    armilla_fetch(s->type, size, t->typed, t->X);
    for (int64_t i = 0; i < s->m; i++) t->mean[i] = s->form == SPARSE_CENTRED ? 0.1 * (double)(i % 5) : 0;
    for (int64_t j = 0; j < s->n; j++) {
        double *x = t->unit + j * s->m;
        for (int64_t i = 0; i < s->m; i++) x[i] = t->X[j * s->m + i] - t->mean[i];
        const double largest = reference_largest(s->m, x);
        for (int64_t i = 0; i < s->m && largest > 0; i++) x[i] /= largest;
        const double norm = reference_norm(s->m, x);
        for (int64_t i = 0; i < s->m && norm > 0; i++) x[i] /= norm;
    }
    t->raw = open_raw(t);
    if (s->form == SPARSE_CENTRED)
        support_ok(context,
                   armilla_data_prepare(context, t->raw, &(armilla_column_map){.mean = t->mean, .unit_length = true},
                                        &t->view));
}

static void end_trial(trial *t)
{
    armilla_data_free(t->view);
    armilla_data_free(t->raw);
    if (t->compressed.starts) reference_sparse_free(&t->compressed);
    free(t->typed);
    free(t->mean);
    free(t->unit);
    free(t->X);
}

static void same_graphs(const armilla_graph *a, const armilla_graph *b)
{
    const size_t entries = (size_t)armilla_graph_entries(a);
    assert_int_equal(a->rows, b->rows);
    assert_memory_equal(a->targets, b->targets, entries * sizeof *a->targets);
    assert_memory_equal(a->weights, b->weights, entries * sizeof *a->weights);
}

#endif

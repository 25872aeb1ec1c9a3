/* Odd matrices: shapes, patterns of zeros, values and scales, each a row of a table. */
#include "odd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t odd_bits(uint64_t *random)
{
    uint64_t z = *random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double odd_uniform(uint64_t *random)
{
    return (double)(odd_bits(random) >> 11) * 0x1p-53;
}

double odd_normal(uint64_t *random)
{
    const double length = sqrt(-2 * log(1 - odd_uniform(random)));
    return length * cos(6.283185307179586 * odd_uniform(random));
}

int64_t odd_below(uint64_t *random, int64_t bound)
{
    return (int64_t)(odd_bits(random) % (uint64_t)bound);
}

int64_t odd_between(uint64_t *random, int64_t least, int64_t most)
{
    const double x = (double)least * pow((double)(most + 1) / (double)least, odd_uniform(random));
    return (int64_t)x > most ? most : (int64_t)x;
}

/* Least and most features and samples; only sparse data are as large as the last ones. */
static const struct {
    const char *word;
    int64_t m[2], n[2];
    bool sparse;
} shapes[] = {
    {"small", {1, 8}, {1, 8}, false},
    {"one sample", {1, 200}, {1, 1}, false},
    {"one feature", {1, 1}, {1, 200}, false},
    {"tall", {100, 2000}, {1, 30}, false},
    {"wide", {1, 30}, {100, 4000}, false},
    {"square", {20, 120}, {20, 120}, false},
    {"many panels", {5, 60}, {300, 1500}, false},
    {"large", {1000, 6000}, {100, 1000}, true},
    {"very tall", {5000, 40000}, {1, 60}, true},
    {"very wide", {2, 50}, {3000, 20000}, true},
};

/* Where entries stand: the chance of an entry, given its sample and feature as fractions of their numbers. */
typedef struct zeros {
    const char *word;
    double density; /* of the rest */
    bool heavy_sample, heavy_feature;
    double by_sample, by_feature;         /* exponents of a power law, 0: none */
    double empty_samples, empty_features; /* fractions */
} zeros;

static const zeros patterns[] = {
    {"full", 1, false, false, 0, 0, 0, 0},
    {"half full", 0.5, false, false, 0, 0, 0, 0},
    {"sparse", 0.05, false, false, 0, 0, 0, 0},
    {"thin", 0.002, false, false, 0, 0, 0, 0},
    {"one heavy sample", 0.0005, true, false, 0, 0, 0, 0},
    {"one heavy sample among sparse ones", 0.03, true, false, 0, 0, 0, 0},
    {"one heavy feature", 0.01, false, true, 0, 0, 0, 0},
    {"samples by a power law", 0.5, false, false, 1.5, 0, 0, 0},
    {"features by a power law", 0.5, false, false, 0, 1.5, 0, 0},
    {"both by a power law", 0.9, false, false, 1, 1, 0, 0},
    {"empty samples", 0.4, false, false, 0, 0, 0.4, 0},
    {"empty features", 0.4, false, false, 0, 0, 0, 0.4},
    {"full but empty places", 1, false, false, 0, 0, 0.1, 0.2},
};

static double uniform(uint64_t *random, int64_t i, int64_t j)
{
    (void)i, (void)j;
    return 1 - odd_uniform(random);
}

static double normal(uint64_t *random, int64_t i, int64_t j)
{
    (void)i, (void)j;
    return odd_normal(random);
}

static double whole(uint64_t *random, int64_t i, int64_t j)
{
    (void)i, (void)j;
    return (double)(1 + odd_below(random, 9));
}

static double one(uint64_t *random, int64_t i, int64_t j)
{
    (void)random, (void)i, (void)j;
    return 1;
}

static double planted(uint64_t *random, int64_t i, int64_t j)
{
    (void)random;
    return 1.25 + cos((double)(i % 7)) * sin((double)(j % 5));
}

static double nearly_one(uint64_t *random, int64_t i, int64_t j)
{
    (void)i, (void)j;
    return 1 + 1e-9 * odd_normal(random);
}

static double long_tail(uint64_t *random, int64_t i, int64_t j)
{
    (void)i, (void)j;
    return exp(4 * odd_normal(random));
}

static double mixed_signs(uint64_t *random, int64_t i, int64_t j)
{
    (void)j;
    return i % 2 ? -1 - odd_uniform(random) : 1 + odd_uniform(random);
}

static const struct {
    const char *word;
    double (*draw)(uint64_t *random, int64_t i, int64_t j);
    bool positive, bytes;
} values[] = {
    {"uniform", uniform, true, false},      {"normal", normal, false, false},
    {"whole numbers", whole, true, true},   {"ones", one, true, true},
    {"planted", planted, true, false},      {"nearly one", nearly_one, true, false},
    {"long tails", long_tail, true, false}, {"mixed signs", mixed_signs, false, false},
};

#define COUNT(table) ((int64_t)(sizeof(table) / sizeof *(table)))

static void *take(int64_t count, size_t size)
{
    void *made = calloc((size_t)(count > 0 ? count : 1), size);
    if (!made) abort();
    return made;
}

/* The numbers of samples and of features that a pattern treats in a way of their own. */
typedef struct places {
    const zeros *pattern;
    int64_t m, n, sample, feature;
} places;

static double chance(const places *p, int64_t i, int64_t j)
{
    const zeros *z = p->pattern;
    const double sample = ((double)j + 1) / (double)p->n, feature = ((double)i + 1) / (double)p->m;
    if ((z->heavy_sample && j == p->sample) || (z->heavy_feature && i == p->feature)) return 1;
    if (sample <= z->empty_samples || feature <= z->empty_features) return 0;
    double density = z->density;
    if (z->by_sample > 0) density *= pow(sample * (double)p->n, -z->by_sample);
    if (z->by_feature > 0) density *= pow(feature * (double)p->m, -z->by_feature);
    return density;
}

/* A double that wants fit: f32 where it has to be one, a byte where that. */
static double fit_value(const odd_wish *wish, double x)
{
    if (wish->bytes) return x;
    if (wish->above_minus_one && x <= -1) x = -0.9;
    if (wish->positive) x = fabs(x);
    return wish->single ? (double)(float)x : x;
}

static void fill(uint64_t *random, const odd_wish *wish, const places *p, int64_t kind, odd_matrix *X)
{
    const bool by_feature = odd_below(random, 3) == 0;
    const uint64_t scales = odd_bits(random);
    int64_t capacity = 1024;
    X->rows = take(capacity, sizeof *X->rows);
    X->values = take(capacity, sizeof *X->values);
    for (int64_t j = 0; j < X->n; j++) {
        for (int64_t i = 0; i < X->m; i++) {
            const double p_entry = chance(p, i, j);
            if (p_entry <= 0 || (p_entry < 1 && odd_uniform(random) >= p_entry)) continue;
            uint64_t place = scales + (uint64_t)(by_feature ? i : j);
            const double spread = wish->spread ? (2 * odd_uniform(&place) - 1) * wish->spread : 0;
            if (X->entries == capacity) {
                capacity *= 2;
                X->rows = realloc(X->rows, (size_t)capacity * sizeof *X->rows);
                X->values = realloc(X->values, (size_t)capacity * sizeof *X->values);
                if (!X->rows || !X->values) abort();
            }
            X->rows[X->entries] = i;
            X->values[X->entries++] =
                fit_value(wish, values[kind].draw(random, i, j) * pow(10, wish->exponent + spread));
        }
        X->starts[j + 1] = X->entries;
    }
}

void odd_matrix_draw(uint64_t *random, const odd_wish *wish, odd_matrix *matrix, char *words, size_t size)
{
    int64_t shape = 0, kind = 0;
    do shape = odd_below(random, COUNT(shapes));
    while (shapes[shape].sparse && !wish->sparse);
    do kind = odd_below(random, COUNT(values));
    while ((wish->bytes && !values[kind].bytes) ||
           ((wish->positive || wish->above_minus_one) && !values[kind].positive));
    const zeros *pattern = &patterns[odd_below(random, COUNT(patterns))];
    while (shapes[shape].sparse && pattern->density > 0.1 && pattern->by_sample + pattern->by_feature <= 0)
        pattern = &patterns[odd_below(random, COUNT(patterns))];
    *matrix = (odd_matrix){.m = odd_between(random, shapes[shape].m[0], shapes[shape].m[1]),
                           .n = odd_between(random, shapes[shape].n[0], shapes[shape].n[1])};
    matrix->starts = take(matrix->n + 1, sizeof *matrix->starts);
    const places p = {pattern, matrix->m, matrix->n, odd_below(random, matrix->n), odd_below(random, matrix->m)};
    fill(random, wish, &p, kind, matrix);
    snprintf(words, size, "%s %lld x %lld, %s, %s, scale 1e%d", shapes[shape].word, (long long)matrix->m,
             (long long)matrix->n, pattern->word, values[kind].word, wish->exponent);
    if (wish->spread) snprintf(words + strlen(words), size - strlen(words), " +- 1e%d", wish->spread);
}

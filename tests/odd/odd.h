/* Odd problems: each a function of its seed, drawn from tables of shapes, patterns of zeros, values, scales, storage,
 * models and options, and examined for what must hold of any fit. Only the public API is used. */
#ifndef ARMILLA_TESTS_ODD_H
#define ARMILLA_TESTS_ODD_H

#include <armilla/armilla.h>

#include <stdbool.h>
#include <stdint.h>

/* Random numbers by splitmix64, from a state. */
uint64_t odd_bits(uint64_t *random);
double odd_uniform(uint64_t *random); /* [0, 1) */
double odd_normal(uint64_t *random);
int64_t odd_below(uint64_t *random, int64_t bound);
int64_t odd_between(uint64_t *random, int64_t least, int64_t most); /* evenly in the logarithm */

/* How numbers are held; the rows of a table. */
typedef struct odd_storage {
    const char *name;
    armilla_type type;
    bool sparse;
    armilla_index index;
} odd_storage;

/* A matrix in compressed columns, features rising. */
typedef struct odd_matrix {
    int64_t m, n, entries;
    int64_t *starts, *rows;
    double *values;
} odd_matrix;

typedef struct odd_problem {
    uint64_t seed;
    odd_matrix matrix;
    const odd_storage *storage, *other; /* the same numbers held in two ways */
    armilla_options options;            /* threads: 0 */
    char words[512];                    /* all of it, for people */
} odd_problem;

/* The problem of that seed; the matrix is released by odd_problem_free. Aborts where memory is short. */
void odd_problem_draw(uint64_t seed, odd_problem *problem);
void odd_problem_free(odd_problem *problem);

/* X, with zero or more entries; draws from the state. Words about it are added to the text. */
typedef struct odd_wish {
    bool single, bytes, positive, above_minus_one; /* the numbers have to be f32, bytes, >= 0, > -1 */
    bool sparse;                                   /* and no dense form is wanted: may be large */
    int exponent;                                  /* of ten: the scale */
    int spread;                                    /* of ten: samples or features differ by up to that much */
} odd_wish;
void odd_matrix_draw(uint64_t *random, const odd_wish *wish, odd_matrix *matrix, char *words, size_t size);

/* A context whose fresh memory is full of NaN. */
armilla_context *odd_context(void);

/* The matrix as the library holds it, with the memory that it borrows. */
typedef struct odd_data {
    void *values, *features, *starts;
    armilla_data *data;
} odd_data;
void odd_data_make(armilla_context *context, const odd_matrix *matrix, const odd_storage *storage, odd_data *made);
void odd_data_free(odd_data *data);

/* Examines the problem; false, with a message, where something does not hold. *fitted: whether there was a model. */
bool odd_examine(const odd_problem *problem, bool *fitted, char *finding, size_t size);

#endif

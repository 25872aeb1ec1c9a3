/* Data in a file that does not fit into memory: panels are read from it as they are wanted, through blocks that are read
 * ahead (base/blocks.h). Same panels, same slots, same bits as of the same numbers in memory. */
#ifndef ARMILLA_DATA_STREAM_H
#define ARMILLA_DATA_STREAM_H

#include "base/blocks.h"
#include "data/data.h"

enum { ARMILLA_LEAD = 4 };

/* Numbers as they lie in a file, one after the other. */
typedef struct armilla_stored {
    int64_t at;        /* the first one's place in the file */
    int width;         /* bytes of a number */
    armilla_type type; /* that data of them are held in */
    bool swapped;      /* their bytes are not in this machine's order */
    int lead;          /* bytes before the numbers of each sample, which say how many they are: 0, none, or
                        * ARMILLA_LEAD, a multiple of the width */
    /* to = count numbers as doubles; NULL: they are numbers of the type already. */
    void (*fetch)(const unsigned char *from, bool swapped, int64_t count, double *to);
} armilla_stored;

/* Indices as they lie in a file. */
typedef struct armilla_stored_indices {
    int64_t at;
    int width; /* 4 or 8 */
    bool swapped;
} armilla_stored_indices;

/* Dense data: m numbers of a sample after those of the one before. On success, and only then, the data object owns the
 * blocks. */
armilla_status armilla_data_stream_dense(armilla_context *context, armilla_blocks *blocks,
                                         const armilla_stored *numbers, int64_t m, int64_t n, armilla_data **data);

/* Sparse data: the values and the features of sample j are those from starts[j] to starts[j+1]-1; starts, which rise
 * from 0, are in memory. Features of a sample may be in any order, each once. On success, and only then, the data object
 * owns the blocks and the starts. */
typedef struct armilla_stream_sparse {
    armilla_stored values;
    armilla_stored_indices features;
    int64_t m, n;
    int64_t *starts; /* n + 1 */
} armilla_stream_sparse;

armilla_status armilla_data_stream_sparse(armilla_context *context, armilla_blocks *blocks,
                                          const armilla_stream_sparse *matrix, armilla_data **data);

/* Samples that each begin with how many numbers they have, in ARMILLA_LEAD bytes, the lowest first; `step` bytes from
 * one to the next. */
typedef struct armilla_counted {
    const char *path;
    const unsigned char *start;
    int64_t step, m;
} armilla_counted;

int64_t armilla_lead_at(const unsigned char *at);
/* The first of samples 0 ... n-1 that has another number of them than m; n: none. */
int64_t armilla_counted_odd(const armilla_counted *samples, int64_t n);
/* ARMILLA_BAD_DATA of that one, which is sample `number` of the file, counted from 0. */
armilla_status armilla_counted_refuse(armilla_context *context, const armilla_counted *samples, int64_t odd,
                                      int64_t number);

/* from, as stored, to numbers of their type. */
void armilla_stored_decode(const armilla_stored *numbers, const unsigned char *from, int64_t count, void *to);

#endif

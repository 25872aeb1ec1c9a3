/* Entries that do not fit in memory, to compressed columns. They are counted by sample, which cuts the samples into runs
 * whose entries do fit; distributed over the runs, in the order in which they come; and each run is compressed by itself
 * (data/triplets.c), so that what belongs to one place is added up in the same order as in memory. Entries that already
 * lie as the matrix wants them stay where they are. */
#include "data/triplets.h"

#include "base/size.h"
#include "linalg/sparse_kernels.h"

#include <string.h>

enum {
    WINDOW = 1 << 18,  /* entries that are looked at before they may leave memory */
    ENTRY_BYTES = 64,  /* that compressing takes at most for each entry of a run, its copy included */
    PART = 4,          /* of the memory left: for that */
    LEAST_RUN = 1 << 8 /* entries and samples */
};

typedef struct spilling {
    armilla_context *context;
    const armilla_team *team;
    const armilla_triplets *from;
    int64_t *counts; /* of each sample, then the run that it is in */
    int64_t total;   /* entries, mirrored ones included */
    int64_t runs;
    int64_t *samples; /* runs + 1: the first sample of each */
    int64_t *places;  /* runs + 1: where its entries start; while they are distributed, where the next goes */
    int32_t *features, *members;
    double *values; /* by run */
    armilla_sparse_matrix matrix;
    int64_t used; /* entries of the matrix so far */
} spilling;

static armilla_status go_on(const spilling *s, int64_t first)
{
    const armilla_triplets *from = s->from;
    const int64_t last = armilla_min64(first + WINDOW, from->count), narrow = (last - first) * 4;
    armilla_spill_drop(s->context, *from->features + first, narrow);
    armilla_spill_drop(s->context, from->samples + first, narrow);
    armilla_spill_drop(s->context, *from->values + first, 2 * narrow);
    return armilla_call_over(s->context) ? armilla_call_explain(s->context) : ARMILLA_OK;
}

/* Counts the entries of each sample; *rising: whether they come by sample and feature, each place once. */
static armilla_status count_entries(spilling *s, bool *rising)
{
    const armilla_triplets *from = s->from;
    const int32_t *features = *from->features, *samples = from->samples;
    armilla_status status = ARMILLA_OK;
    *rising = from->mirror == 0;
    s->total = from->count;
    for (int64_t first = 0; first < from->count && status == ARMILLA_OK; first += WINDOW) {
        const int64_t last = armilla_min64(first + WINDOW, from->count);
        for (int64_t k = first; k < last; k++) {
            s->counts[samples[k]]++;
            if (k > 0 &&
                (samples[k] < samples[k - 1] || (samples[k] == samples[k - 1] && features[k] <= features[k - 1])))
                *rising = false;
            if (from->mirror == 0 || samples[k] == features[k]) continue;
            s->counts[features[k]]++;
            s->total++;
        }
        status = go_on(s, first);
    }
    return status;
}

static armilla_status keep_order(spilling *s)
{
    const armilla_triplets *from = s->from;
    int64_t before = 0;
    armilla_sparse_matrix *to = &s->matrix;
    const armilla_status status = armilla_grow_large(s->context, from->n + 1, sizeof(int32_t), &to->starts);
    if (status != ARMILLA_OK) return status;
    for (int64_t j = 0; j <= from->n; j++) {
        armilla_index_put(false, to->starts, j, before);
        before += j < from->n ? s->counts[j] : 0;
    }
    armilla_triplets_hand_over(from, to);
    return ARMILLA_OK;
}

/* Whether sample j begins another run, which then has none so far. */
static bool begins_run(const spilling *s, int64_t j, int64_t most, int64_t samples, int64_t entries)
{
    return j == 0 || samples >= most || entries + s->counts[j] > most;
}

/* Cuts the samples into runs: counts them, and where there is space says where they are, and what run a sample is in. */
static int64_t cut_runs(spilling *s, int64_t most)
{
    int64_t runs = 0, samples = 0, entries = 0, place = 0;
    for (int64_t j = 0; j < s->from->n; j++) {
        const int64_t count = s->counts[j];
        if (begins_run(s, j, most, samples, entries)) {
            samples = entries = 0;
            if (s->samples) s->samples[runs] = j;
            if (s->places) s->places[runs] = place;
            runs++;
        }
        samples++;
        entries += count;
        place += count;
        if (s->samples) s->counts[j] = runs - 1;
    }
    if (s->samples) s->samples[runs] = s->from->n;
    if (s->places) s->places[runs] = place;
    return runs;
}

static armilla_status take_runs(spilling *s)
{
    const int64_t most = armilla_max64(armilla_memory_left(s->context) / PART / ENTRY_BYTES, LEAST_RUN);
    int64_t *samples = NULL;
    s->runs = cut_runs(s, most);
    armilla_status status = armilla_take(s->context, s->runs + 1, sizeof *samples, &samples);
    if (status == ARMILLA_OK) status = armilla_take(s->context, s->runs + 1, sizeof *s->places, &s->places);
    s->samples = samples;
    if (status == ARMILLA_OK) (void)cut_runs(s, most);
    if (status == ARMILLA_OK) status = armilla_grow_large(s->context, s->total, sizeof *s->features, &s->features);
    if (status == ARMILLA_OK) status = armilla_grow_large(s->context, s->total, sizeof *s->members, &s->members);
    if (status == ARMILLA_OK) status = armilla_grow_large(s->context, s->total, sizeof *s->values, &s->values);
    return status;
}

static void put_entry(const spilling *s, int64_t feature, int64_t sample, double value)
{
    const int64_t place = s->places[s->counts[sample]]++;
    s->features[place] = (int32_t)feature;
    s->members[place] = (int32_t)sample;
    s->values[place] = value;
}

static armilla_status distribute(spilling *s)
{
    const armilla_triplets *from = s->from;
    armilla_status status = ARMILLA_OK;
    for (int64_t first = 0; first < from->count && status == ARMILLA_OK; first += WINDOW) {
        for (int64_t k = first; k < armilla_min64(first + WINDOW, from->count); k++) {
            const int64_t feature = (*from->features)[k], sample = from->samples[k];
            const double value = (*from->values)[k];
            put_entry(s, feature, sample, value);
            if (from->mirror != 0 && feature != sample) put_entry(s, sample, feature, from->mirror * value);
        }
        armilla_spill_drop(s->context, s->features, s->total * 4);
        armilla_spill_drop(s->context, s->members, s->total * 4);
        armilla_spill_drop(s->context, s->values, s->total * 8);
        status = go_on(s, first);
    }
    for (int64_t run = s->runs; run > 0; run--) s->places[run] = s->places[run - 1]; /* ends have become starts */
    s->places[0] = 0;
    return status;
}

/* The compressed run, whose first sample is `sample`, becomes the next columns of the matrix. */
static void append_run(spilling *s, const armilla_sparse_matrix *run, int64_t sample)
{
    armilla_sparse_matrix *to = &s->matrix;
    const int64_t entries = armilla_sparse_entries(run), start = s->used;
    const int64_t width = to->index64 ? sizeof(int64_t) : sizeof(int32_t);
    for (int64_t k = 0; k < entries; k++)
        armilla_index_put(to->index64, to->rows, start + k, armilla_index_at(run->index64, run->rows, k));
    if (entries > 0) memcpy((double *)to->values + start, run->values, (size_t)entries * sizeof(double));
    for (int64_t j = 0; j < run->n; j++)
        armilla_index_put(to->index64, to->starts, sample + j + 1,
                          start + armilla_index_at(run->index64, run->starts, j + 1));
    armilla_spill_drop(s->context, (char *)to->rows + start * width, entries * width);
    armilla_spill_drop(s->context, (double *)to->values + start, entries * (int64_t)sizeof(double));
    s->used += entries;
}

static armilla_status compress_run(spilling *s, int64_t run)
{
    const int64_t first = s->places[run], count = s->places[run + 1] - first, sample = s->samples[run];
    int32_t *features = NULL, *samples = NULL;
    double *values = NULL;
    armilla_sparse_matrix made = {.m = 0};
    armilla_status status = armilla_grow(s->context, count, sizeof *features, &features);
    if (status == ARMILLA_OK) status = armilla_grow(s->context, count, sizeof *samples, &samples);
    if (status == ARMILLA_OK) status = armilla_grow(s->context, count, sizeof *values, &values);
    if (status == ARMILLA_OK) {
        memcpy(features, s->features + first, (size_t)count * sizeof *features);
        memcpy(values, s->values + first, (size_t)count * sizeof *values);
        for (int64_t k = 0; k < count; k++) samples[k] = (int32_t)(s->members[first + k] - sample);
        armilla_spill_drop(s->context, s->features + first, count * 4);
        armilla_spill_drop(s->context, s->members + first, count * 4);
        const armilla_triplets part = {.m = s->from->m,
                                       .n = s->samples[run + 1] - sample,
                                       .count = count,
                                       .features = &features,
                                       .values = &values,
                                       .samples = samples};
        status = armilla_triplets_compress(s->context, s->team, &part, &made);
    }
    if (status == ARMILLA_OK) append_run(s, &made, sample);
    armilla_sparse_release(s->context, &made);
    armilla_release(s->context, features);
    armilla_release(s->context, samples);
    armilla_release(s->context, values);
    return status;
}

/* The matrix takes the place of what was distributed: no run is longer compressed than before. */
static armilla_status compress_runs(spilling *s)
{
    armilla_sparse_matrix *to = &s->matrix;
    const size_t width = to->index64 ? sizeof(int64_t) : sizeof(int32_t);
    armilla_status status = armilla_grow_large(s->context, s->from->n + 1, width, &to->starts);
    if (status == ARMILLA_OK && to->index64) status = armilla_grow_large(s->context, s->total, width, &to->rows);
    if (status != ARMILLA_OK) return status;
    armilla_index_put(to->index64, to->starts, 0, 0);
    to->values = s->values;
    if (!to->index64) to->rows = s->features;
    for (int64_t run = 0; run < s->runs && status == ARMILLA_OK; run++) {
        status = armilla_call_over(s->context) ? armilla_call_explain(s->context) : ARMILLA_OK;
        if (status == ARMILLA_OK) status = compress_run(s, run);
    }
    s->values = NULL; /* the matrix's, which is released where it is not made */
    if (!to->index64) s->features = NULL;
    return status;
}

armilla_status armilla_triplets_spill(armilla_context *context, const armilla_team *team, const armilla_triplets *from,
                                      armilla_sparse_matrix *made)
{
    spilling s = {.context = context, .team = team, .from = from};
    bool rising = false;
    armilla_status status = armilla_take(context, from->n, sizeof *s.counts, &s.counts);
    if (status == ARMILLA_OK) status = count_entries(&s, &rising);
    s.matrix = (armilla_sparse_matrix){.type = ARMILLA_F64, .m = from->m, .n = from->n};
    s.matrix.index64 = armilla_sparse_needs_index64(context, from->m, from->n, s.total);
    if (status == ARMILLA_OK && rising && !s.matrix.index64) {
        status = keep_order(&s);
    } else if (status == ARMILLA_OK) {
        status = take_runs(&s);
        if (status == ARMILLA_OK) status = distribute(&s);
        if (status == ARMILLA_OK) status = compress_runs(&s);
    }
    void *const taken[] = {s.counts, s.samples, s.places, s.features, s.members, s.values};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) armilla_release(context, taken[i]);
    if (status == ARMILLA_OK)
        *made = s.matrix;
    else
        armilla_sparse_release(context, &s.matrix);
    return status;
}

/* Entries in any order to compressed columns, by blocks of samples. Entries are distributed over up to 256 blocks of
 * neighbouring samples, keeping their order; then each block, which the cache holds, is sorted by feature, digit by
 * digit, and by sample. Every step keeps the order of equals, so that the result is that of data/triplets.c. The
 * matrix takes the place of the entries, which are in the blocks meanwhile. */
#include "data/triplets.h"

#include "base/size.h"

enum {
    DIGIT = 8,
    BUCKETS = 1 << DIGIT,
    MOST_BLOCKS = 256, /* streams that are written at once */
    BLOCK = 1 << 13,   /* entries of a block at least, where there are several */
    CACHED = 1 << 16,  /* entries that the cache holds well enough */
    LARGEST_PART = 8,  /* of all entries: that a block beyond this may have */
    MEMORY_PART = 2    /* of the memory left */
};

typedef struct record {
    int32_t feature, sample;
    double value;
} record;

typedef struct blocking {
    const armilla_triplets *from;
    const int32_t *features;
    const double *values;
    armilla_sparse_matrix *to;
    int ranges, shift; /* block: sample >> shift */
    int64_t blocks;
    int64_t *places; /* ranges x blocks: counts, then where the next entry goes, then where the block's part ends */
    int64_t *begins; /* blocks + 1 */
    record *records, *scratch;
    int64_t capacity;      /* of each thread's scratch */
    int64_t next, repeats; /* the block to be taken next, entries of one place; atomic */
} blocking;

static void count_ranges(void *self, int64_t first, int64_t last)
{
    const blocking *b = self;
    for (int64_t range = first; range < last; range++) {
        int64_t *counts = b->places + range * b->blocks;
        const int64_t end = armilla_part_start(b->from->count, b->ranges, range + 1);
        for (int64_t k = armilla_part_start(b->from->count, b->ranges, range); k < end; k++)
            counts[b->from->samples[k] >> b->shift]++;
    }
}

/* Counts become places; the entries of the largest block. */
static int64_t place_blocks(const blocking *b)
{
    int64_t place = 0, largest = 0;
    for (int64_t block = 0; block < b->blocks; block++) {
        b->begins[block] = place;
        for (int range = 0; range < b->ranges; range++) {
            int64_t *at = &b->places[range * b->blocks + block];
            const int64_t count = *at;
            *at = place;
            place += count;
        }
        largest = armilla_max64(largest, place - b->begins[block]);
    }
    b->begins[b->blocks] = place;
    return largest;
}

static void fill_ranges(void *self, int64_t first, int64_t last)
{
    const blocking *b = self;
    for (int64_t range = first; range < last; range++) {
        int64_t *places = b->places + range * b->blocks;
        const int64_t end = armilla_part_start(b->from->count, b->ranges, range + 1);
        for (int64_t k = armilla_part_start(b->from->count, b->ranges, range); k < end; k++) {
            const int32_t sample = b->from->samples[k];
            b->records[places[sample >> b->shift]++] = (record){b->features[k], sample, b->values[k]};
        }
    }
}

static bool falls(const record *records, int64_t count)
{
    for (int64_t k = 1; k < count; k++)
        if (records[k].feature < records[k - 1].feature) return true;
    return false;
}

static void sort_digit(int64_t count, int shift, const record *from, record *to)
{
    int64_t places[BUCKETS + 1] = {0};
    for (int64_t k = 0; k < count; k++) places[(from[k].feature >> shift & (BUCKETS - 1)) + 1]++;
    for (int bucket = 0; bucket < BUCKETS; bucket++) places[bucket + 1] += places[bucket];
    for (int64_t k = 0; k < count; k++) to[places[from[k].feature >> shift & (BUCKETS - 1)]++] = from[k];
}

/* The records in the order of their features: they themselves, or in the scratch. */
static const record *sort_features(const blocking *b, int64_t count, record *records, record *scratch)
{
    if (!falls(records, count)) return records;
    for (int shift = 0; shift < 32 && (b->from->m - 1) >> shift > 0; shift += DIGIT) {
        record *other = scratch;
        sort_digit(count, shift, records, other);
        scratch = records;
        records = other;
    }
    return records;
}

/* Puts sorted records where their samples are; starts[j + 1] is where the next entry of sample j goes, and in the end
 * where the one after it begins. */
static void put_samples(const blocking *b, int64_t block, const record *sorted)
{
    int32_t *starts = b->to->starts, *rows = b->to->rows;
    double *values = b->to->values;
    const int64_t first = block << b->shift, last = armilla_min64((block + 1) << b->shift, b->from->n);
    const int64_t begin = b->begins[block], count = b->begins[block + 1] - begin;
    int32_t place = (int32_t)begin;
    for (int64_t j = first; j < last; j++) starts[j + 1] = 0;
    for (int64_t k = 0; k < count; k++) starts[sorted[k].sample + 1]++;
    for (int64_t j = first; j < last; j++) {
        const int32_t entries = starts[j + 1];
        starts[j + 1] = place;
        place += entries;
    }
    for (int64_t k = 0; k < count; k++) {
        const int32_t to = starts[sorted[k].sample + 1]++;
        rows[to] = sorted[k].feature;
        values[to] = sorted[k].value;
    }
}

/* Entries of one place in the block. */
static int64_t count_repeats(const blocking *b, int64_t block)
{
    const int32_t *starts = b->to->starts, *rows = b->to->rows;
    const int64_t last = armilla_min64((block + 1) << b->shift, b->from->n);
    int64_t repeats = 0, begin = b->begins[block];
    for (int64_t j = block << b->shift; j < last; begin = starts[++j])
        for (int64_t k = begin + 1; k < starts[j + 1]; k++) repeats += rows[k] == rows[k - 1];
    return repeats;
}

static void sort_blocks(void *self, int thread)
{
    blocking *b = self;
    record *scratch = b->scratch + thread * b->capacity;
    int64_t repeats = 0;
    for (;;) {
        const int64_t block = __atomic_fetch_add(&b->next, 1, __ATOMIC_RELAXED);
        if (block >= b->blocks) break;
        const int64_t begin = b->begins[block];
        put_samples(b, block, sort_features(b, b->begins[block + 1] - begin, b->records + begin, scratch));
        repeats += count_repeats(b, block);
    }
    __atomic_add_fetch(&b->repeats, repeats, __ATOMIC_RELAXED);
}

/* Blocks of equally many samples, a power of two. */
static void cut_blocks(blocking *b)
{
    const int64_t most = armilla_min64(armilla_max64(b->from->count / BLOCK, 1), MOST_BLOCKS);
    while ((b->from->n - 1) >> b->shift >= most) b->shift++;
    b->blocks = ((b->from->n - 1) >> b->shift) + 1;
}

static armilla_status sort_all(armilla_context *context, const armilla_team *team, blocking *b)
{
    armilla_status status = armilla_grow(context, b->from->count, sizeof *b->records, &b->records);
    if (status == ARMILLA_OK)
        status = armilla_grow(context, b->capacity * team->threads, sizeof *b->scratch, &b->scratch);
    if (status == ARMILLA_OK) status = armilla_grow(context, b->from->n + 1, sizeof(int32_t), &b->to->starts);
    if (status != ARMILLA_OK) return status;
    armilla_team_share(team, b->ranges, fill_ranges, b);
    armilla_triplets_hand_over(b->from, b->to);
    ((int32_t *)b->to->starts)[0] = 0;
    armilla_team_run(team, sort_blocks, b);
    if (b->repeats > 0) armilla_sparse_add_up(b->to);
    return ARMILLA_OK;
}

/* Whether a block's records and scratch are small enough. */
static bool suits(armilla_context *context, const armilla_team *team, const blocking *b)
{
    const double bytes = ((double)b->from->count + (double)b->capacity * team->threads) * sizeof(record);
    if (b->blocks > 1 && b->capacity > CACHED && b->capacity > b->from->count / LARGEST_PART) return false;
    const int64_t most = armilla_memory_left(context) / MEMORY_PART;
    return bytes <= (double)most;
}

armilla_status armilla_triplets_block(armilla_context *context, const armilla_team *team, const armilla_triplets *from,
                                      armilla_sparse_matrix *made, bool *done)
{
    armilla_sparse_matrix matrix = {.type = ARMILLA_F64, .m = from->m, .n = from->n};
    blocking b = {.from = from, .features = *from->features, .values = *from->values, .to = &matrix};
    cut_blocks(&b);
    b.ranges = (int)armilla_max64(1, armilla_min64(team->threads, from->count / BLOCK));
    armilla_status status = armilla_take(context, b.ranges * b.blocks, sizeof *b.places, &b.places);
    if (status == ARMILLA_OK) status = armilla_take(context, b.blocks + 1, sizeof *b.begins, &b.begins);
    if (status == ARMILLA_OK) {
        armilla_team_share(team, b.ranges, count_ranges, &b);
        b.capacity = place_blocks(&b);
        *done = suits(context, team, &b);
    }
    if (status == ARMILLA_OK && *done) status = sort_all(context, team, &b);
    void *const taken[] = {b.places, b.begins, b.records, b.scratch};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) armilla_release(context, taken[i]);
    if (status == ARMILLA_OK && *done)
        *made = matrix;
    else
        armilla_sparse_release(context, &matrix);
    return status;
}

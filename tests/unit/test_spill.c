/* Arrays that do not fit in memory: blocks that become files and stay what they are; every reader of text under a limit
 * that its numbers are far beyond, with the bits that it has without one; every allocation and system call that fails. */
#include "fixture.h"

#include "base/number.h"
#include "data/sparse.h"
#include "faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 48 << 10, SAMPLES = 300, FEATURES = 70, ENTRIES = 9000, CELLS = 30 };

static char beside[256], input[256];

static void begin_limit(int64_t limit)
{
    armilla_context_set_memory(context, limit);
    (void)armilla_spill_enter(context, support_path(beside, sizeof beside, "out"));
}

static void blocks_become_files(void **state)
{
    const int64_t before = armilla_context_memory_live(context);
    int64_t *block = NULL, *small = NULL;
    (void)state;
    begin_limit(LIMIT);
    support_ok(context, armilla_grow_large(context, 100, sizeof *small, &small));
    assert_false(armilla_spill_owns(context, small));
    support_ok(context, armilla_grow_large(context, 1000, sizeof *block, &block));
    assert_false(armilla_spill_owns(context, block));
    for (int64_t i = 0; i < 1000; i++) block[i] = i;
    for (int64_t count = 8000; count <= 128000; count *= 4) { /* far beyond the limit */
        support_ok(context, armilla_grow_large(context, count, sizeof *block, &block));
        assert_true(armilla_spill_owns(context, block));
        for (int64_t i = 1000; i < count; i++) block[i] = i;
        armilla_spill_drop(context, block + 3, (count - 3) * 8);
        for (int64_t i = 0; i < count; i++) assert_int_equal(block[i], i);
    }
    support_ok(context, armilla_grow(context, 10, sizeof *block, &block)); /* stays as it is */
    assert_int_equal(block[127999], 127999);
    armilla_spill_drop(context, small, 800); /* is memory, and nothing happens to it */
    assert_true(armilla_context_memory_peak(context) <= LIMIT);
    assert_int_equal(support_entries(), 0);
    armilla_release(context, block);
    armilla_release(context, small);
    assert_int_equal(armilla_context_memory_live(context), before);
    armilla_spill_leave(context, NULL);
    block = NULL;
    assert_int_equal(armilla_grow_large(context, 128000, sizeof *block, &block), ARMILLA_NO_MEMORY);
}

/* Entries in no order, many of them at places that occur before. */
static void write_entries(FILE *file, const char *kind, int64_t rows, int64_t columns)
{
    const bool lower = strncmp(kind, "real s", 6) == 0, skew = strstr(kind, "skew");
    uint64_t next = 1;
    fprintf(file, "%%%%MatrixMarket matrix coordinate %s\n%d %d %d\n", kind, (int)rows, (int)columns, ENTRIES);
    for (int k = 0; k < ENTRIES; k++) {
        next = next * 6364136223846793005u + 1442695040888963407u;
        int64_t i = (int64_t)(next >> 33) % rows, j = (int64_t)(next >> 40) % columns;
        if (lower && i < j) i = i ^ j, j = i ^ j, i = i ^ j;
        if (skew && i == j) i = i + 1 < rows ? i + 1 : i, j = i - 1;
        fprintf(file, "%d %d", (int)i + 1, (int)j + 1);
        char number[32];
        (void)armilla_plain_print(number, sizeof number, " %.17g", (double)(next >> 20) * 1e-9);
        if (!strstr(kind, "pattern")) fputs(number, file);
        fputc('\n', file);
    }
}

static void write_general(FILE *file)
{
    write_entries(file, "real general", SAMPLES, FEATURES);
}

static void write_symmetric(FILE *file)
{
    write_entries(file, "real symmetric", SAMPLES, SAMPLES);
}

static void write_skew(FILE *file)
{
    write_entries(file, "real skew-symmetric", SAMPLES, SAMPLES);
}

static void write_pattern(FILE *file)
{
    write_entries(file, "pattern general", SAMPLES, FEATURES);
}

static void write_array(FILE *file)
{
    fprintf(file, "%%%%MatrixMarket matrix array real general\n%d %d\n", SAMPLES, FEATURES);
    for (int k = 0; k < SAMPLES * FEATURES; k++) fprintf(file, "%s%d.5\n", k % 50 ? "" : "\n", k);
}

static void write_ordered(FILE *file)
{
    fprintf(file, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", SAMPLES, CELLS, SAMPLES * CELLS);
    for (int i = 0; i < SAMPLES; i++)
        for (int j = 0; j < CELLS; j++) fprintf(file, "%d %d %d\n", i + 1, j + 1, i * j);
}

static void write_table(FILE *file)
{
    fprintf(file, "name");
    for (int j = 0; j < FEATURES; j++) fprintf(file, ",f%d", j);
    for (int i = 0; i < SAMPLES; i++) {
        fprintf(file, "\n%ss%d", i % 20 ? "" : "\n", i);
        for (int j = 0; j < FEATURES; j++) fprintf(file, ",%d.25", i * j);
    }
}

static void write_svmlight(FILE *file)
{
    for (int i = 0; i < SAMPLES; i++) {
        fprintf(file, "%d", i % 3);
        for (int j = 0; j < CELLS; j++) fprintf(file, " %d:%d.5", (j * 41 + i) % FEATURES + 1, i + j);
        fprintf(file, i % 9 ? "\n" : " # a comment\n\n");
    }
}

static const struct text {
    const char *name;
    void (*write)(FILE *file);
} texts[] = {
    {"general.mtx", write_general}, {"symmetric.mtx", write_symmetric}, {"skew.mtx", write_skew},
    {"pattern.mtx", write_pattern}, {"array.mtx", write_array},         {"ordered.mtx", write_ordered},
    {"table.csv", write_table},     {"data.svm", write_svmlight},
};
enum { TEXTS = sizeof texts / sizeof *texts };

static void make_input(const struct text *text)
{
    FILE *file = fopen(support_path(input, sizeof input, text->name), "w");
    assert_non_null(file);
    text->write(file);
    assert_int_equal(fclose(file), 0);
}

static armilla_status read_input(bool columns, bool spills, armilla_data **data)
{
    armilla_read_options options;
    armilla_read_options_default(&options);
    options.sample_columns = columns;
    options.threads = 2;
    options.spill = spills ? support_path(beside, sizeof beside, "out") : NULL;
    return armilla_data_open(context, input, &options, data);
}

static void same_names(const armilla_data *a, const armilla_data *b)
{
    for (int kind = 0; kind < ARMILLA_NAMING_COUNT; kind++) {
        const int64_t count = kind == ARMILLA_FEATURE_NAMES ? a->m : a->n;
        for (int64_t i = 0; i < count; i++) {
            const char *x = armilla_data_name(a, (armilla_naming)kind, i);
            const char *y = armilla_data_name(b, (armilla_naming)kind, i);
            assert_int_equal(x == NULL, y == NULL);
            if (x) assert_string_equal(x, y);
        }
    }
}

static void same_entries(const armilla_data *a, const armilla_data *b)
{
    void *workspaces[2];
    const armilla_sparse_panel s = support_load(a, &workspaces[0]).sparse, t = support_load(b, &workspaces[1]).sparse;
    const size_t entries = (size_t)armilla_data_stored(a), width = s.index64 ? 8 : 4;
    assert_int_equal(s.index64, t.index64);
    assert_int_equal(entries, armilla_data_stored(b));
    assert_memory_equal(s.columns.starts, t.columns.starts, (size_t)(a->n + 1) * width);
    assert_memory_equal(s.columns.rows, t.columns.rows, entries * width);
    assert_memory_equal(s.columns.values, t.columns.values, entries * sizeof(double));
    free(workspaces[0]);
    free(workspaces[1]);
}

/* The same numbers in the same arrays. */
static void same_data(const armilla_data *a, const armilla_data *b)
{
    int64_t stride = 0;
    assert_int_equal(a->m, b->m);
    assert_int_equal(a->n, b->n);
    assert_int_equal(armilla_sparse_of(a) == NULL, armilla_sparse_of(b) == NULL);
    if (armilla_sparse_of(a)) {
        same_entries(a, b);
    } else {
        assert_memory_equal(armilla_data_dense(a, &stride), armilla_data_dense(b, &stride),
                            (size_t)(a->m * a->n) * sizeof(double));
    }
    same_names(a, b);
}

static void check_reader(const struct text *text, bool columns, int64_t narrow)
{
    armilla_data *whole = NULL, *spilled = NULL;
    context->most_narrow = narrow;
    make_input(text);
    armilla_context_set_memory(context, 0);
    support_ok(context, read_input(columns, false, &whole));
    const int64_t limit = armilla_context_memory_live(context) + LIMIT;
    armilla_context_set_memory(context, limit);
    support_ok(context, read_input(columns, true, &spilled));
    assert_non_null(context->spill.head);
    same_data(whole, spilled);
    armilla_data_free(spilled);
    assert_null(context->spill.head);
    assert_int_equal(support_entries(), 1);
    /* Without a place for it, it does not fit. */
    spilled = NULL;
    support_fails(context, read_input(columns, false, &spilled), ARMILLA_NO_MEMORY, text->name);
    armilla_data_free(whole);
    remove(input);
}

static void readers_have_the_same_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEXTS; i++)
        for (int columns = 0; columns < 2; columns++)
            if (!columns || strcmp(texts[i].name, "data.svm") != 0) {
                check_reader(&texts[i], columns, INT32_MAX);
                check_reader(&texts[i], columns, 50);
            }
}

/* Whatever fails, nothing is left, and the next attempt succeeds. */
static void survives_failures(void **state)
{
    static const size_t some[] = {0, 6, 7};
    (void)state;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        make_input(&texts[some[i]]);
        armilla_context_set_memory(context, LIMIT);
        for (int kind = 0; kind < 2; kind++) { /* allocations, then system calls */
            bool fails = true;
            int at = 0;
            for (; fails; at++) {
                armilla_data *data = NULL;
                fault_set(kind ? at : -1, ENOSPC);
                context->io = kind ? &fault_io : &armilla_io_system;
                allocator.taken = 0;
                allocator.countdown = kind ? -1 : at;
                const armilla_status status = read_input(false, true, &data);
                fails = kind ? fault.hit : allocator.taken > at;
                allocator.countdown = -1;
                context->io = &armilla_io_system;
                if (status != ARMILLA_OK) {
                    assert_true(fails);
                    assert_null(data);
                    assert_non_null(strstr(armilla_context_error(context), "; "));
                }
                armilla_data_free(data);
                assert_null(context->spill.head);
                assert_int_equal(support_entries(), 1);
            }
            assert_true(at > 8);
        }
        remove(input);
    }
}

/* What no disk holds is an error, and so is a directory that is not there. */
static void disk_is_too_small(void **state)
{
    char *block = NULL;
    char nowhere[512];
    (void)state;
    begin_limit(LIMIT);
    support_fails(context, armilla_grow_large(context, INT64_MAX / 8, 1, &block), ARMILLA_IO_ERROR, "free some space");
    assert_null(block);
    snprintf(nowhere, sizeof nowhere, "%s/nowhere/out", beside);
    (void)armilla_spill_enter(context, nowhere);
    support_fails(context, armilla_grow_large(context, 1 << 20, 1, &block), ARMILLA_CANNOT_CREATE, "nowhere");
    assert_int_equal(support_entries(), 0);
    (void)armilla_spill_enter(context, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(blocks_become_files),
        TEST(readers_have_the_same_bits),
        TEST(survives_failures),
        TEST(disk_is_too_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

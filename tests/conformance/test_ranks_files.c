/* Files that several ranks open, which are threads here: each reads of a stored matrix the samples that are its own and no
 * others. Every rank has a file of its own, in which the samples of the others are garbage: indices that are none, and
 * numbers that are NaN. Results have the bits of one process; bytes and pages that were read are counted; what is bad in
 * one rank's part ends all of them with one message. */
#include "files/npz.h"
#include "model/model.h"
#include "reference/ranks.h"
#include "unit/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 40000, M = 16, EACH = 5, RANK = 3, MOST_RANKS = 4, PATH = 300, LIMIT = 16 << 20 };

/* The samples, as a file has them. */
typedef struct samples {
    float *values;     /* of a dense file M for each sample, else EACH */
    int32_t *features; /* NULL: dense */
} samples;

static int64_t numbers_of(const samples *x)
{
    return x->features ? EACH : M;
}

static samples make_samples(bool sparse)
{
    samples x = {.values = malloc(N * (size_t)M * sizeof(float)),
                 .features = sparse ? malloc(N * (size_t)EACH * sizeof(int32_t)) : NULL};
    assert_true(x.values && (!sparse || x.features));
    for (int64_t i = 0; i < N * numbers_of(&x); i++) {
        x.values[i] = (float)(1 + (i * 7919 + i / 11) % 97) * (i % 3 ? 1.0F : 0.25F);
        if (sparse) x.features[i] = (int32_t)(i % EACH * 3 + i / EACH % 2 + (i % EACH == 4) * (i / EACH % 3));
    }
    return x;
}

static void free_samples(samples *x)
{
    free(x->values);
    free(x->features);
}

/* All but samples first ... last-1 become garbage. */
static samples mask_others(const samples *x, int64_t first, int64_t last)
{
    const size_t each = (size_t)numbers_of(x), begin = (size_t)first * each, own = (size_t)(last - first) * each;
    const size_t all = N * each;
    samples made = {.values = malloc(all * sizeof(float)),
                    .features = x->features ? malloc(all * sizeof(int32_t)) : NULL};
    memset(made.values, 0xff, all * sizeof(float));
    memcpy(made.values + begin, x->values + begin, own * sizeof(float));
    if (!x->features) return made;
    memset(made.features, 0xff, all * sizeof(int32_t));
    memcpy(made.features + begin, x->features + begin, own * sizeof(int32_t));
    return made;
}

static armilla_status write_csr(armilla_context *own, const char *path, const samples *x)
{
    const int64_t shape[2] = {N, M}, of_two[2] = {2, -1}, single[2] = {-1, -1}, of_starts[2] = {N + 1, -1};
    const int64_t of_entries[2] = {N * (int64_t)EACH, -1};
    const size_t entries = N * (size_t)EACH;
    int32_t *starts = malloc((N + 1) * sizeof *starts);
    armilla_npz_writer *writer = NULL;
    for (int32_t j = 0; j <= N; j++) starts[j] = EACH * j;
    armilla_status status = armilla_npz_writer_new(own, path, true, &writer);
    if (status == ARMILLA_OK) status = armilla_npz_writer_add_raw(writer, "format", "S3", single, "csr", 3);
    if (status == ARMILLA_OK) status = armilla_npz_writer_add_raw(writer, "shape", "i8", of_two, shape, sizeof shape);
    if (status == ARMILLA_OK)
        status = armilla_npz_writer_add_raw(writer, "data", "f4", of_entries, x->values, entries * sizeof(float));
    if (status == ARMILLA_OK)
        status =
            armilla_npz_writer_add_raw(writer, "indices", "i4", of_entries, x->features, entries * sizeof(int32_t));
    if (status == ARMILLA_OK)
        status = armilla_npz_writer_add_raw(writer, "indptr", "i4", of_starts, starts, (N + 1) * sizeof *starts);
    if (status == ARMILLA_OK) status = armilla_npz_writer_commit(writer);
    armilla_npz_writer_free(writer);
    free(starts);
    return status;
}

/* type: that of the file, which may be one that has to be converted. */
static armilla_status write_npy(const char *path, const char *type, const samples *x)
{
    char header[ARMILLA_ARRAY_HEADER];
    const size_t used = armilla_array_header(type, N, M, false, header), width = (size_t)(type[1] - '0');
    FILE *file = fopen(path, "wb");
    if (!file) return ARMILLA_CANNOT_OPEN;
    bool written = fwrite(header, 1, used, file) == used;
    for (int64_t i = 0; i < N * (int64_t)M && written; i++) {
        const int16_t whole = (int16_t)(x->values[i] > 0 ? 4 * x->values[i] : -1); /* garbage is NaN */
        written = fwrite(width == 4 ? (const void *)&x->values[i] : &whole, width, 1, file) == 1;
    }
    return fclose(file) == 0 && written ? ARMILLA_OK : ARMILLA_IO_ERROR;
}

/* How a matrix lies in a file, and what of it a rank is to read. */
typedef struct storage {
    const char *name, *type; /* NULL: CSR */
    bool mapped;             /* pages count, not bytes */
} storage;

static const storage storages[] = {
    {"csr", NULL, false}, {"f4", "f4", true}, {"i2", "i2", false}, /* numbers that are converted */
};

static armilla_status write_storage(armilla_context *own, const storage *s, const char *path, const samples *x)
{
    return s->type ? write_npy(path, s->type, x) : write_csr(own, path, x);
}

/* Bytes of the file that this process has in memory of its own, or -1 where the system does not tell. */
static int64_t resident(const char *path)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[512];
    bool inside = false;
    long long found = -1;
    while (maps && found < 0 && fgets(line, sizeof line, maps)) {
        inside |= strstr(line, path) != NULL;
        if (inside) (void)sscanf(line, "Rss: %lld kB", &found);
    }
    if (maps) (void)fclose(maps);
    return found < 0 ? -1 : 1024 * (int64_t)found;
}

/* What a rank comes to. */
typedef struct outcome {
    armilla_status status;
    char message[ARMILLA_MESSAGE];
    armilla_data_facts facts;
    int64_t first, last, bytes;
    float U[M * RANK];
    double radius, objective;
} outcome;

typedef struct trial {
    const storage *s;
    const samples *x;
    const char *clean; /* the whole file */
    int64_t bad;       /* sample that is garbage on its own rank, too; -1: none */
    outcome outcomes[MOST_RANKS];
} trial;

static armilla_status open_file(armilla_context *own, const char *path, armilla_data **data)
{
    armilla_read_options options;
    armilla_read_options_default(&options);
    options.memory = armilla_context_memory_live(own) + LIMIT;
    return armilla_data_open(own, path, &options, data);
}

static void fit(armilla_context *own, const armilla_data *X, outcome *found)
{
    armilla_options options;
    armilla_model *model = NULL;
    armilla_options_default(&options);
    options.rank = RANK;
    options.basis = "nonnegative";
    options.codes = "nonneg-sphere";
    options.max_iter = 4;
    options.threads = 1;
    found->status = armilla_fit(own, X, &options, &model);
    if (found->status != ARMILLA_OK) return;
    memcpy(found->U, model->U, sizeof found->U);
    found->radius = model->summary.radius;
    found->objective = model->summary.objective;
    armilla_model_free(model);
}

/* One pass, what it has read, and a fit. */
static void use(armilla_context *own, const storage *s, const char *path, outcome *found)
{
    armilla_data *X = NULL;
    found->status = armilla_context_agree(own, open_file(own, path, &X), NULL, NULL);
    if (found->status == ARMILLA_OK) found->status = armilla_data_survey(own, X, 1, &found->facts);
    if (found->status == ARMILLA_OK) {
        found->bytes = s->mapped ? resident(path) : armilla_data_bytes_read(X);
        fit(own, X, found);
    }
    snprintf(found->message, sizeof found->message, "%s", armilla_context_error(own));
    armilla_data_free(X);
}

/* By this rank alone: ranks together would write on the first. */
static armilla_status write_own(armilla_context *own, const trial *t, const char *path, const samples *part)
{
    const armilla_ranks table = *own->ranks;
    armilla_status status = armilla_context_set_ranks(own, NULL);
    if (status == ARMILLA_OK) status = write_storage(own, t->s, path, part);
    const armilla_status back = armilla_context_set_ranks(own, &table);
    return status == ARMILLA_OK ? back : status;
}

static void run(void *self, int rank, armilla_context *own)
{
    trial *t = self;
    outcome *found = &t->outcomes[rank];
    char path[PATH + 32];
    armilla_data *X = NULL;
    *found = (outcome){.bytes = 0};
    snprintf(path, sizeof path, "%s-%d", t->clean, rank);
    found->status = open_file(own, t->clean, &X);
    if (found->status == ARMILLA_OK) armilla_data_own(own, X, &found->first, &found->last);
    armilla_data_free(X);
    samples part = mask_others(t->x, found->first, found->last);
    if (found->first <= t->bad && t->bad < found->last)
        memset(part.features + t->bad * EACH, 0x7f, EACH * sizeof *part.features);
    if (found->status == ARMILLA_OK) found->status = write_own(own, t, path, &part);
    free_samples(&part);
    if (armilla_context_agree(own, found->status, NULL, NULL) == ARMILLA_OK) use(own, t->s, path, found);
    (void)remove(path);
}

static void check_share(const trial *t, const outcome *found, const outcome *one)
{
    const int64_t each = t->s->type ? M * (int64_t)(t->s->type[1] - '0') : EACH * 8;
    const int64_t share = (found->last - found->first) * each, blocks = 8 << 16;
    const int64_t starts = t->s->type ? 0 : 2 * (N + 1) * (int64_t)sizeof(int32_t); /* its size is looked at before */
    if (found->status != ARMILLA_OK) print_error("%s: %s\n", t->s->name, found->message);
    assert_int_equal(found->status, ARMILLA_OK);
    if (found->bytes >= 0) {
        assert_in_range(found->bytes, share, share + starts + blocks);
        assert_true(found->bytes < N * each + starts);
    }
    assert_memory_equal(&found->facts, &one->facts, sizeof one->facts);
    assert_memory_equal(found->U, one->U, sizeof one->U);
    assert_true(found->radius == one->radius && found->objective == one->objective);
}

static void test_own_samples_alone(void **state)
{
    char clean[PATH];
    (void)state;
    for (size_t i = 0; i < sizeof storages / sizeof *storages; i++) {
        samples x = make_samples(!storages[i].type);
        static trial t;
        outcome one = {.bytes = 0};
        t = (trial){.s = &storages[i], .x = &x, .clean = clean, .bad = -1};
        support_path(clean, sizeof clean, storages[i].name);
        support_ok(context, write_storage(context, t.s, clean, &x));
        use(context, t.s, clean, &one);
        support_ok(context, one.status);
        for (int size = 2; size <= MOST_RANKS; size++) {
            reference_run_ranks(size, -1, run, &t);
            for (int r = 0; r < size; r++) check_share(&t, &t.outcomes[r], &one);
            assert_int_equal(t.outcomes[size - 1].last, N);
        }
        free_samples(&x);
    }
}

/* Whoever has the sample says so, and all end. */
static void test_bad_entry_ends_all(void **state)
{
    static const int64_t bad[] = {0, N / 2, N - 1};
    char clean[PATH], says[64];
    samples x = make_samples(true);
    (void)state;
    support_path(clean, sizeof clean, "csr");
    support_ok(context, write_csr(context, clean, &x));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        static trial t;
        t = (trial){.s = &storages[0], .x = &x, .clean = clean, .bad = bad[i]};
        reference_run_ranks(3, -1, run, &t);
        snprintf(says, sizeof says, "entry %lld ", (long long)(bad[i] * EACH));
        for (int r = 0; r < 3; r++) {
            assert_int_equal(t.outcomes[r].status, ARMILLA_BAD_DATA);
            assert_non_null(strstr(t.outcomes[r].message, says));
            assert_string_equal(t.outcomes[r].message, t.outcomes[0].message);
        }
    }
    free_samples(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_own_samples_alone),
        TEST(test_bad_entry_ends_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The context's memory: what it counts, that no limit is passed, that nothing stays counted once everything is freed;
 * limits by the input, and what the machine has free. */
#include "unit/support.h"

#include "base/context.h"

#include <armilla/armilla.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIB ((int64_t)1 << 30)

static support_allocator allocator;
static armilla_context *context;
static char path[256];

static int set_up(void **state)
{
    (void)state;
    support_begin(&allocator, &context);
    support_path(path, sizeof path, "data");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (context) {
        assert_int_equal(armilla_context_memory_live(context), 0);
        support_end(&allocator, context);
    }
    return 0;
}

static void counts_blocks(void **state)
{
    (void)state;
    char *first = NULL, *second = NULL;
    assert_int_equal(armilla_context_memory_limit(context), INT64_MAX);
    support_ok(context, armilla_take(context, 100, 8, &first));
    const int64_t one = armilla_context_memory_live(context);
    assert_in_range(one, 800, 864);
    assert_int_equal((uintptr_t)first % _Alignof(max_align_t), 0);
    for (int i = 0; i < 800; i++) assert_int_equal(first[i], 0);
    support_ok(context, armilla_take(context, 0, 8, &second));
    assert_non_null(second);
    memset(first, 7, 800);
    support_ok(context, armilla_grow(context, 4000, 1, &first));
    for (int i = 0; i < 800; i++) assert_int_equal(first[i], 7);
    const int64_t most = armilla_context_memory_live(context);
    assert_true(most > one + 3200);
    support_ok(context, armilla_grow(context, 10, 1, &first));
    assert_true(armilla_context_memory_live(context) < one);
    assert_int_equal(armilla_context_memory_peak(context), most);
    armilla_release(context, first);
    armilla_release(context, second);
    armilla_release(context, NULL);
}

static void refuses_past_the_limit(void **state)
{
    (void)state;
    char *kept = NULL, *more = NULL;
    support_ok(context, armilla_take(context, 1000, 1, &kept));
    const int64_t live = armilla_context_memory_live(context), header = live - 1000;
    const int64_t asked = allocator.taken;
    armilla_context_set_memory(context, 2 * live);
    support_fails(context, armilla_take(context, 1001, 1, &more), ARMILLA_NO_MEMORY, "raise it by memory 1M or more");
    assert_null(more);
    support_fails(context, armilla_grow(context, 2001 + header, 1, &kept), ARMILLA_NO_MEMORY, "out of memory: ");
    const int64_t sizes[] = {INT64_MAX, INT64_MAX / 8, -1, INT64_MAX - header};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t size = 1; size <= 8; size *= 8)
            support_fails(context, armilla_take(context, sizes[i], size, &more), ARMILLA_NO_MEMORY, "out of memory: ");
    assert_int_equal(allocator.taken, asked); /* nobody was asked for what is refused */
    assert_int_equal(armilla_context_memory_live(context), live);
    support_ok(context, armilla_take(context, 1000, 1, &more));
    assert_int_equal(armilla_context_memory_live(context), 2 * live);
    armilla_release(context, more);
    more = NULL;
    allocator.countdown = allocator.taken; /* an allocator that refuses leaves the count as it was */
    support_fails(context, armilla_take(context, 10, 1, &more), ARMILLA_NO_MEMORY, "cannot be had");
    allocator.countdown = -1;
    assert_int_equal(armilla_context_memory_live(context), live);
    armilla_context_set_memory(context, 0);
    support_ok(context, armilla_grow(context, 1 << 20, 1, &kept));
    armilla_release(context, kept);
}

enum { THREADS = 6, ROUNDS = 4000, MOST_HELD = 20000 };

static void *take_and_release(void *unused)
{
    (void)unused;
    int64_t refusals = 0;
    for (int i = 0; i < ROUNDS; i++) {
        char *block = NULL;
        if (armilla_take(context, 1 + i * 37 % 5000, 1, &block) != ARMILLA_OK) refusals++;
        if (armilla_context_memory_live(context) > MOST_HELD) abort();
        if (block && armilla_grow(context, 1 + i * 61 % 7000, 1, &block) != ARMILLA_OK) refusals++;
        armilla_release(context, block);
    }
    return (void *)(intptr_t)(refusals > 0);
}

static void counts_for_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    armilla_context_set_memory(context, MOST_HELD);
    for (int t = 0; t < THREADS; t++) assert_int_equal(pthread_create(&threads[t], NULL, take_and_release, NULL), 0);
    for (int t = 0; t < THREADS; t++) assert_int_equal(pthread_join(threads[t], NULL), 0);
    assert_in_range(armilla_context_memory_peak(context), 7000, MOST_HELD);
}

/* One problem: how its data are given, and how they are fitted. */
typedef struct problem {
    int64_t m, n, rank;
    const char *ending, *precision, *model, *solver, *start;
    bool prepared;
} problem;

static const problem problems[] = {
    {7, 40, 3, "csv", "f64", "spherical-pca", "fast", NULL, true},
    {200, 5, 2, "npz", "f32", "spherical-nmf", "fast", "kmeans++", false},
    {3, 900, 3, "npy", "f64", "nmf", "mu", NULL, false},
    {60, 50, 1, "mtx", "f32", "spherical-pca", "palm", "random", true},
    {31, 33, 6, "svm", "f64", "sparse-spherical-nmf", "fast", "svd", true},
    {1, 12, 1, "csv", "f32", "spherical-pca", "fast", NULL, false},
    {40, 1, 1, "npy", "f64", "spherical-nmf", "palm", NULL, false},
};

static void write_data(const problem *p)
{
    armilla_context *other = support_context();
    double *values = calloc((size_t)(p->m * p->n), sizeof *values);
    armilla_data *data = NULL;
    assert_non_null(values);
    for (int64_t i = 0; i < p->m * p->n; i++) values[i] = (double)((i * i + 3 * i) % 17) * (i % 3 != 1);
    values[0] = 1;
    support_ok(other, armilla_data_wrap_dense(other, ARMILLA_F64, values, p->m, p->n, p->m, &data));
    char name[64];
    snprintf(name, sizeof name, "data.%s", p->ending);
    support_path(path, sizeof path, name);
    support_ok(other, armilla_data_write(other, data, path, NULL));
    armilla_data_free(data);
    armilla_context_free(other);
    free(values);
}

/* Everything that a use makes. */
typedef struct things {
    armilla_data *whole, *data;
    armilla_model *model, *opened, *second;
    armilla_clustering *clusters, *groups;
    armilla_labels labels;
    void *codes, *rebuilt;
} things;

static armilla_status use(const problem *p, things *t)
{
    const armilla_selection keep = {.size = sizeof(armilla_selection), .samples = p->n > 4 ? "1-4" : "1"};
    armilla_options options;
    armilla_cluster_options clustering;
    armilla_data_facts facts;
    armilla_check check;
    char model[256];
    support_path(model, sizeof model, "model.npz");
    armilla_options_default(&options);
    armilla_cluster_options_default(&clustering);
    options.rank = p->rank;
    options.model = p->model;
    options.solver = p->solver;
    options.start = p->start;
    options.precision = p->precision;
    options.sparsity = strstr(p->model, "sparse") ? 2 : 0;
    options.max_iter = 5;
    options.restarts = 2;
    options.threads = clustering.threads = 2;
    options.tfidf = options.log1p = options.scale = p->prepared;
    clustering.k = 1 + (p->n > 1);
    const armilla_read_options reading = {.size = sizeof(armilla_read_options), .threads = 2};
    armilla_status status = armilla_data_open(context, path, &reading, &t->whole);
    if (status == ARMILLA_OK) status = armilla_data_select(context, t->whole, &keep, &t->data);
    if (status == ARMILLA_OK) status = armilla_data_survey(context, t->whole, 2, &facts);
    if (status == ARMILLA_OK) status = armilla_fit(context, t->whole, &options, &t->model);
    if (status == ARMILLA_OK) status = armilla_model_save(context, t->model, model, true);
    if (status == ARMILLA_OK) status = armilla_model_open(context, model, &t->opened);
    if (status == ARMILLA_OK) status = armilla_take(context, p->rank * p->n, sizeof(double), &t->codes);
    if (status == ARMILLA_OK) status = armilla_take(context, p->m * p->n, sizeof(double), &t->rebuilt);
    if (status == ARMILLA_OK) status = armilla_model_transform(context, t->opened, t->whole, 2, t->codes);
    if (status == ARMILLA_OK) status = armilla_model_reconstruct(context, t->opened, 0, p->n, t->rebuilt);
    if (status == ARMILLA_OK) status = armilla_model_check(context, t->opened, t->whole, &check);
    options.start_model = t->opened;
    if (status == ARMILLA_OK) status = armilla_fit(context, t->whole, &options, &t->second);
    if (status == ARMILLA_OK) status = armilla_cluster_data(context, t->whole, NULL, &clustering, &t->clusters);
    if (status == ARMILLA_OK) status = armilla_cluster_model(context, t->opened, &clustering, &t->groups);
    if (status == ARMILLA_OK) status = armilla_labels_of_data(context, t->whole, &t->labels);
    support_path(model, sizeof model, "again.csv");
    if (status == ARMILLA_OK)
        status = armilla_data_write(context, t->data, model,
                                    &(armilla_write_options){.size = sizeof(armilla_write_options), .overwrite = true});
    return status;
}

static void free_things(things *t)
{
    armilla_release(context, t->rebuilt);
    armilla_release(context, t->codes);
    armilla_labels_free(context, &t->labels);
    armilla_clustering_free(t->groups);
    armilla_clustering_free(t->clusters);
    armilla_model_free(t->second);
    armilla_model_free(t->opened);
    armilla_model_free(t->model);
    armilla_data_free(t->data);
    armilla_data_free(t->whole);
}

/* A limit of what was counted is enough; each below it is refused, somewhere on the way, and nothing is left: not a
 * byte, and of files the outputs that were finished alone. */
static void holds_for_every_object(void **state)
{
    (void)state;
    int64_t refusals = 0;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        const problem *p = &problems[i];
        things first = {.data = NULL}, again = {.data = NULL};
        write_data(p);
        support_ok(context, use(p, &first));
        free_things(&first);
        assert_int_equal(armilla_context_memory_live(context), 0);
        const int64_t peak = armilla_context_memory_peak(context);
        armilla_context_free(context);
        context = support_context_with(&allocator);
        armilla_context_set_memory(context, peak);
        support_ok(context, use(p, &again));
        free_things(&again);
        assert_int_equal(armilla_context_memory_peak(context), peak);
        for (int64_t limit = peak - 1; limit > 0; limit = limit * 15 / 16 - 1, refusals++) {
            things none = {.data = NULL};
            armilla_context_set_memory(context, limit);
            support_fails(context, use(p, &none), ARMILLA_NO_MEMORY, "; raise it by memory ");
            free_things(&none);
            assert_int_equal(armilla_context_memory_live(context), 0);
            assert_true(support_entries() <= 3); /* data, model, table: no temporary */
        }
        armilla_context_free(context);
        context = support_context_with(&allocator);
        support_clean();
    }
    assert_true(refusals > 300);
}

/* The limits of a call are the context's own while it runs, if they are lower. */
static void lends_a_call_its_own_limit(void **state)
{
    (void)state;
    armilla_data *data = NULL;
    armilla_model *model = NULL;
    armilla_options options;
    write_data(&problems[0]);
    const armilla_read_options little = {.size = sizeof(armilla_read_options), .memory = 500},
                               much = {.size = sizeof(armilla_read_options), .memory = GIB};
    support_fails(context, armilla_data_open(context, path, &little, &data), ARMILLA_NO_MEMORY, path);
    assert_int_equal(armilla_context_memory_limit(context), INT64_MAX);
    armilla_context_set_memory(context, 600);
    support_fails(context, armilla_data_open(context, path, &much, &data), ARMILLA_NO_MEMORY, "the limit is 600 bytes");
    armilla_context_set_memory(context, GIB);
    support_ok(context, armilla_data_open(context, path, &much, &data));
    armilla_options_default(&options);
    options.rank = 3;
    options.memory = armilla_context_memory_live(context) + 5000;
    support_fails(context, armilla_fit(context, data, &options, &model), ARMILLA_NO_MEMORY, "raise it by memory ");
    assert_int_equal(armilla_context_memory_limit(context), GIB);
    options.memory = GIB;
    support_ok(context, armilla_fit(context, data, &options, &model));
    armilla_model_free(model);
    armilla_data_free(data);
}

/* A machine of files: the paths that are there, and their texts. */
typedef struct fake {
    const char *path, *text;
} fake;

enum { FAKE = 5000 };
static const fake *machine;
static size_t fake_at;

static int fake_open(const char *name, int flags, mode_t mode)
{
    (void)flags, (void)mode;
    fake_at = 0;
    for (int i = 0; machine[i].path; i++)
        if (strcmp(machine[i].path, name) == 0) return FAKE + i;
    errno = ENOENT;
    return -1;
}

static ssize_t fake_read(int file, void *bytes, size_t count)
{
    const char *rest = machine[file - FAKE].text + fake_at;
    const size_t part = strlen(rest) < count ? strlen(rest) : count, some = part > 7 ? 7 : part;
    memcpy(bytes, rest, some);
    fake_at += some;
    return (ssize_t)some;
}

static int fake_close(int file)
{
    (void)file;
    return 0;
}

static const armilla_io fake_io = {.open = fake_open, .read = fake_read, .close = fake_close};

#define MEMINFO                                                                                                        \
    {                                                                                                                  \
        "/proc/meminfo", "MemTotal:       32000000 kB\nMemFree: 1 kB\nMemAvailable:   16000000 kB\n"                   \
    }

static void asks_what_is_free(void **state)
{
    (void)state;
    static const struct {
        fake files[12];
        int64_t free;
    } machines[] = {
        {{{NULL, NULL}}, INT64_MAX},
        {{MEMINFO}, 16000000LL * 1024},
        {{{"/proc/meminfo", "MemTotal: 5 kB\n"}}, INT64_MAX},
        /* the second version: the group, and one above it that has less */
        {{MEMINFO,
          {"/proc/self/cgroup", "0::/user/me\n"},
          {"/sys/fs/cgroup/user/me/memory.max", "5000000\n"},
          {"/sys/fs/cgroup/user/me/memory.current", "1000000\n"},
          {"/sys/fs/cgroup/user/memory.max", "max\n"},
          {"/sys/fs/cgroup/user/memory.current", "9000000\n"}},
         4000000},
        {{MEMINFO,
          {"/proc/self/cgroup", "0::/user/me\n"},
          {"/sys/fs/cgroup/user/me/memory.max", "5000000\n"},
          {"/sys/fs/cgroup/user/me/memory.current", "1000000\n"},
          {"/sys/fs/cgroup/user/memory.max", "6000000\n"},
          {"/sys/fs/cgroup/user/memory.current", "9000000\n"}},
         0},
        {{MEMINFO,
          {"/proc/self/cgroup", "0::/\n"},
          {"/sys/fs/cgroup/memory.max", "77\n"},
          {"/sys/fs/cgroup/memory.current", "7"}},
         70},
        /* the first version, among other controllers */
        {{MEMINFO,
          {"/proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/b/c\n1:name=systemd:/d\n"},
          {"/sys/fs/cgroup/memory/b/c/memory.limit_in_bytes", "9223372036854771712\n"},
          {"/sys/fs/cgroup/memory/b/c/memory.usage_in_bytes", "100\n"},
          {"/sys/fs/cgroup/memory/b/memory.limit_in_bytes", "1000\n"},
          {"/sys/fs/cgroup/memory/b/memory.usage_in_bytes", "100\n"}},
         900},
        {{MEMINFO, {"/proc/self/cgroup", "4:memory:/b"}}, 16000000LL * 1024},
        /* nearly all of it holds files that nobody needs */
        {{MEMINFO,
          {"/proc/self/cgroup", "0::/c\n"},
          {"/sys/fs/cgroup/c/memory.max", "2000000\n"},
          {"/sys/fs/cgroup/c/memory.current", "1999000\n"},
          {"/sys/fs/cgroup/c/memory.stat", "anon 5000\nfile 1994000\ninactive_file 1000000\nactive_file 900000\n"}},
         1901000},
        {{MEMINFO,
          {"/proc/self/cgroup", "4:memory:/b\n"},
          {"/sys/fs/cgroup/memory/b/memory.limit_in_bytes", "2000000\n"},
          {"/sys/fs/cgroup/memory/b/memory.usage_in_bytes", "2000000\n"},
          {"/sys/fs/cgroup/memory/b/memory.stat",
           "cache 3\ninactive_file 1\nactive_file 2\ntotal_cache 9\ntotal_inactive_file 500\ntotal_active_file 70\n"}},
         570},
    };
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        machine = machines[i].files;
        assert_int_equal(armilla_memory_free(&fake_io), machines[i].free);
    }
    assert_true(armilla_memory_free(&armilla_io_system) > 0);
}

static void grows_with_the_input(void **state)
{
    (void)state;
    static const fake files[] = {{"/proc/meminfo", "MemAvailable: 100000000 kB\n"}, {NULL, NULL}};
    static const double values[1000];
    const int64_t bytes = sizeof values;
    const armilla_io *io = context->io;
    armilla_data *data = NULL;
    char *block = NULL;
    machine = files;
    context->io = &fake_io;
    armilla_context_set_memory(context, ARMILLA_MEMORY_BY_INPUT);
    context->io = io;
    assert_int_equal(armilla_context_memory_limit(context), GIB);
    support_ok(context, armilla_data_wrap_dense(context, ARMILLA_F64, values, 10, 100, 10, &data));
    assert_int_equal(armilla_context_memory_limit(context), GIB + 64 * bytes);
    armilla_memory_add_rank(context, 4);
    armilla_memory_add_rank(context, 3);
    assert_int_equal(armilla_context_memory_limit(context), GIB + 64 * bytes * 5);
    support_fails(context, armilla_take(context, 3 * GIB, 1, &block), ARMILLA_NO_MEMORY, "memory 8G or more");
    support_fails(context, armilla_take(context, 3 * GIB, 1, &block), ARMILLA_NO_MEMORY, "an input of 7.8 KiB");
    armilla_memory_add_input(context, (int64_t)1 << 60);
    assert_int_equal(armilla_context_memory_limit(context), 100000000LL * 1024 / 8 * 7);
    support_fails(context, armilla_take(context, 100 * GIB, 1, &block), ARMILLA_NO_MEMORY, "this machine has 83.4 GiB");
    armilla_memory_add_input(context, -((int64_t)1 << 60));
    write_data(&problems[0]); /* 7 x 40 numbers, and what was read of the file counts */
    armilla_data *opened = NULL;
    size_t count = 0;
    const int64_t before = armilla_context_memory_limit(context);
    support_ok(context, armilla_data_open(context, path, NULL, &opened));
    free(support_read_file(path, &count));
    assert_int_equal(armilla_context_memory_limit(context), before + 64 * (int64_t)count * 5);
    armilla_data_free(opened);
    armilla_data_free(data);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(counts_blocks),          TEST(refuses_past_the_limit),     TEST(counts_for_threads),
        TEST(holds_for_every_object), TEST(lends_a_call_its_own_limit), TEST(asks_what_is_free),
        TEST(grows_with_the_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Whole fits that are streamed, spilled, checkpointed, resumed and saved, with every allocation and every system call
 * failing in turn: a model with the same bits or one line that says why not, no block, descriptor or file left behind. */
#include "unit/faults.h"
#include "unit/fixture.h"

#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 12, N = 9000, R = 2, LIMIT = 700000, PATH = 300, MOST = 4000 };

static char input[PATH], folder[PATH], state[PATH], saved[PATH];
static char message[ARMILLA_MESSAGE]; /* of the last failure */

/* One kind of fit. */
typedef struct fit_case {
    const char *name; /* of the file */
    const char *basis, *codes, *solver;
    int64_t restarts;
    int64_t limit; /* bytes; 0: none, and the data are mapped */
} fit_case;

static const fit_case cases[] = {
    {"dense.npy", "nonnegative", "nonneg-sphere", "fast", 1, LIMIT},
    {"sparse.npz", "orthonormal", "sphere", "palm", 1, LIMIT},
    {"dense.npy", "free", "one-hot", "fast", 3, LIMIT},
    {"sparse.npz", "nonnegative", "nonneg-sphere", "fast", 2, 0},
};

enum { CASES = sizeof cases / sizeof *cases };

static double entry(int64_t i, int64_t j)
{
    return fmod((double)(i + 1) * 0.37 + (double)(j + 1) * 0.61803398875, 1) + (j % 3 == i % 3 ? 2 : 0);
}

static void write_input(const char *name)
{
    static float dense[M * N];
    static int32_t rows[M * N], starts[N + 1];
    const bool sparse = strstr(name, "sparse") != NULL;
    armilla_data *data = NULL;
    int32_t count = 0;
    for (int64_t j = 0; j < N; j++) {
        for (int64_t i = 0; i < M; i++) {
            if (sparse && (i + j) % 2) continue;
            rows[count] = (int32_t)i;
            dense[count++] = (float)entry(i, j);
        }
        starts[j + 1] = count;
    }
    support_ok(context,
               sparse ? armilla_data_wrap_sparse(context, ARMILLA_F32, ARMILLA_I32, dense, rows, starts, M, N, &data)
                      : armilla_data_wrap_dense(context, ARMILLA_F32, dense, M, N, M, &data));
    support_path(input, sizeof input, name);
    support_ok(context, armilla_data_write(context, data, input, NULL));
    armilla_data_free(data);
}

static int only_counted(int file)
{
    (void)file;
    return fault_comes(true) ? -1 : 0; /* the disk is not what is tested here */
}

static ssize_t read_much(int file, void *bytes, size_t count)
{
    return fault_comes(true) ? -1 : read(file, bytes, count);
}

static int still_reads(int file, off_t offset, off_t count)
{
    return fault_comes(false) ? -1 : armilla_io_system.forget(file, offset, count);
}

/* The table of calls that fail. What cannot be removed stays: unlink is none of them. */
static armilla_io failing_calls(void)
{
    armilla_io io = fault_io;
    io.fsync = only_counted;
    io.read = read_much;
    io.forget = still_reads;
    io.unlink = unlink;
    return io;
}

static armilla_status fit(armilla_context *own, const fit_case *w, const char *resume, armilla_model **model)
{
    armilla_options options;
    armilla_checkpoint checkpoint;
    armilla_data *data = NULL;
    armilla_options_default(&options);
    armilla_checkpoint_default(&checkpoint);
    options.rank = R;
    options.basis = w->basis;
    options.codes = w->codes;
    options.solver = w->solver;
    options.restarts = w->restarts;
    options.max_iter = 2;
    options.threads = 1;
    checkpoint.path = state;
    checkpoint.resume = resume;
    checkpoint.every = 0;
    checkpoint.overwrite = true;
    armilla_status status = armilla_data_open(own, input, NULL, &data);
    if (status == ARMILLA_OK && w->limit && armilla_data_bytes_read(data) < 0) status = ARMILLA_INTERNAL;
    if (status == ARMILLA_OK) status = armilla_fit_checkpointed(own, data, &options, &checkpoint, model);
    armilla_data_free(data);
    return status;
}

/* What came of it; the bits of the model in *check. */
static armilla_status use(const fit_case *w, support_allocator *blocks, const armilla_io *io, uint64_t *check)
{
    const armilla_allocator table = support_allocator_table(blocks);
    armilla_context *own = NULL;
    armilla_model *model = NULL, *again = NULL;
    armilla_status status = armilla_context_new(&table, &own);
    if (status != ARMILLA_OK) return status;
    own->io = io;
    if (w->limit) armilla_context_set_memory(own, w->limit);
    if (w->limit) status = armilla_context_set_temporary(own, folder);
    if (status == ARMILLA_OK) status = fit(own, w, NULL, &model);
    if (status == ARMILLA_OK) status = fit(own, w, state, &again);
    if (status == ARMILLA_OK) status = armilla_model_save(own, again, saved, true);
    if (status == ARMILLA_OK) {
        assert_memory_equal(model->U, again->U, M * R * sizeof(float));
        assert_memory_equal(model->V, again->V, N * R * sizeof(float));
        *check = model->summary.fingerprint;
        for (int64_t i = 0; i < N * R; i++) *check = *check * 31 + ((const uint32_t *)model->V)[i];
    } else {
        snprintf(message, sizeof message, "%s", armilla_context_error(own));
        if (*message == '\0' || strchr(message, '\n')) fail_msg("status %d says '%s'", (int)status, message);
    }
    armilla_model_free(again);
    armilla_model_free(model);
    armilla_context_free(own);
    return status;
}

/* Nothing but the input, and what is whole: a checkpoint, which a failure leaves, and the model of a success. */
static void check_left(const support_allocator *blocks, int descriptor, bool made)
{
    assert_int_equal(blocks->live, 0);
    assert_int_equal(fault_next_descriptor(), descriptor);
    const bool kept = unlink(state) == 0, written = unlink(saved) == 0;
    assert_true(!made || (kept && written));
    assert_int_equal(support_entries(), 1);
}

static bool is_expected(armilla_status status, bool memory)
{
    if (status == ARMILLA_OK || status == ARMILLA_NO_MEMORY) return true;
    if (memory) return status == ARMILLA_CANNOT_OPEN; /* of a checkpoint that could not be written before */
    return status == ARMILLA_IO_ERROR || status == ARMILLA_CANNOT_OPEN || status == ARMILLA_CANNOT_CREATE;
}

/* Allocation or call number k fails; whether it came to it. */
static bool fail_one(const fit_case *w, bool memory, int k, uint64_t wanted, int *survived)
{
    support_allocator blocks = SUPPORT_ALLOCATOR;
    const armilla_io io = failing_calls();
    const int descriptor = fault_next_descriptor();
    uint64_t check = 0;
    blocks.countdown = memory ? k : -1;
    fault_set(memory ? -1 : k, k % 2 ? EIO : ENOSPC);
    const armilla_status status = use(w, &blocks, &io, &check);
    if (!is_expected(status, memory))
        fail_msg("%s, %s %d: status %d, %s", w->name, memory ? "allocation" : "call", k, (int)status, message);
    if (status == ARMILLA_OK && check != wanted) fail_msg("%s, call %d: another model", w->name, k);
    check_left(&blocks, descriptor, status == ARMILLA_OK);
    *survived += status == ARMILLA_OK;
    return memory ? blocks.taken > k : fault.hit;
}

static void fail_each(const fit_case *w, bool memory)
{
    support_allocator blocks = SUPPORT_ALLOCATOR;
    const int descriptor = fault_next_descriptor();
    const int step = memory ? 31 : w->limit ? 97 : 3; /* no divisors of what repeats */
    uint64_t wanted = 0;
    int k = 0, survived = 0;
    const armilla_io io = failing_calls();
    write_input(w->name);
    fault_set(-1, 0);
    support_ok(context, use(w, &blocks, &io, &wanted));
    check_left(&blocks, descriptor, true);
    while (k < MOST && fail_one(w, memory, k, wanted, &survived)) k += step;
    print_message("%s, %s x %s: %d of the first %d %s fail, and %d do not matter\n", w->name, w->basis, w->codes,
                  k / step, k, memory ? "allocations" : "calls", survived);
    assert_true(k > 30 && k < MOST && survived < k / step);
}

static void name_files(void)
{
    support_path(folder, sizeof folder, "");
    support_path(state, sizeof state, "fit.checkpoint");
    support_path(saved, sizeof saved, "model.npz");
}

static void test_every_allocation_fails_in_turn(void **unused)
{
    (void)unused;
    name_files();
    for (size_t i = 0; i < CASES; i++) {
        fail_each(&cases[i], true);
        support_clean();
    }
}

static void test_every_call_fails_in_turn(void **unused)
{
    (void)unused;
    name_files();
    for (size_t i = 0; i < CASES; i++) {
        fail_each(&cases[i], false);
        support_clean();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_every_allocation_fails_in_turn), TEST(test_every_call_fails_in_turn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A checkpoint out of an input, and the fit that goes on from it. The input is the items without their checksums; the
 * record in front, which belongs to data and options, and all checksums are added here. */
#include "fuzz.h"

#include "files/state_file.h"
#include "model/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { FEATURES = 3, SAMPLES = 7, MANY = 5400, MOST_BYTES = 1 << 17, MOST_RECORD = 2048, RAW = 64 };

/* A fit that checkpoints can be of: every solver and loop, restarts, sparsity continuation, and starts on a sketch. */
static const struct scenario {
    const char *basis, *codes, *solver, *precision;
    int64_t rank, sparsity, restarts, samples;
} scenarios[] = {
    {"orthonormal", "sparse-sphere", "fast", "f64", 3, 2, 2, SAMPLES},
    {"nonnegative", "nonneg-sphere", "fast", "f32", 2, 0, 2, SAMPLES},
    {"free", "one-hot", "fast", "f64", 3, 0, 2, SAMPLES},
    {"orthonormal", "sphere", "palm", "f32", 2, 0, 1, SAMPLES},
    {"nonnegative", "nonneg", "mu", "f64", 2, 0, 1, SAMPLES},
    {"unit", "nonneg-sparse-sphere", "fast", "f32", 2, 1, 1, MANY},
};
enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

static armilla_data *make_data(armilla_context *context, const struct scenario *s)
{
    static float X[FEATURES * MANY];
    armilla_data *data = NULL;
    for (int64_t i = 0; i < FEATURES * s->samples; i++) X[i] = (float)(i * 7919 % 101) + 1;
    if (armilla_data_wrap_dense(context, ARMILLA_F32, X, FEATURES, s->samples, FEATURES, &data) != ARMILLA_OK)
        return NULL;
    return data;
}

static armilla_options options_of(const struct scenario *s)
{
    armilla_options options;
    armilla_options_default(&options);
    options.rank = s->rank;
    options.basis = s->basis;
    options.codes = s->codes;
    options.solver = s->solver;
    options.precision = s->precision;
    options.sparsity = s->sparsity;
    options.restarts = s->restarts;
    options.max_iter = 3;
    options.tol = 0;
    options.threads = 1;
    return options;
}

/* What a file of the scenario says that it is of. */
static const char *record_of(armilla_context *context, size_t number)
{
    static char records[SCENARIOS][MOST_RECORD];
    const armilla_options options = options_of(&scenarios[number]);
    armilla_fit_state f;
    char *text = NULL;
    if (*records[number]) return records[number];
    armilla_data *data = make_data(context, &scenarios[number]);
    if (data && armilla_fit_open(context, data, &options, &f) == ARMILLA_OK) {
        if (armilla_checkpoint_describe(&f, &text) == ARMILLA_OK)
            snprintf(records[number], sizeof records[number], "%s", text);
        armilla_release(context, text);
        armilla_fit_close(&f, NULL);
    }
    armilla_data_free(data);
    return records[number];
}

/* The file in progress. */
static struct {
    unsigned char bytes[MOST_BYTES];
    size_t count, part; /* part: where the checksum in progress begins */
} built;

static void add(const void *bytes, size_t count)
{
    if (count > sizeof built.bytes - built.count) count = sizeof built.bytes - built.count;
    if (count) memcpy(built.bytes + built.count, bytes, count);
    built.count += count;
}

static void add_check(size_t from)
{
    const uint32_t check = __builtin_bswap32((uint32_t)crc32_z(0, built.bytes + from, built.count - from));
    add(&check, sizeof check);
    built.part = built.count;
}

/* How many of the bytes are the item in front: all of them where it is none. */
static size_t item_bytes(const unsigned char *bytes, size_t count)
{
    armilla_state_label label;
    if (count < sizeof label) return count;
    memcpy(&label, bytes, sizeof label);
    const int64_t left = (int64_t)(count - sizeof label),
                  size = label.type < 5 ? (int64_t)armilla_state_size(label.type) : 1;
    if (label.rows < 0 || label.columns < 0 || label.rows > left || label.columns > left) return count;
    const int64_t wanted = label.rows * label.columns * size;
    return wanted > left ? count : sizeof label + (size_t)wanted;
}

static void build(const char *record, const unsigned char *bytes, size_t count)
{
    armilla_state_opening opening = {.format = ARMILLA_STATE_FORMAT, .text = (uint32_t)strlen(record)};
    armilla_state_closing closing = {.mark = {'D', 'O', 'N', 'E'}};
    built.count = built.part = 0;
    memcpy(opening.magic, ARMILLA_STATE_MAGIC, sizeof opening.magic);
    add(&opening, sizeof opening);
    add(record, strlen(record));
    add_check(built.part);
    for (size_t part = 0; count > 0; bytes += part, count -= part, closing.items++) {
        part = item_bytes(bytes, count);
        add(bytes, part);
        add_check(built.part);
    }
    closing.bytes = (int64_t)(built.count + sizeof closing + sizeof(uint32_t));
    add(&closing, sizeof closing);
    add_check(0);
}

void fuzz_checkpoint(const fuzz_target *target, armilla_context *context, unsigned choice)
{
    const size_t number = (choice & 7) % SCENARIOS, count = fuzz_input_count;
    const armilla_options options = options_of(&scenarios[number]);
    armilla_checkpoint checkpoint;
    armilla_model *model = NULL;
    const char *record = record_of(context, number);
    armilla_data *data = make_data(context, &scenarios[number]);
    armilla_checkpoint_default(&checkpoint);
    checkpoint.resume = target->file;
    if (!(choice & RAW)) {
        build(record, fuzz_input, count);
        fuzz_files_clear(choice & 128 ? 7 : SIZE_MAX);
        fuzz_files_add(target->file, strlen(target->file), built.bytes, built.count);
    }
    fuzz_holds(data != NULL, "there are data");
    const armilla_status status = armilla_fit_checkpointed(context, data, &options, &checkpoint, &model);
    fuzz_holds((status == ARMILLA_OK) == (model != NULL), "a model is there if and only if the fit could go on");
    if (status != ARMILLA_OK) fuzz_failed_well(context, status);
    armilla_model_free(model);
    armilla_data_free(data);
}

/* Seeds: the items of every state between two steps. */

static armilla_status print_item(armilla_state_list *list, const armilla_state_item *item)
{
    const armilla_state_label label = armilla_state_label_of(item);
    const size_t column = (size_t)item->rows * armilla_state_size(item->type);
    bool fine = fwrite(&label, sizeof label, 1, list->self) == 1;
    for (int64_t j = 0; j < item->columns && fine && column > 0; j++)
        fine = fwrite((const char *)item->values + j * item->stride, column, 1, list->self) == 1;
    return fine ? ARMILLA_OK : ARMILLA_IO_ERROR;
}

static bool print_state(armilla_fit_state *f, const char *folder, size_t number, int step)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%zu-%02d", folder, number, step);
    FILE *file = fopen(path, "wb");
    if (!file) return false;
    bool fine = fputc((int)number, file) == (int)number;
    fine = fine && armilla_state_each(f->context, armilla_fit_list, f, print_item, file) == ARMILLA_OK;
    return fclose(file) == 0 && fine;
}

bool fuzz_print_states(const char *folder)
{
    const armilla_allocator allocator = fuzz_allocator();
    armilla_context *context = NULL;
    bool fine = armilla_context_new(&allocator, &context) == ARMILLA_OK;
    for (size_t number = 0; number < SCENARIOS && fine; number++) {
        const armilla_options options = options_of(&scenarios[number]);
        armilla_data *data = make_data(context, &scenarios[number]);
        armilla_fit_state f;
        bool ended = false;
        fine = data && armilla_fit_open(context, data, &options, &f) == ARMILLA_OK;
        for (int step = 0; fine && !ended; step++) {
            /* Codes of many samples would make inputs long, and are no more to look at than those of few. */
            const bool brief = scenarios[number].samples < MANY || f.restarts.phase < ARMILLA_FIT_ITERATE;
            fine = !brief || print_state(&f, folder, number, step);
            fine = fine && armilla_fit_step(&f, &ended) == ARMILLA_OK;
            if (fine && ended && brief) fine = print_state(&f, folder, number, step + 1);
        }
        if (data && fine) armilla_fit_close(&f, NULL);
        armilla_data_free(data);
    }
    armilla_context_free(context);
    return fine;
}

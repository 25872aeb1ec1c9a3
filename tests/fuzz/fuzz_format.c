/* Data out of an input: what can be opened is looked at from end to end, so that a bad index or name shows. */
#include "fuzz.h"

#include "files/stream.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FEATURES = 1 << 16 };

static void read_names(const armilla_data *data)
{
    const int64_t counts[ARMILLA_NAMING_COUNT] = {armilla_data_features(data), armilla_data_samples(data),
                                                  armilla_data_samples(data)};
    for (int kind = 0; kind < ARMILLA_NAMING_COUNT; kind++)
        for (int64_t i = 0; i < counts[kind]; i++) {
            const char *name = armilla_data_name(data, (armilla_naming)kind, i);
            if (!name) break;
            fuzz_holds(strlen(name) < FUZZ_MEMORY, "names end");
        }
}

/* How reading an open file may end: what is streamed is looked at only then. */
static bool is_end(const armilla_context *context, const armilla_data *data, armilla_status status)
{
    if (status != ARMILLA_OK && armilla_data_bytes_read(data) >= 0) fuzz_failed_well(context, status);
    return status == ARMILLA_OK || status == ARMILLA_NO_MEMORY || armilla_data_bytes_read(data) >= 0;
}

static void read_samples(armilla_context *context, const armilla_data *data)
{
    const int64_t m = armilla_data_features(data), n = armilla_data_samples(data), places[] = {0, n / 2, n - 1};
    if (m > MOST_FEATURES) return;
    double *sample = malloc((size_t)m * sizeof *sample);
    fuzz_holds(sample != NULL, "there is memory");
    for (int i = 0; i < 3; i++) {
        const armilla_status status = armilla_data_sample(context, data, places[i], sample);
        fuzz_holds(is_end(context, data, status), "a sample can be had");
    }
    free(sample);
}

static void look_at(armilla_context *context, const armilla_data *data)
{
    armilla_data_facts facts;
    const int64_t m = armilla_data_features(data), n = armilla_data_samples(data);
    fuzz_holds(m >= 1 && n >= 1, "data have features and samples");
    const armilla_status status = armilla_data_survey(context, data, 1, &facts);
    fuzz_holds(is_end(context, data, status), "data can be surveyed");
    if (status == ARMILLA_OK) fuzz_holds(facts.bad_sample < n && facts.bad_feature < m, "what is found is inside");
    read_names(data);
    read_samples(context, data);
}

static void open_and_look(armilla_context *context, const char *path, const armilla_read_options *options,
                          const armilla_selection *selection)
{
    armilla_data *data = NULL, *kept = NULL;
    armilla_status status = armilla_data_open(context, path, options, &data);
    fuzz_holds((status == ARMILLA_OK) == (data != NULL), "data are there if and only if they could be read");
    if (status == ARMILLA_OK && selection) status = armilla_data_select(context, data, selection, &kept);
    if (status != ARMILLA_OK) fuzz_failed_well(context, status);
    if (status == ARMILLA_OK) look_at(context, kept ? kept : data);
    armilla_data_free(kept);
    armilla_data_free(data);
}

void fuzz_data(const fuzz_target *target, armilla_context *context, unsigned choice)
{
    enum { LITTLE = 64 << 10 }; /* bytes; all arrays that may be are spilled (ARMILLA_SPILL_PART) */
    static const char *const columns[] = {NULL, "1", "label", "3"};
    const bool spills = (choice & 192) == 192;
    const armilla_read_options options = {
        .size = sizeof(armilla_read_options),
        .format = target->format,
        .sample_columns = choice & 1,
        .label_column = columns[choice >> 1 & 3],
        .name_column = columns[choice >> 3 & 3],
        .array = choice & 32 ? "X" : NULL,
        .keep_missing = choice & 32,
        .decimal = choice & 128 ? "comma" : NULL,
        .threads = 1,
        .memory = spills        ? LITTLE
                  : choice & 64 ? FUZZ_MEMORY / 4
                                : 0,
        .spill = spills ? "out" : NULL,
    };
    open_and_look(context, target->file, &options, NULL);
}

void fuzz_streamed(const fuzz_target *target, armilla_context *context, unsigned choice)
{
    const armilla_read_options options = {.size = sizeof(armilla_read_options),
                                          .sample_columns = choice & 1,
                                          .array = choice & 32 ? "X" : NULL,
                                          .threads = 1};
    armilla_data *data = NULL;
    armilla_context_set_memory(context, FUZZ_MEMORY / 2);
    struct stat facts = {.st_size = 0};
    if (context->io->stat(target->file, &facts) != 0) return;
    const armilla_streaming file = {.path = target->file, .bytes = facts.st_size};
    const armilla_status status = armilla_stream_open(context, &file, &options, &data);
    fuzz_holds(status == ARMILLA_OK || !data, "data are there only if they could be read");
    if (status != ARMILLA_OK) fuzz_failed_well(context, status);
    if (data) look_at(context, data);
    armilla_data_free(data);
}

static const char three[] = "a,1,2\nb,3,4\nc,5,6\n";

void fuzz_labels(const fuzz_target *target, armilla_context *context, unsigned choice)
{
    const armilla_read_options options = {
        .size = sizeof(armilla_read_options), .format = "csv", .labels = target->file, .threads = 1};
    (void)choice;
    fuzz_files_add("three", strlen("three"), three, strlen(three));
    open_and_look(context, "three", &options, NULL);
}

void fuzz_keep(const fuzz_target *target, armilla_context *context, unsigned choice)
{
    const armilla_read_options options = {.size = sizeof(armilla_read_options), .format = "csv", .threads = 1};
    const armilla_selection selection = {.size = sizeof(armilla_selection),
                                         .samples = choice & 1 ? target->file : NULL,
                                         .features = choice & 1 ? NULL : target->file};
    fuzz_files_add("three", strlen("three"), three, strlen(three));
    open_and_look(context, "three", &options, &selection);
}

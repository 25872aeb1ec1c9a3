/* The targets, and one input through one of them. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const fuzz_target targets[] = {
    {"npy", FUZZ_FILE, "npy", "data.npy", fuzz_data},
    {"csv", FUZZ_FILE, "csv", "data.csv", fuzz_data},
    {"mtx", FUZZ_FILE, "mtx", "data.mtx", fuzz_data},
    {"svmlight", FUZZ_FILE, "svmlight", "data.svm", fuzz_data},
    {"idx", FUZZ_FILE, "idx", "data.idx", fuzz_data},
    {"fvecs", FUZZ_FILE, "fvecs", "data.fvecs", fuzz_data},
    {"bvecs", FUZZ_FILE, "bvecs", "data.bvecs", fuzz_data},
    {"ivecs", FUZZ_FILE, "ivecs", "data.ivecs", fuzz_data},
    {"fbin", FUZZ_FILE, "fbin", "data.fbin", fuzz_data},
    {"i8bin", FUZZ_FILE, "i8bin", "data.i8bin", fuzz_data},
    {"safetensors", FUZZ_FILE, "safetensors", "data.safetensors", fuzz_data},
    {"word2vec", FUZZ_FILE, "word2vec", "data.bin", fuzz_data},
    {"glove", FUZZ_FILE, "glove", "data.glove", fuzz_data},
    {"images", FUZZ_FILE, "images", "data.png", fuzz_data},
    {"folder", FUZZ_DIRECTORY, "images", "folder", fuzz_data},
    {"10x", FUZZ_DIRECTORY, "10x", "folder", fuzz_data},
    {"npz", FUZZ_ARCHIVE, "npz", "data.npz", fuzz_data},
    {"zip", FUZZ_FILE, "npz", "data.npz", fuzz_data},
    {"any", FUZZ_FILE, NULL, "data.csv.gz", fuzz_data}, /* gzip, and what the content is taken for */
    {"streamed", FUZZ_FILE, NULL, "data.npy", fuzz_streamed},
    {"streamed-fvecs", FUZZ_FILE, NULL, "data.fvecs", fuzz_streamed},
    {"streamed-ivecs", FUZZ_FILE, NULL, "data.ivecs", fuzz_streamed},
    {"streamed-fbin", FUZZ_FILE, NULL, "data.fbin", fuzz_streamed},
    {"streamed-npz", FUZZ_ARCHIVE, NULL, "data.npz", fuzz_streamed},
    {"labels", FUZZ_FILE, NULL, "labels", fuzz_labels},
    {"keep", FUZZ_FILE, NULL, "keep", fuzz_keep},
    {"model", FUZZ_ARCHIVE, NULL, "model.npz", fuzz_model},
    {"checkpoint", FUZZ_FILE, NULL, "checkpoint", fuzz_checkpoint},
};

const fuzz_target *fuzz_targets_row(size_t index)
{
    return index < sizeof targets / sizeof *targets ? &targets[index] : NULL;
}

const fuzz_target *fuzz_targets_find(const char *name, size_t length)
{
    for (size_t i = 0; fuzz_targets_row(i); i++)
        if (strlen(targets[i].name) == length && strncmp(targets[i].name, name, length) == 0) return &targets[i];
    return NULL;
}

void fuzz_holds(bool truth, const char *message)
{
    if (truth) return;
    fprintf(stderr, "broken: %s\n", message);
    abort();
}

const unsigned char *fuzz_input;
size_t fuzz_input_count;

static char refusal[512];

const char *fuzz_refusal(void)
{
    return refusal;
}

void fuzz_failed_well(const armilla_context *context, armilla_status status)
{
    const char *message = armilla_context_error(context);
    fuzz_holds(status == ARMILLA_BAD_DATA || status == ARMILLA_NO_MEMORY || status == ARMILLA_BAD_ARGUMENT ||
                   status == ARMILLA_CANNOT_OPEN || status == ARMILLA_NOT_BUILT,
               "a bad file is the fault of the file");
    fuzz_holds(*message != '\0', "a failure has a message");
    fuzz_holds(!strchr(message, '\n'), "a message has one line");
    snprintf(refusal, sizeof refusal, "%s", message);
}

void fuzz_one(const fuzz_target *target, const unsigned char *bytes, size_t count)
{
    const armilla_allocator allocator = fuzz_allocator();
    armilla_context *context = NULL;
    refusal[0] = '\0';
    if (count < 2) return;
    const unsigned choice = bytes[0];
    fuzz_input = bytes + 1;
    fuzz_input_count = count - 1;
    fuzz_files_clear(choice & 128 ? 7 : SIZE_MAX);
    fuzz_unpack(target, bytes + 1, count - 1);
    fuzz_holds(armilla_context_new(&allocator, &context) == ARMILLA_OK, "there is a context");
    context->io = &fuzz_io;
    target->run(target, context, choice);
    armilla_context_free(context);
    fuzz_holds(fuzz_live() == 0, "everything is released");
}

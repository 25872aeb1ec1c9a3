/* armilla-convert IN OUT: reads a file by HDF5 or matio and writes it as the ending of OUT says, .npz for what keeps
 * names. One line on standard error and an exit status tell what went wrong, as those of armilla do. */
#include "convert.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: armilla-convert IN OUT [--array NAME] [--samples rows|columns] [--memory BYTES] [--to FORMAT] [--force]\n"
    "\n"
    "Reads .h5ad (AnnData), 10x .h5 and MATLAB's .mat (version 5 and 7.3), and writes OUT with one sample per row:\n"
    ".npz keeps names of features and samples. OUT may be /dev/stdout. --array chooses among several matrices\n"
    "(h5ad: X, raw/X, layers/NAME); --samples says what a sample is in a .mat.\n";

typedef struct request {
    const char *in, *out, *array, *samples, *memory, *to;
    bool force, help;
} request;

/* Options with a value. */
static const struct word {
    const char *name;
    size_t offset;
} words[] = {{"--array", offsetof(request, array)},
             {"--samples", offsetof(request, samples)},
             {"--memory", offsetof(request, memory)},
             {"--to", offsetof(request, to)}};

static const char **find_word(request *wanted, const char *name)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].name, name) == 0) return (const char **)(void *)((char *)wanted + words[i].offset);
    return NULL;
}

static armilla_status parse(conversion *c, char **arguments, request *wanted)
{
    for (; *arguments; arguments++) {
        const char **word = find_word(wanted, *arguments);
        if (word && !arguments[1]) return refuse(c, ARMILLA_BAD_ARGUMENT, "%s needs a value", *arguments);
        if (word)
            *word = *++arguments;
        else if (strcmp(*arguments, "--force") == 0)
            wanted->force = true;
        else if (strcmp(*arguments, "--help") == 0 || strcmp(*arguments, "-h") == 0)
            wanted->help = true;
        else if (!wanted->in)
            wanted->in = *arguments;
        else if (!wanted->out)
            wanted->out = *arguments;
        else
            return refuse(c, ARMILLA_BAD_ARGUMENT, "'%s' is one argument too many (see --help)", *arguments);
    }
    if (wanted->help) return ARMILLA_OK;
    if (!wanted->out) return refuse(c, ARMILLA_BAD_ARGUMENT, "IN and OUT are needed (see --help)");
    if (wanted->samples && strcmp(wanted->samples, "rows") != 0 && strcmp(wanted->samples, "columns") != 0)
        return refuse(c, ARMILLA_BAD_ARGUMENT, "--samples: '%s' is unknown; give rows or columns", wanted->samples);
    return ARMILLA_OK;
}

static armilla_status choose(conversion *c, armilla_status (**read)(conversion *c, matrix *made))
{
    static const char hdf5[] = "\x89HDF\r\n\x1a\n";
    char head[128] = "";
    FILE *file = fopen(c->path, "rbe");
    if (!file)
        return refuse(c, ARMILLA_CANNOT_OPEN, "%s: cannot be opened; check the name and the permissions", c->path);
    const size_t count = fread(head, 1, sizeof head - 1, file);
    fclose(file);
    const size_t length = strlen(c->path);
    if (count >= 8 && memcmp(head, hdf5, 8) == 0)
        *read = read_hdf5;
    else if (strncmp(head, "MATLAB ", 7) == 0 || (length > 4 && strcmp(c->path + length - 4, ".mat") == 0))
        *read = read_mat;
    else
        return refuse(c, ARMILLA_BAD_DATA, "%s: is neither an HDF5 file nor one of MATLAB's", c->path);
    return ARMILLA_OK;
}

static armilla_status wrap(conversion *c, const matrix *made, armilla_data **data)
{
    armilla_status status =
        made->sparse ? armilla_data_wrap_sparse(c->context, made->type, made->index, made->values, made->places,
                                                made->starts, made->m, made->n, data)
                     : armilla_data_wrap_dense(c->context, made->type, made->values, made->m, made->n, made->m, data);
    for (int kind = 0; kind < ARMILLA_NAMING_COUNT && status == ARMILLA_OK; kind++)
        if (made->names[kind].count > 0)
            status = armilla_data_set_names(*data, (armilla_naming)kind, (const char *const *)made->names[kind].texts,
                                            made->names[kind].count);
    if (status != ARMILLA_OK) (void)refuse(c, status, "%s: %s", c->path, armilla_context_error(c->context));
    return status;
}

static armilla_status convert(conversion *c, const request *wanted)
{
    const armilla_write_options options = {.format = wanted->to, .overwrite = wanted->force};
    armilla_status (*read)(conversion *, matrix *) = NULL;
    matrix made = {.m = 0};
    armilla_data *data = NULL;
    armilla_status status = choose(c, &read);
    if (status == ARMILLA_OK) status = armilla_data_write_check(c->context, wanted->out, &options);
    if (status == ARMILLA_OK) status = read(c, &made);
    if (status == ARMILLA_OK) status = wrap(c, &made, &data);
    if (status == ARMILLA_OK) status = armilla_data_write(c->context, data, wanted->out, &options);
    armilla_data_free(data);
    matrix_free(&made);
    return status;
}

int main(int count, char **arguments)
{
    request wanted = {.in = NULL};
    conversion c = {.path = ""};
    armilla_status status = armilla_context_new(NULL, &c.context);
    if (status == ARMILLA_OK) status = parse(&c, arguments + (count > 0), &wanted);
    if (status == ARMILLA_OK && wanted.help) {
        fputs(usage, stdout);
    } else if (status == ARMILLA_OK) {
        limits_set(wanted.memory ? strtoll(wanted.memory, NULL, 10) : 0);
        c.path = wanted.in;
        c.array = wanted.array;
        c.sample_columns = wanted.samples && strcmp(wanted.samples, "columns") == 0;
        status = convert(&c, &wanted);
    }
    if (status != ARMILLA_OK)
        fprintf(stderr, "armilla-convert: %s\n",
                c.error[0]  ? c.error
                : c.context ? armilla_context_error(c.context)
                            : "out of memory");
    armilla_context_free(c.context);
    return armilla_status_exit(status);
}

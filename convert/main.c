/* armilla-convert IN > OUT.npz: reads a file of HDF5's or MATLAB's and writes it to its standard output. One line on
 * standard error and an exit status tell what went wrong, as those of armilla do. It is run by armilla, whose command
 * line is parsed there: this program has places instead of options. */
#include "convert.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char usage[] =
    "usage: armilla-convert IN [ARRAY [SAMPLES [MEMORY [LABELS]]]] > OUT.npz\n"
    "\n"
    "Reads .h5ad (AnnData), 10x .h5 and MATLAB's .mat (versions 4, 5 and 7.3), and writes an .npz with one sample per\n"
    "row and the names of features and samples. ARRAY chooses among several matrices (h5ad: X, raw/X, layers/NAME, obsm/NAME),\n"
    "SAMPLES says whether a sample of a .mat is one of its rows or columns, MEMORY is a limit in bytes, LABELS is\n"
    "the column of obs, or the vector of a .mat, that has the labels of samples; '' stands for what is not given.\n"
    "armilla convert IN OUT runs this by itself, and writes other formats; its options for these are --array, --samples,\n"
    "--memory, and --label-column or --label-array, by which messages name them.\n";

/* Places of the arguments: a file may be called anything. */
enum { IN = 1, ARRAY, SAMPLES, MEMORY, LABELS, PLACES };

/* The argument at that place; "" where it is not given. */
static const char *argument(int count, char **arguments, int place)
{
    return place < count ? arguments[place] : "";
}

static armilla_status take_samples(conversion *c, const char *word)
{
    c->sample_columns = strcmp(word, "columns") == 0;
    if (!*word || c->sample_columns || strcmp(word, "rows") == 0) return ARMILLA_OK;
    return refuse(c, ARMILLA_BAD_ARGUMENT, "SAMPLES: '%s' is unknown; give rows or columns (see --help)", word);
}

/* 0 is no limit of its own, as if nothing were given. */
static armilla_status take_memory(conversion *c, const char *word, int64_t *memory)
{
    char *end = NULL;
    errno = 0;
    *memory = strtoll(word, &end, 10);
    if (!*word || (*end == '\0' && errno == 0 && *memory >= 0)) return ARMILLA_OK;
    return refuse(c, ARMILLA_BAD_ARGUMENT, "MEMORY: '%s' is no number of bytes (see --help)", word);
}

static armilla_status take_arguments(conversion *c, int count, char **arguments, int64_t *memory)
{
    if (count <= IN) return refuse(c, ARMILLA_BAD_ARGUMENT, "IN is needed (see --help)");
    if (count > PLACES)
        return refuse(c, ARMILLA_BAD_ARGUMENT, "'%s' is one argument too many (see --help)", arguments[PLACES]);
    const char *array = argument(count, arguments, ARRAY), *labels = argument(count, arguments, LABELS);
    c->path = arguments[IN];
    c->array = *array ? array : NULL;
    c->labels = *labels ? labels : NULL;
    armilla_status status = take_samples(c, argument(count, arguments, SAMPLES));
    if (status == ARMILLA_OK) status = take_memory(c, argument(count, arguments, MEMORY), memory);
    if (status == ARMILLA_OK && isatty(STDOUT_FILENO))
        status = refuse(c, ARMILLA_BAD_ARGUMENT, "the output is no text: send it to a file (> OUT.npz)");
    return status;
}

/* Messages name the options of `armilla`, whose users read them. */
static void word_option(void *user, const char *field, const char *value, char *text, size_t size)
{
    (void)user;
    snprintf(text, size, "--%s%s%s", field, value ? " " : "", value ? value : "");
}

/* Maps the input: it is open no more, and nothing has to be opened or read again. */
static armilla_status map_input(conversion *c)
{
    struct stat facts;
    void *bytes = MAP_FAILED;
    const int file = open(c->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file < 0)
        return refuse(c, ARMILLA_CANNOT_OPEN, "%s: cannot be opened: %s; check the name and the permissions", c->path,
                      strerror(errno));
    const bool regular = fstat(file, &facts) == 0 && S_ISREG(facts.st_mode);
    if (regular && facts.st_size > 0) bytes = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (!regular) return refuse(c, ARMILLA_BAD_DATA, "%s: is no file; copy it into one", c->path);
    if (facts.st_size == 0) return refuse(c, ARMILLA_BAD_DATA, "%s: is empty; copy it again", c->path);
    if (bytes == MAP_FAILED) return refuse(c, ARMILLA_NO_MEMORY, "%s: out of memory", c->path);
    c->bytes = bytes;
    c->size = (size_t)facts.st_size;
    return ARMILLA_OK;
}

/* The files that are known, each by its beginning, and by its name where that says nothing. */
static bool is_hdf5(const conversion *c)
{
    return c->size >= 8 && memcmp(c->bytes, "\x89HDF\r\n\x1a\n", 8) == 0;
}

/* Version 5 is 0x0100 and 7.3 0x0200, in the order of bytes that the two letters behind it tell. */
static int matlab_version(const conversion *c)
{
    if (c->size < 128) return 0;
    const unsigned char *end = c->bytes + 124;
    return memcmp(end + 2, "IM", 2) == 0 ? end[1] : memcmp(end + 2, "MI", 2) == 0 ? end[0] : 0;
}

static bool is_mat73(const conversion *c)
{
    return matlab_version(c) == 2;
}

static bool is_mat5(const conversion *c)
{
    return matlab_version(c) == 1;
}

static bool is_mat4(const conversion *c)
{
    const size_t length = strlen(c->path);
    return length > 4 && strcmp(c->path + length - 4, ".mat") == 0;
}

static const struct kind {
    bool (*recognize)(const conversion *c);
    armilla_status (*read)(conversion *c, matrix *made);
} kinds[] = {{is_hdf5, read_hdf5}, {is_mat73, read_mat73}, {is_mat5, read_mat5}, {is_mat4, read_mat4}};

static armilla_status read_any(conversion *c, matrix *made)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].recognize(c)) return kinds[i].read(c, made);
    return refuse(c, ARMILLA_BAD_DATA, "%s: is neither an HDF5 file nor one of MATLAB's", c->path);
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

static armilla_status convert(conversion *c, int64_t memory)
{
    const armilla_write_options options = {.size = sizeof(armilla_write_options), .format = "npz"};
    matrix made = {.m = 0};
    armilla_data *data = NULL;
    armilla_status status = map_input(c);
    if (status == ARMILLA_OK) status = limits_set(c, memory);
    if (status == ARMILLA_OK) status = read_any(c, &made);
    if (status == ARMILLA_OK) status = wrap(c, &made, &data);
    if (status == ARMILLA_OK) status = armilla_data_write(c->context, data, "/dev/stdout", &options);
    armilla_data_free(data);
    matrix_free(&made);
    return status;
}

/* Descriptors and variables of whoever started this are not for libraries that read foreign files: HDF5 would load
 * what its variables name. */
static void leave_behind(void)
{
    if (syscall(__NR_close_range, STDERR_FILENO + 1, ~0u, 0) != 0)
        for (int file = STDERR_FILENO + 1; file < 1024; file++) (void)close(file);
    (void)clearenv();
}

int main(int count, char **arguments)
{
    conversion c = {.path = ""};
    int64_t memory = 0;
    leave_behind();
    if (count == 2 && strcmp(arguments[IN], "--help") == 0) {
        fputs(usage, stdout);
        return armilla_status_exit(fflush(stdout) == 0 ? ARMILLA_OK : ARMILLA_IO_ERROR);
    }
    armilla_status status = armilla_context_new(NULL, &c.context);
    if (status == ARMILLA_OK) armilla_context_set_wording(c.context, word_option, NULL);
    if (status == ARMILLA_OK) status = take_arguments(&c, count, arguments, &memory);
    if (status == ARMILLA_OK) status = convert(&c, memory);
    if (status == ARMILLA_OK) fputs(c.warnings, stderr);
    if (status != ARMILLA_OK)
        fprintf(stderr, "armilla-convert: %s\n",
                c.error[0]  ? c.error
                : c.context ? armilla_context_error(c.context)
                            : "out of memory");
    armilla_context_free(c.context);
    return armilla_status_exit(status);
}

/* Checks of output paths, and .npy arrays in the orientation that was asked for. */
#include "outputs.h"

#include "settings.h"
#include "signals.h"
#include "streams.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The directory part of path into buffer, "." where there is none; returns the name behind it. */
static const char *split(const char *path, char *buffer, size_t size)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        snprintf(buffer, size, ".");
    else if (slash == path)
        snprintf(buffer, size, "/");
    else
        snprintf(buffer, size, "%.*s", (int)(slash - path), path);
    return slash ? slash + 1 : path;
}

static bool same_file(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* Also for files that do not exist yet: then by their directory and name. */
static bool same_place(const char *a, const char *b)
{
    char first[PATH_MAX], second[PATH_MAX];
    if (strcmp(a, b) == 0 || same_file(a, b)) return true;
    return strcmp(split(a, first, sizeof first), split(b, second, sizeof second)) == 0 && same_file(first, second);
}

static bool same_letters(const char *a, const char *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char first = a[i] >= 'A' && a[i] <= 'Z' ? (char)(a[i] - 'A' + 'a') : a[i];
        const char second = b[i] >= 'A' && b[i] <= 'Z' ? (char)(b[i] - 'A' + 'a') : b[i];
        if (first != second) return false;
    }
    return true;
}

const char *outputs_ending(const char *path, const char *endings)
{
    const size_t length = strlen(path);
    for (const char *at = endings; *at; at += strspn(at, " ")) {
        const size_t word = strcspn(at, " ");
        if (word < length && same_letters(at, path + length - word, word)) return path + length - word;
        at += word;
    }
    return NULL;
}

/* The ending by which the path names a format of the library's table, or what no command writes under such an option;
 * NULL where it names none. */
static const char *foreign_ending(const char *path)
{
    static const char others[] =
        ".tsv .json .jsonl .svg .png .jpg .pdf .html .gz .bz2 .xz .zst .zip .xlsx .ods .parquet .feather .pkl .rds";
    const char *found = outputs_ending(path, others);
    armilla_table_row row;
    for (size_t i = 0; !found && armilla_table_get(ARMILLA_TABLE_FORMATS, i, &row); i++)
        if (row.alias[0] == '.') found = outputs_ending(path, row.alias);
    return found;
}

/* A name that ends like another kind of file would deceive whoever opens it; one with any other ending is fine, and
 * text may be called .txt. */
static armilla_status check_ending(cli_session *session, const output_path *output)
{
    const char *own = output->ending, *found = own ? foreign_ending(output->path) : NULL;
    if (!found || outputs_ending(output->path, own)) return ARMILLA_OK;
    if (strcmp(own, ".checkpoint") == 0)
        return fail(session, ARMILLA_BAD_ARGUMENT,
                    "%s: %s will be a checkpoint, and no %s file; give it another ending, such as .ckpt",
                    output->option, output->path, found);
    if (strcmp(own, ".csv") == 0 && outputs_ending(output->path, ".txt")) return ARMILLA_OK;
    return fail(session, ARMILLA_BAD_ARGUMENT, "%s: %s will be %s; give it the ending %s", output->option, output->path,
                strcmp(own, ".txt") == 0 || strcmp(own, ".csv") == 0 ? "text" : "another kind of file", own);
}

/* What is written there is meant to be lost. */
static bool is_null(const char *path)
{
    return same_file(path, "/dev/null");
}

/* The checkpoint that a fit goes on from is replaced by those that it writes. */
static bool is_resumed(const output_path *output)
{
    return output->resumed && same_file(output->resumed, output->path);
}

static armilla_status check_path(cli_session *session, const output_path *output)
{
    struct stat found;
    if (*output->path == '\0')
        return fail(session, ARMILLA_BAD_ARGUMENT, "%s: the name of a file is missing", output->option);
    if (streams_is(output->path)) return ARMILLA_OK;
    if (is_null(output->path)) return ARMILLA_OK;
    if (stat(output->path, &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode))
        return fail(session, ARMILLA_CANNOT_CREATE, "%s: is not a regular file and is not replaced; give another name",
                    output->path);
    return armilla_output_check(session->context, output->path, session->settings->force || is_resumed(output));
}

static armilla_status check_apart(cli_session *session, const output_path *outputs, size_t index)
{
    const char *path = outputs[index].path;
    if (is_null(path)) return ARMILLA_OK;
    for (size_t i = 0; i < index; i++)
        if (outputs[i].path && same_place(outputs[i].path, path))
            return fail(session, ARMILLA_BAD_ARGUMENT, "%s: %s is also given by %s; give each output a file of its own",
                        outputs[index].option, path, outputs[i].option);
    return ARMILLA_OK;
}

/* A folder of images or a 10x directory is all that it holds, and the folders of classes in it. */
static bool is_part_of(const char *folder, const char *path)
{
    char parent[PATH_MAX], outer[PATH_MAX];
    struct stat found;
    if (stat(folder, &found) != 0 || !S_ISDIR(found.st_mode)) return false;
    if (!outputs_ending(path, ".png .pgm .mtx .tsv .gz") || stat(path, &found) != 0) return false;
    (void)split(path, parent, sizeof parent);
    snprintf(outer, sizeof outer, "%.*s/..", PATH_MAX - 4, parent);
    return same_file(folder, parent) || same_file(folder, outer);
}

/* Whether a row of an option table takes the name of a file: its placeholder says so. */
static bool takes_file(const armilla_option *row)
{
    static const char *const words[] = {"FILE", "DATA", "LABELS", "MODEL"};
    if (row->kind != ARMILLA_OPTION_TEXT && row->kind != ARMILLA_OPTION_WORD) return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (row->value && strstr(row->value, words[i])) return true;
    return false;
}

/* Outputs are what the command checks, and the files beside them; every other file that is given is an input. */
static bool is_input(const output_path *outputs, size_t count, const char *given)
{
    for (size_t i = 0; i < count; i++)
        if (outputs[i].path == given) return false;
    return true;
}

/* No output may be a file that the command reads, whichever option names it. */
static armilla_status check_inputs(cli_session *session, const output_path *outputs, size_t count, const char *option,
                                   const char *input)
{
    for (size_t i = 0; i < count; i++) {
        const char *path = outputs[i].path;
        if (!path || streams_is(path) || is_null(path)) continue;
        if (input == outputs[i].resumed) continue;
        if (same_place(input, path) || is_part_of(input, path))
            return fail(session, ARMILLA_BAD_ARGUMENT, "%s: %s is an input (%s); give another name", outputs[i].option,
                        path, option);
    }
    return ARMILLA_OK;
}

static armilla_status check_options(cli_session *session, const output_path *outputs, size_t count)
{
    option_table tables[OPTION_TABLES];
    const size_t table_count = settings_tables(session->command, tables);
    armilla_status status = ARMILLA_OK;
    for (size_t t = 0; t < table_count; t++)
        for (const armilla_option *row = tables[t].rows; row->name && status == ARMILLA_OK;
             row = armilla_option_next(row)) {
            char option[64];
            if (!takes_file(row)) continue;
            const char *given = *(const char *const *)settings_at(session->settings, tables[t].offset + row->offset);
            snprintf(option, sizeof option, "--%s", row->name);
            if (given && is_input(outputs, count, given)) status = check_inputs(session, outputs, count, option, given);
        }
    return status;
}

armilla_status outputs_check(cli_session *session, const output_path *outputs, size_t count)
{
    const char *const *operands = session->settings->operands;
    armilla_status status = ARMILLA_OK;
    for (size_t i = 0; i < 2 && status == ARMILLA_OK; i++)
        if (operands[i]) status = check_inputs(session, outputs, count, session->command->operands[i], operands[i]);
    if (status == ARMILLA_OK) status = check_options(session, outputs, count);
    for (size_t i = 0; i < count && status == ARMILLA_OK; i++)
        if (outputs[i].path) status = check_apart(session, outputs, i);
    for (size_t i = 0; i < count && status == ARMILLA_OK; i++)
        if (outputs[i].path) status = check_ending(session, &outputs[i]);
    for (size_t i = 0; i < count && status == ARMILLA_OK; i++)
        if (outputs[i].path) status = check_path(session, &outputs[i]);
    return status;
}

armilla_status outputs_choose_temporary(cli_session *session, const char *path)
{
    static const char *const special[] = {"/dev/", "/proc/"};
    const char *out = path, *slash = out ? strrchr(out, '/') : NULL, *folder = getenv("TMPDIR");
    char beside[PATH_MAX] = ".";
    for (size_t i = 0; i < sizeof special / sizeof *special && out; i++)
        if (strncmp(out, special[i], strlen(special[i])) == 0) out = NULL;
    if (slash) snprintf(beside, sizeof beside, "%.*s", (int)(slash == path ? 1 : slash - path), path);
    if (!folder || !*folder) folder = "/var/tmp";
    return armilla_context_set_temporary(session->context, out ? beside : folder);
}

armilla_status outputs_require(cli_session *session, const char *command, const char *called)
{
    const bool format = session->settings->out && outputs_by_format(session);
    const output_path output = {"--out", session->settings->out, format ? NULL : ".npy", NULL};
    if (!output.path)
        return fail(session, ARMILLA_BAD_ARGUMENT, "%s: say where to write with --out %s", command, called);
    return outputs_check(session, &output, 1);
}

armilla_status outputs_begin_array(cli_session *session, const output_array *array, armilla_output **output)
{
    const cli_settings *settings = session->settings;
    const bool columns = array->sample_columns;
    armilla_output *made = NULL;
    signals_defer();
    armilla_status status = armilla_output_new(session->context, settings->out, settings->force, &made);
    if (status == ARMILLA_OK)
        status = armilla_output_npy_header(made, array->type, columns ? array->width : array->samples,
                                           columns ? array->samples : array->width, columns);
    if (status != ARMILLA_OK) {
        armilla_output_free(made);
        return status;
    }
    *output = made;
    return ARMILLA_OK;
}

armilla_status outputs_finish(cli_session *session, armilla_output *output)
{
    session->exit = signals_exit();
    return session->exit ? ARMILLA_OK : armilla_output_commit(output);
}

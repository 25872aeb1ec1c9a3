/* The formats table, and opening a file by it. */
#include "base/workload.h"
#include "files/stream.h"

#include "base/ascii.h"
#include "base/sized.h"
#include "files/doubts.h"
#include "files/output.h"
#include "files/table_facts.h"

#include <stdio.h>
#include <string.h>

enum { LISTED = 800 }; /* of a message, for all formats and their endings */

static const armilla_format *const formats[] = {
    &armilla_format_npy,         &armilla_format_npz,      &armilla_format_mtx,   &armilla_format_csv,
    &armilla_format_idx,         &armilla_format_svmlight, &armilla_format_10x,   &armilla_format_images,
    &armilla_format_hdf5,        &armilla_format_mat,      &armilla_format_fvecs, &armilla_format_bvecs,
    &armilla_format_ivecs,       &armilla_format_fbin,     &armilla_format_u8bin, &armilla_format_i8bin,
    &armilla_format_safetensors, &armilla_format_word2vec, &armilla_format_glove,
};

const armilla_format *armilla_formats_row(size_t index)
{
    return index < sizeof formats / sizeof *formats ? formats[index] : NULL;
}

const armilla_format *armilla_formats_find(const char *name)
{
    for (size_t i = 0; armilla_formats_row(i); i++)
        if (strcmp(armilla_formats_row(i)->name, name) == 0) return armilla_formats_row(i);
    return NULL;
}

/* "npy (.npy), csv (.csv .tsv .txt)", all or those that are directories */
static void join_formats(bool directories, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; armilla_formats_row(i) && used < size; i++) {
        const armilla_format *row = armilla_formats_row(i);
        if (directories && !row->read_directory) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s (%s)", used ? ", " : "", row->name, row->endings);
    }
}

bool armilla_has_ending(const char *endings, const char *path, size_t length)
{
    for (const char *at = endings; *at; at += strspn(at, " ")) {
        const size_t word = strcspn(at, " ");
        if (word <= length && armilla_ascii_begins(at, path + length - word, word)) return true;
        at += word;
    }
    return false;
}

armilla_status armilla_data_give(armilla_status status, armilla_data *made, armilla_data **data)
{
    if (status == ARMILLA_OK)
        *data = made;
    else
        armilla_data_free(made);
    return status;
}

static const char packed_ending[] = ".gz";

const armilla_format *armilla_formats_named(const char *path, size_t length)
{
    for (size_t i = 0; armilla_formats_row(i); i++) {
        const armilla_format *row = armilla_formats_row(i);
        if (row->by_name && armilla_has_ending(row->endings, path, length)) return row;
    }
    return NULL;
}

bool armilla_packed(const char *path, const armilla_format *format, const unsigned char *start, size_t count)
{
    if (!armilla_gzip_recognize(start, count)) return false;
    return !(format && format->by_name) || armilla_has_ending(packed_ending, path, strlen(path));
}

/* The length of the path without the ending that compression adds. */
static size_t stem_length(const armilla_bytes *bytes)
{
    const size_t length = strlen(bytes->path);
    const bool longer = bytes->unpacked && armilla_has_ending(packed_ending, bytes->path, length);
    return longer ? length - strlen(packed_ending) : length;
}

const armilla_format *armilla_formats_recognize(const unsigned char *start, size_t count)
{
    for (size_t i = 0; armilla_formats_row(i); i++) {
        const armilla_format *row = armilla_formats_row(i);
        if (row->recognize && row->recognize(start, count)) return row;
    }
    return NULL;
}

static const armilla_format *find_by_ending(const armilla_bytes *bytes)
{
    const size_t length = stem_length(bytes);
    for (size_t i = 0; armilla_formats_row(i); i++)
        if (armilla_formats_row(i)->read && armilla_has_ending(armilla_formats_row(i)->endings, bytes->path, length))
            return armilla_formats_row(i);
    return NULL;
}

/* Text whose name says nothing, such as standard input's: a table. */
static bool is_plain_text(const armilla_bytes *bytes)
{
    enum { LOOKED_AT = 4096 };
    const char *slash = strrchr(bytes->path, '/'), *name = slash ? slash + 1 : bytes->path;
    const size_t count = bytes->count < LOOKED_AT ? bytes->count : LOOKED_AT;
    for (size_t i = 0; i < count; i++)
        if (bytes->start[i] < ' ' && !memchr("\t\r\n", bytes->start[i], 3)) return false;
    return count > 0 && !strchr(name, '.');
}

static armilla_status choose(armilla_context *context, const armilla_bytes *bytes, const armilla_format **format)
{
    char all[LISTED];
    *format = armilla_formats_named(bytes->path, stem_length(bytes));
    if (*format) return ARMILLA_OK;
    armilla_status status = armilla_refuse_container(context, bytes);
    if (status != ARMILLA_OK) return status;
    *format = armilla_formats_recognize(bytes->start, bytes->count);
    if (!*format) *format = find_by_ending(bytes);
    if (!*format && is_plain_text(bytes)) *format = &armilla_format_csv;
    if (*format) return ARMILLA_OK;
    join_formats(false, all, sizeof all);
    return armilla_fail(context, ARMILLA_BAD_DATA,
                        "%s: this kind of file is unknown; name its format (" ARMILLA_FIELD("format") "): %s",
                        bytes->path, all);
}

static armilla_status unknown_format(armilla_context *context, const char *name)
{
    char all[LISTED];
    join_formats(false, all, sizeof all);
    return armilla_fail(context, ARMILLA_BAD_ARGUMENT, "format '%s' is unknown; choices: %s", name, all);
}

static armilla_status wrong_kind(armilla_context *context, const char *path, const armilla_format *format)
{
    const bool directory = !format->read;
    return armilla_fail(context, ARMILLA_CANNOT_OPEN, "%s: is a %s, but data of the format %s are a %s; %s", path,
                        directory ? "file" : "directory", format->name, directory ? "directory" : "file",
                        directory ? "give the directory" : "give the name of a file in it");
}

/* *format = the first that the directory is of; NULL stays where it is of none. */
static armilla_status find_directory(armilla_context *context, const char *path, const armilla_format **format)
{
    armilla_status status = ARMILLA_OK;
    for (size_t i = 0; armilla_formats_row(i) && !*format && status == ARMILLA_OK; i++) {
        const armilla_format *row = armilla_formats_row(i);
        bool found = false;
        if (row->recognize_directory) status = row->recognize_directory(context, path, &found);
        if (found) *format = row;
    }
    return status;
}

static armilla_status unknown_directory(armilla_context *context, const char *path)
{
    char all[LISTED];
    join_formats(true, all, sizeof all);
    return armilla_fail(context, ARMILLA_CANNOT_OPEN,
                        "%s: is a directory, and none that holds data; give the name of a file in it, or a directory "
                        "of these kinds: %s",
                        path, all);
}

static armilla_status open_directory(armilla_context *context, const char *path, const armilla_format *format,
                                     const armilla_read_options *options, armilla_data **data)
{
    const armilla_status status = format ? ARMILLA_OK : find_directory(context, path, &format);
    if (status != ARMILLA_OK) return status;
    if (!format) return unknown_directory(context, path);
    if (!format->read_directory) return wrong_kind(context, path, format);
    armilla_read_options settled;
    const armilla_status fits = armilla_format_settle(context, path, format, options, &settled);
    return fits == ARMILLA_OK ? format->read_directory(context, path, &settled, data) : fits;
}

/* The bytes, unpacked, and *format where none is given. armilla_bytes_free undoes it, also after a failure. */
static armilla_status open_bytes(armilla_context *context, const char *path, const armilla_format **format,
                                 armilla_bytes *bytes)
{
    armilla_status status = armilla_bytes_open(context, path, bytes);
    if (status != ARMILLA_OK) return status;
    const armilla_format *known = *format ? *format : armilla_formats_named(path, strlen(path));
    if (armilla_packed(path, known, bytes->start, bytes->count)) status = armilla_bytes_unpack(context, bytes);
    if (status == ARMILLA_OK && *format == &armilla_format_csv) status = armilla_refuse_container(context, bytes);
    if (status == ARMILLA_OK && !*format) status = choose(context, bytes, format);
    return status;
}

static armilla_status read_file(armilla_context *context, const char *path, const armilla_format *format,
                                const armilla_read_options *options, armilla_data **data)
{
    armilla_bytes bytes = {.path = path};
    armilla_status status = open_bytes(context, path, &format, &bytes);
    armilla_read_options settled;
    if (status == ARMILLA_OK) status = armilla_format_settle(context, path, format, options, &settled);
    if (status == ARMILLA_OK) status = format->read(context, &bytes, &settled, data);
    armilla_bytes_free(context, &bytes);
    return status;
}

/* No rank needs all of a file that several ranks open: each reads its own samples, as they are wanted. */
static bool has_other_readers(const armilla_context *context)
{
    return context->ranks && context->ranks->count > 1;
}

/* What does not fit into memory is streamed, or what has to be done for that is said. */
static armilla_status open_file(armilla_context *context, const char *path, const struct stat *facts,
                                const armilla_format *format, const armilla_read_options *options, armilla_data **data)
{
    if (format && !format->read) return wrong_kind(context, path, format);
    const bool regular = S_ISREG(facts->st_mode) && facts->st_size > 0;
    const bool large = regular && !armilla_memory_holds(context, facts->st_size);
    const armilla_streaming file = {path, facts->st_size, format, !large};
    armilla_status status = ARMILLA_OK;
    if (large || (regular && has_other_readers(context))) status = armilla_stream_open(context, &file, options, data);
    if (status != ARMILLA_OK || *data) return status;
    status = read_file(context, path, format, options, data);
    if (!large || status != ARMILLA_NO_MEMORY || armilla_spill_allowed(context)) return status;
    return armilla_fail(
        context, status,
        "%s; or let `armilla convert` make it a .npy, or .npz where it is sparse, which is read piece by "
        "piece",
        armilla_context_error(context));
}

/* What is made of a file: armilla_data **, armilla_table_facts **. */
typedef armilla_status (*opener)(armilla_context *context, const char *path, const armilla_read_options *options,
                                 void *result);

static armilla_status open_any(armilla_context *context, const char *path, const armilla_read_options *options,
                               void *result)
{
    armilla_data **data = result;
    const armilla_format *format = options->format ? armilla_formats_find(options->format) : NULL;
    armilla_data *made = NULL;
    struct stat facts;
    if (options->format && !format) return unknown_format(context, options->format);
    if (context->io->stat(path, &facts) != 0) return armilla_cannot_open(context, path);
    armilla_status status = S_ISDIR(facts.st_mode) ? open_directory(context, path, format, options, &made)
                                                   : open_file(context, path, &facts, format, options, &made);
    const char *const texts[ARMILLA_NAMING_COUNT] = {options->feature_names, options->sample_names, options->labels};
    for (int kind = 0; kind < ARMILLA_NAMING_COUNT && status == ARMILLA_OK; kind++)
        if (texts[kind]) status = armilla_texts_attach(context, texts[kind], (armilla_naming)kind, made);
    if (status == ARMILLA_OK) status = armilla_doubt_labels(context, path, made);
    /* Readers that were stopped fail in their own words, or have gone on to their end. */
    if (armilla_call_stopped(context, NULL)) status = armilla_call_explain(context);
    return armilla_data_give(status, made, data);
}

void armilla_read_options_default_sized(armilla_read_options *options, size_t size)
{
    const armilla_read_options none = {.size = 0};
    armilla_sized_begin(&none, sizeof none, options, size);
}

/* What is read: a program that has said more, such as that it is text, is believed. */
static void tell_size(armilla_context *context, const char *path)
{
    struct stat facts;
    const armilla_workload workload = {
        .work = ARMILLA_WORK_READ,
        .bytes = context->io->stat(path, &facts) == 0 && S_ISREG(facts.st_mode) ? (int64_t)facts.st_size : 0,
        .text = true};
    if (context->planned)
        context->call.work = workload.work;
    else
        armilla_call_plan(context, &workload);
}

static armilla_status open_facts(armilla_context *context, const char *path, const armilla_read_options *options,
                                 void *result)
{
    const armilla_format *format = options->format ? armilla_formats_find(options->format) : NULL;
    armilla_bytes bytes = {.path = path};
    armilla_read_options settled;
    if (options->format && !format) return unknown_format(context, options->format);
    armilla_status status = open_bytes(context, path, &format, &bytes);
    if (status == ARMILLA_OK && format != &armilla_format_csv)
        status = armilla_fail(context, ARMILLA_BAD_DATA, "%s: is of the format %s, not a text table; give one", path,
                              format->name);
    if (status == ARMILLA_OK) status = armilla_format_settle(context, path, format, options, &settled);
    if (status == ARMILLA_OK) status = armilla_table_facts_read(context, &bytes, &settled, result);
    armilla_bytes_free(context, &bytes);
    return status;
}

/* A call in progress, with the options as the library has them. */
static armilla_status open_as(opener open, armilla_context *context, const char *path,
                              const armilla_read_options *options, void *result)
{
    armilla_read_options chosen = {.size = sizeof chosen};
    armilla_status status = ARMILLA_OK;
    if (options) status = armilla_sized_read(context, "armilla_read_options", options, &chosen, sizeof chosen);
    armilla_read_options recalled = {.size = sizeof recalled};
    if (status == ARMILLA_OK && chosen.recalled) {
        status = armilla_sized_read(context, "armilla_read_options", chosen.recalled, &recalled, sizeof recalled);
        chosen.recalled = &recalled;
    }
    if (status == ARMILLA_OK) status = armilla_about(context, path, armilla_call_enter(context, chosen.threads));
    if (status != ARMILLA_OK) return status;
    const int64_t outer = armilla_memory_enter(context, chosen.memory);
    const char *beside = armilla_spill_enter(
        context, chosen.spill && armilla_output_regular(context, chosen.spill) ? chosen.spill : NULL);
    tell_size(context, path);
    armilla_call_stage(context, ARMILLA_STAGE_READING);
    status = armilla_about(context, path, open(context, path, &chosen, result));
    armilla_call_leave(context);
    armilla_spill_leave(context, beside);
    armilla_memory_leave(context, outer);
    return status;
}

armilla_status armilla_data_open(armilla_context *context, const char *path, const armilla_read_options *options,
                                 armilla_data **data)
{
    const armilla_status status = ARMILLA_NOT_NULL(context, path, data);
    return status == ARMILLA_OK ? open_as(open_any, context, path, options, data) : status;
}

armilla_status armilla_table_facts_open(armilla_context *context, const char *path, const armilla_read_options *options,
                                        armilla_table_facts **facts)
{
    const armilla_status status = ARMILLA_NOT_NULL(context, path, facts);
    return status == ARMILLA_OK ? open_as(open_facts, context, path, options, facts) : status;
}

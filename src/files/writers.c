/* The writers table, and writing data by it. */
#include "files/write.h"

#include "base/number.h"
#include "base/sized.h"
#include "files/files.h"
#include "files/output.h"

#include <stdio.h>
#include <string.h>

static const armilla_writer *const writers[] = {
    &armilla_writer_npy,      &armilla_writer_npz, &armilla_writer_csv,  &armilla_writer_mtx,
    &armilla_writer_svmlight, &armilla_writer_idx, &armilla_writer_fbin, &armilla_writer_fvecs,
};

const armilla_writer *armilla_writers_row(size_t index)
{
    return index < sizeof writers / sizeof *writers ? writers[index] : NULL;
}

const armilla_writer *armilla_writers_find(const char *name)
{
    for (size_t i = 0; armilla_writers_row(i); i++)
        if (strcmp(armilla_writers_row(i)->name, name) == 0) return armilla_writers_row(i);
    return NULL;
}

static const armilla_writer *find_by_ending(const char *path)
{
    for (size_t i = 0; armilla_writers_row(i); i++)
        if (armilla_has_ending(armilla_writers_row(i)->endings, path, strlen(path))) return armilla_writers_row(i);
    return NULL;
}

/* "npy (.npy), npz (.npz)" */
static void join_writers(char *text, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; armilla_writers_row(i) && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s (%s)", i ? ", " : "", armilla_writers_row(i)->name,
                                 armilla_writers_row(i)->endings);
}

static armilla_status choose(armilla_context *context, const char *path, const char *format,
                             const armilla_writer **writer)
{
    char all[512] = "";
    *writer = format ? armilla_writers_find(format) : find_by_ending(path);
    if (*writer) return ARMILLA_OK;
    join_writers(all, sizeof all);
    if (format)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT, "format '%s' is not written; choices: %s", format, all);
    return armilla_fail(
        context, ARMILLA_BAD_ARGUMENT,
        "%s: its ending says no format that is written; name one (" ARMILLA_FIELD("write.format") "): %s", path, all);
}

/* What the file cannot hold is reported, since it would be missed only later. */
static void warn_of_loss(const armilla_writing *w, const armilla_writer *writer)
{
    static const char *const kinds[] = {"names of features", "names of samples", "labels"};
    for (int kind = 0; kind < ARMILLA_NAMING_COUNT; kind++)
        if (armilla_data_names(w->data, (armilla_naming)kind) && !(writer->keeps & 1u << kind))
            armilla_log(w->context, ARMILLA_LOG_WARNING, "%s: %s are not kept in this format; .npz and .csv keep them",
                        w->path, kinds[kind]);
}

armilla_status armilla_writing_go_on(const armilla_writing *w, int64_t done, int64_t total)
{
    return armilla_call_reached(w->context, done, total) ? armilla_call_explain(w->context) : ARMILLA_OK;
}

void armilla_write_options_default_sized(armilla_write_options *options, size_t size)
{
    const armilla_write_options none = {.size = 0};
    armilla_sized_begin(&none, sizeof none, options, size);
}

/* options may be NULL. */
static armilla_status read_options(armilla_context *context, const armilla_write_options *options,
                                   armilla_write_options *whole)
{
    armilla_write_options_default(whole);
    if (!options) return ARMILLA_OK;
    return armilla_sized_read(context, "armilla_write_options", options, whole, sizeof *whole);
}

armilla_status armilla_data_write(armilla_context *context, const armilla_data *data, const char *path,
                                  const armilla_write_options *options)
{
    armilla_write_options chosen;
    const armilla_writer *writer = NULL;
    armilla_status status = ARMILLA_NOT_NULL(context, data, path);
    if (status == ARMILLA_OK) status = read_options(context, options, &chosen);
    if (status == ARMILLA_OK) status = choose(context, path, chosen.format, &writer);
    if (status == ARMILLA_OK) status = armilla_call_enter(context, 0);
    if (status != ARMILLA_OK) return status;
    const char *outer = armilla_spill_enter(context, armilla_output_regular(context, path) ? path : NULL);
    const armilla_plain plain = armilla_plain_enter();
    const armilla_writing writing = {context, data, path, &chosen, plain.plain};
    warn_of_loss(&writing, writer);
    context->call.work = ARMILLA_WORK_WRITE;
    armilla_call_stage(context, ARMILLA_STAGE_WRITING);
    status =
        plain.plain ? writer->write(&writing) : armilla_fail(context, ARMILLA_NO_MEMORY, "%s: out of memory", path);
    armilla_plain_leave(plain);
    armilla_spill_leave(context, outer);
    armilla_call_leave(context);
    return status;
}

armilla_status armilla_data_write_check(armilla_context *context, const char *path,
                                        const armilla_write_options *options)
{
    armilla_write_options chosen;
    const armilla_writer *writer = NULL;
    armilla_status status = ARMILLA_NOT_NULL(context, path);
    if (status == ARMILLA_OK) status = read_options(context, options, &chosen);
    return status == ARMILLA_OK ? choose(context, path, chosen.format, &writer) : status;
}

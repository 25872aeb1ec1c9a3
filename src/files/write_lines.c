/* Files of lines. Threads put runs of lines into memory side by side, and the runs are written in their order: the bytes
 * do not depend on the threads. */
#include "base/size.h"
#include "base/team.h"
#include "files/output.h"
#include "files/write.h"

enum {
    RUN_NUMBERS = 1 << 16, /* that a thread puts at a time */
    NUMBER_BYTES = 48,     /* of the text of one at most, in a buffer that is doubled where it is full */
    PART = 4               /* of the memory left that runs may take */
};

/* A run of lines: its own panel, but for lines that are features, and its own text. */
typedef struct run {
    armilla_line_file file;
    armilla_status status;
} run;

typedef struct rounds {
    const armilla_line_format *format;
    armilla_line_file *file; /* that becomes the file */
    armilla_team team;
    run *runs;           /* one per thread */
    int64_t lines;       /* of a run */
    int64_t first, last; /* of the round in progress */
} rounds;

static int64_t numbers_of_line(const armilla_line_file *file, const armilla_line_format *format)
{
    const armilla_lines *l = &file->lines;
    return format->entries ? armilla_max64(1, armilla_data_stored(l->data) / l->count) : l->width;
}

/* A run has whole panels, or a panel one run. */
static void measure(rounds *r)
{
    armilla_lines *l = &r->file->lines;
    const int64_t line = numbers_of_line(r->file, r->format);
    r->lines = armilla_max64(1, armilla_min64(RUN_NUMBERS / line, l->count));
    if (r->lines > l->span) r->lines -= r->lines % l->span;
    if (!l->by_feature) l->span = armilla_min64(l->span, r->lines);
}

/* As many as have runs, and buffers in memory. */
static int64_t most_threads(const rounds *r)
{
    const armilla_lines *l = &r->file->lines;
    const armilla_type work = l->panel.kernels->type;
    const double panel = (double)l->data->ops->workspace(l->data, work, l->span) + 16.0 * (double)l->data->m;
    const double text = (double)NUMBER_BYTES * (double)r->lines * (double)numbers_of_line(r->file, r->format);
    const double fitting = (double)armilla_memory_left(l->context) / PART / (panel + text);
    return armilla_min64((l->count - 1) / r->lines + 1, (int64_t)fitting);
}

/* Whether run i uses the panel of the file. */
static bool is_shared(const rounds *r, int i)
{
    return i == 0 || r->file->lines.by_feature;
}

static armilla_status open_run(const rounds *r, int i)
{
    const armilla_lines *l = &r->file->lines;
    armilla_line_file *own = &r->runs[i].file;
    armilla_status status = armilla_output_new_memory(l->context, &own->output);
    own->w = r->file->w;
    if (status == ARMILLA_OK && is_shared(r, i))
        own->lines = *l;
    else if (status == ARMILLA_OK)
        status = armilla_lines_open(l->context, l->data, false, &own->lines);
    if (status == ARMILLA_OK) own->lines.span = l->span;
    return status;
}

static void close_runs(const rounds *r)
{
    for (int i = 0; r->runs && i < r->team.threads; i++) {
        armilla_output_free(r->runs[i].file.output);
        if (!is_shared(r, i)) armilla_lines_close(&r->runs[i].file.lines);
    }
    armilla_release(r->file->lines.context, r->runs);
}

static armilla_status put_lines(const armilla_line_format *format, armilla_line_file *file, int64_t first, int64_t last)
{
    armilla_status status = ARMILLA_OK;
    for (int64_t i = first; i < last && status == ARMILLA_OK; i++) status = format->put(file, format->self, i);
    return status;
}

/* The first run of a round is that of the calling thread, which says how far all of them are. */
static armilla_status put_reported(const rounds *r, int64_t first, int64_t last)
{
    armilla_line_file *file = &r->runs[0].file;
    armilla_status status = ARMILLA_OK;
    for (int64_t i = first; i < last && status == ARMILLA_OK; i++) {
        const int64_t all = armilla_min64(first + (i - first) * r->team.threads, r->last);
        status = armilla_writing_go_on(r->file->w, all, r->file->lines.count);
        if (status == ARMILLA_OK) status = r->format->put(file, r->format->self, i);
    }
    return status;
}

/* The first failure of a thread ends its share: its message is that of the first line. */
static void put_runs(void *self, int64_t first, int64_t last)
{
    const rounds *r = self;
    for (int64_t i = first; i < last; i++) {
        run *own = &r->runs[i];
        const int64_t start = armilla_min64(r->first + i * r->lines, r->last);
        const int64_t end = armilla_min64(start + r->lines, r->last);
        own->status = i == 0 ? put_reported(r, start, end) : put_lines(r->format, &own->file, start, end);
        if (own->status != ARMILLA_OK) return;
    }
}

/* Features are collected first, for all runs. */
static armilla_status collect(rounds *r)
{
    armilla_lines *l = &r->file->lines;
    armilla_column line;
    if (!l->by_feature) return ARMILLA_OK;
    const armilla_status status = armilla_lines_read(l, r->first, true, &line);
    r->last = armilla_min64(r->last, l->first + l->fitting);
    for (int i = 0; i < r->team.threads; i++) r->runs[i].file.lines = *l;
    return status;
}

static armilla_status write_round(rounds *r)
{
    armilla_status status = collect(r);
    if (status != ARMILLA_OK) return status;
    armilla_team_share(&r->team, r->team.threads, put_runs, r);
    for (int i = 0; i < r->team.threads && status == ARMILLA_OK; i++) {
        status = r->runs[i].status;
        if (status == ARMILLA_OK) status = armilla_output_move(r->runs[i].file.output, r->file->output);
        if (status == ARMILLA_OK) status = armilla_writing_go_on(r->file->w, r->last, r->file->lines.count);
    }
    return status;
}

static armilla_status write_rounds(rounds *r)
{
    const int64_t count = r->file->lines.count;
    armilla_status status = armilla_take(r->file->lines.context, r->team.threads, sizeof *r->runs, &r->runs);
    for (int i = 0; i < r->team.threads && status == ARMILLA_OK; i++) status = open_run(r, i);
    for (r->first = 0; r->first < count && status == ARMILLA_OK; r->first = r->last) {
        r->last = armilla_min64(count, r->first + r->lines * r->team.threads);
        status = write_round(r);
    }
    close_runs(r);
    return status;
}

/* On one thread lines go to the file as they are put. */
static armilla_status write_alone(const rounds *r)
{
    const int64_t count = r->file->lines.count;
    armilla_status status = ARMILLA_OK;
    for (int64_t i = 0; i < count && status == ARMILLA_OK; i++) {
        status = armilla_writing_go_on(r->file->w, i, count);
        if (status == ARMILLA_OK) status = r->format->put(r->file, r->format->self, i);
    }
    return status;
}

static armilla_status write_all(const armilla_line_format *format, armilla_line_file *file)
{
    rounds r = {.format = format, .file = file};
    measure(&r);
    r.team = armilla_team_of(file->lines.context, most_threads(&r));
    return r.team.threads > 1 ? write_rounds(&r) : write_alone(&r);
}

armilla_status armilla_lines_write(const armilla_writing *w, const armilla_line_format *format)
{
    armilla_line_file file = {.w = w};
    armilla_status status = armilla_lines_open(w->context, w->data, format->by_feature, &file.lines);
    if (status == ARMILLA_OK) status = armilla_output_new(w->context, w->path, w->options->overwrite, &file.output);
    if (status == ARMILLA_OK && format->begin) status = format->begin(&file, format->self);
    if (status == ARMILLA_OK) status = write_all(format, &file);
    if (status == ARMILLA_OK && format->end) status = format->end(&file, format->self);
    if (status == ARMILLA_OK) status = armilla_output_commit(file.output);
    armilla_output_free(file.output);
    armilla_lines_close(&file.lines);
    return status;
}

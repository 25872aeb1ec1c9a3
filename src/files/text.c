/* Cutting text and handing its parts to threads. */
#include "files/text.h"

#include "base/size.h"

#include <string.h>

#ifndef ARMILLA_TEXT_PART /* fuzzing makes it small, so that small files have many parts */
#define ARMILLA_TEXT_PART (1 << 20)
#endif
#define LOOKED_AT 4096

static armilla_status check_text(const armilla_text *text)
{
    const unsigned char *start = text->all.start;
    const size_t count = (size_t)(text->all.end - start);
    if (count >= 2 && (memcmp(start, "\xff\xfe", 2) == 0 || memcmp(start, "\xfe\xff", 2) == 0))
        return armilla_fail(text->context, ARMILLA_BAD_DATA, "%s: is UTF-16 text; save it as UTF-8", text->path);
    if (memchr(start, '\0', count < LOOKED_AT ? count : LOOKED_AT))
        return armilla_fail(
            text->context, ARMILLA_BAD_DATA,
            "%s: has a zero byte, so it is binary and not text; convert it, or name its true format (" ARMILLA_FIELD(
                "format") ")",
            text->path);
    const unsigned char *bare = memchr(start, '\n', count) ? NULL : memchr(start, '\r', count);
    if (bare && bare + 1 < text->all.end)
        return armilla_fail(text->context, ARMILLA_BAD_DATA,
                            "%s: its lines end in carriage returns alone; save it with usual line ends (or convert it "
                            "by tr '\\r' '\\n')",
                            text->path);
    return ARMILLA_OK;
}

armilla_status armilla_text_open(armilla_context *context, const armilla_bytes *bytes,
                                 const armilla_read_options *options, armilla_text *text)
{
    armilla_text made = {.context = context,
                         .path = bytes->path,
                         .options = options,
                         .all = {bytes->start, bytes->start + bytes->count}};
    const armilla_status status = check_text(&made);
    if (status != ARMILLA_OK) return status;
    made.mapped =
        bytes->map && armilla_spill_allowed(context) && (int64_t)bytes->count > armilla_memory_left(context) / 4;
    if (bytes->count >= 3 && memcmp(bytes->start, "\xef\xbb\xbf", 3) == 0) made.all.start += 3;
    made.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!made.plain) return armilla_fail(context, ARMILLA_NO_MEMORY, "%s: out of memory", bytes->path);
    *text = made;
    return ARMILLA_OK;
}

void armilla_text_close(armilla_text *text)
{
    if (text->plain) freelocale(text->plain);
    armilla_release(text->context, text->part);
    text->plain = (locale_t)0;
    text->part = NULL;
}

static void count_lines(void *self, armilla_text_part *part)
{
    (void)self;
    const unsigned char *end = part->text.end;
    int64_t lines = 0;
    for (const unsigned char *at = part->text.start; at < end;) {
        const unsigned char *stop = end - at > 255 ? at + 255 : end;
        unsigned char few = 0; /* a byte counts so far, and many of them at once */
        for (; at < stop; at++) few = (unsigned char)(few + (*at == '\n'));
        lines += few;
    }
    part->lines = lines + (part->text.start < end && end[-1] != '\n');
}

static const unsigned char *behind_line(const unsigned char *at, const unsigned char *end)
{
    const unsigned char *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    return stop ? stop + 1 : end;
}

void armilla_text_place(armilla_text *text)
{
    text->lines = 0;
    for (int64_t i = 0; i < text->parts; i++) {
        text->part[i].first = text->lines;
        text->lines += text->part[i].lines;
    }
}

armilla_status armilla_text_cut(armilla_text *text, const unsigned char *start, bool whole)
{
    const unsigned char *end = text->all.end;
    const int64_t step = whole ? end - start + 1 : ARMILLA_TEXT_PART;
    armilla_text_part *part = NULL;
    armilla_status status = armilla_take(text->context, (end - start) / step + 1, sizeof *part, &part);
    if (status != ARMILLA_OK) return status;
    armilla_release(text->context, text->part);
    text->part = part;
    text->parts = 0;
    for (const unsigned char *at = start; at < end; text->parts++) {
        const unsigned char *stop = end - at > step ? behind_line(at + step - 1, end) : end;
        part[text->parts].text = (armilla_span){at, stop};
        at = stop;
    }
    text->team = armilla_team_of(text->context, text->parts);
    status = armilla_text_look(text, count_lines, NULL);
    if (status == ARMILLA_OK) armilla_text_place(text);
    return status;
}

armilla_status armilla_text_afford(const armilla_text *text, int64_t count, size_t size)
{
    enum { MOST = 16 }; /* bytes that a byte of text becomes, if the file is as it should be */
    const double bytes = (double)count * (double)size, text_bytes = (double)(text->all.end - text->all.start);
    const bool possible = bytes <= MOST * text_bytes;
    if (possible && armilla_spill_allowed(text->context)) return ARMILLA_OK;
    const armilla_status status = armilla_memory_afford(text->context, "its numbers need", bytes);
    if (status == ARMILLA_OK || !possible) return status;
    return armilla_fail(text->context, status, "%s, or make an .npy or .npz file of it first (armilla convert)",
                        armilla_context_error(text->context));
}

void armilla_text_forget(const armilla_text *text, const void *records, size_t size, int64_t first, int64_t count)
{
    if (!records) return;
    armilla_spill_drop(text->context, (const char *)records + (size_t)first * size, count * (int64_t)size);
}

/* Text that has been parsed may leave memory. */
static void forget_text(const armilla_text *text, const unsigned char *from, const unsigned char *to)
{
    if (text->mapped)
        armilla_mapped_drop(from, to - from);
    else
        armilla_spill_drop(text->context, from, to - from);
}

typedef struct running {
    armilla_text *text;
    armilla_text_job job;
    void *self;
} running;

/* Asks; reports how far the text has been parsed, where it is. */
static bool ask(const armilla_text *text, const unsigned char *at)
{
    if (!text->reports) return armilla_call_over(text->context);
    return armilla_call_reached(text->context, at - text->all.start, text->all.end - text->all.start);
}

bool armilla_text_over(const armilla_text *text, armilla_text_part *part, const unsigned char *at)
{
    if (!part->asked || at - part->asked < ARMILLA_TEXT_PART) return false;
    forget_text(text, part->asked, at);
    part->asked = at;
    return ask(text, at);
}

/* The first part with a mistake blocks those behind it. */
static void block(armilla_text *text, int64_t i)
{
    int64_t first = __atomic_load_n(&text->blocked, __ATOMIC_RELAXED);
    while (i < first)
        if (__atomic_compare_exchange_n(&text->blocked, &first, i, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
}

/* Parts are taken in order, so that all before the first with a mistake are finished too. */
static void take_parts(void *self, int thread)
{
    const running *r = self;
    armilla_text *text = r->text;
    while (!armilla_call_stopped(text->context, NULL)) {
        const int64_t i = __atomic_fetch_add(&text->next, 1, __ATOMIC_RELAXED);
        if (i >= __atomic_load_n(&text->blocked, __ATOMIC_RELAXED)) return;
        armilla_text_part *part = &text->part[i];
        part->asked = thread == 0 ? part->text.start : NULL;
        r->job(r->self, part);
        if (armilla_spill_allowed(text->context)) forget_text(text, part->text.start, part->text.end);
        if (thread == 0 && !armilla_call_stopped(text->context, NULL)) (void)ask(text, part->text.end);
        if (part->bad) block(text, i);
    }
}

/* A single part is parsed on the calling thread, which is the one that asks. */
static armilla_status run(armilla_text *text, armilla_text_job job, void *self, bool reports)
{
    running r = {text, job, self};
    text->reports = reports;
    text->next = 0;
    text->blocked = text->parts;
    if (text->parts > 1)
        armilla_team_run(&text->team, take_parts, &r);
    else
        take_parts(&r, 0);
    return armilla_call_stopped(text->context, NULL) ? armilla_call_explain(text->context) : ARMILLA_OK;
}

armilla_status armilla_text_look(armilla_text *text, armilla_text_job job, void *self)
{
    return run(text, job, self, false);
}

armilla_status armilla_text_parse(armilla_text *text, armilla_text_job job, void *self, const armilla_text_part **bad)
{
    const armilla_status status = run(text, job, self, true);
    *bad = status == ARMILLA_OK && text->blocked < text->parts ? &text->part[text->blocked] : NULL;
    return status;
}

int64_t armilla_text_line_number(const armilla_text *text, const unsigned char *at)
{
    int64_t number = 1 + (text->declared != 0);
    for (const unsigned char *byte = text->all.start; byte < at; byte++) number += *byte == '\n';
    return number;
}

armilla_span armilla_text_line(const armilla_text *text, const unsigned char *at)
{
    armilla_span rest = {at, text->all.end}, line = {at, at};
    while (rest.start > text->all.start && rest.start[-1] != '\n') rest.start--;
    (void)armilla_text_next_line(&rest, &line);
    return line;
}

bool armilla_text_next_line(armilla_span *rest, armilla_span *line)
{
    const unsigned char *start = rest->start, *end = rest->end;
    if (start >= end) return false;
    const unsigned char *stop = memchr(start, '\n', (size_t)(end - start));
    rest->start = stop ? stop + 1 : end;
    if (!stop) stop = end;
    if (stop > start && stop[-1] == '\r') stop--;
    *line = (armilla_span){start, stop};
    return true;
}

int64_t armilla_text_close_gaps(const armilla_text *text, size_t size, void *blocks)
{
    int64_t used = 0;
    for (int64_t i = 0; i < text->parts; i++) {
        const armilla_text_part *part = &text->part[i];
        if (used != part->first && part->count > 0)
            memmove((char *)blocks + (size_t)used * size, (char *)blocks + (size_t)part->first * size,
                    (size_t)part->count * size);
        armilla_text_forget(text, blocks, size, used, part->first + part->count - used);
        used += part->count;
    }
    return used;
}

const char *armilla_text_show(armilla_span field, char shown[ARMILLA_SHOWN])
{
    enum { KEPT = 40 };
    const size_t length = (size_t)(field.end - field.start), kept = length < KEPT ? length : KEPT;
    memcpy(shown, field.start, kept);
    for (size_t i = 0; i < kept; i++)
        if ((unsigned char)shown[i] < ' ') shown[i] = '?';
    strcpy(shown + kept, kept < length ? "..." : "");
    return shown;
}

const char *armilla_text_show_word(const char *word, char shown[ARMILLA_SHOWN])
{
    const unsigned char *start = (const unsigned char *)word;
    return armilla_text_show((armilla_span){start, start + strlen(word)}, shown);
}

/* Text of many lines, divided at line ends into parts that threads parse as they come. The division depends on the text
 * alone, and so does everything that is read; the first of several errors in the file is the one that is reported. */
#ifndef ARMILLA_FILES_TEXT_H
#define ARMILLA_FILES_TEXT_H

#include "files/decimal.h"
#include "files/files.h"

typedef struct armilla_span {
    const unsigned char *start, *end;
} armilla_span;

/* Whole lines. What a reader makes of them stands in places first ... first+count-1 of its arrays. */
typedef struct armilla_text_part {
    armilla_span text;
    int64_t lines;
    int64_t first, count;
    int64_t comments;           /* lines that are left out and look like others, of a table */
    const unsigned char *bad;   /* where the first mistake stands; NULL: none */
    int mistake;                /* what is wrong there, in the reader's own terms */
    const unsigned char *asked; /* where armilla_text_over asked last; NULL where another thread has the part */
} armilla_text_part;

typedef struct armilla_text {
    armilla_context *context;
    const char *path;
    const armilla_read_options *options;
    armilla_span all;       /* without a byte order mark, and a first line "sep=;" as Excel writes it */
    unsigned char declared; /* what that line says separates; 0: there is none */
    bool mapped;            /* it lies in a mapping of a file, larger than what should stay in memory */
    locale_t plain;         /* "C" */
    armilla_team team;
    armilla_text_part *part;
    int64_t parts;
    int64_t lines;         /* of all parts */
    bool reports;          /* the run in progress parses */
    int64_t next, blocked; /* the part to be taken next, and the first with a mistake; atomic */
} armilla_text;

/* Checks that it looks like text. armilla_text_close undoes it, and accepts one that is all zeros. */
armilla_status armilla_text_open(armilla_context *context, const armilla_bytes *bytes,
                                 const armilla_read_options *options, armilla_text *text);
void armilla_text_close(armilla_text *text);

/* Cuts what follows `start` and counts its lines; a part's `first` is the number of lines before it. A single part
 * where `whole`; may be called again. */
armilla_status armilla_text_cut(armilla_text *text, const unsigned char *start, bool whole);

/* Sets each part's `first` to the number of lines before it, after a job has counted them otherwise. */
void armilla_text_place(armilla_text *text);

/* ARMILLA_NO_MEMORY where `count` records of `size` bytes are more than the options allow to be taken, and may not be
 * spilled (base/spill.h). */
armilla_status armilla_text_afford(const armilla_text *text, int64_t count, size_t size);

/* The records first ... first+count-1, of `size` bytes each, have been written: where they are spilled they may leave
 * memory. */
void armilla_text_forget(const armilla_text *text, const void *records, size_t size, int64_t first, int64_t count);

/* What is done with a part, on any thread. A job stops at its first mistake, which it puts into part->bad. */
typedef void (*armilla_text_job)(void *self, armilla_text_part *part);
/* Looks at every part, for what is needed before numbers are parsed: has no mistakes, takes little time and reports no
 * progress. ARMILLA_STOPPED where the call is to end: then not every part has been looked at. */
armilla_status armilla_text_look(armilla_text *text, armilla_text_job job, void *self);
/* Parses every part. *bad is the first with a mistake, or NULL; with ARMILLA_STOPPED always NULL, as parts before it may
 * not have been parsed. */
armilla_status armilla_text_parse(armilla_text *text, armilla_text_job job, void *self, const armilla_text_part **bad);

/* Within a job whose part may be the whole file: whether to leave it at the line at `at`, because the call is to end. */
bool armilla_text_over(const armilla_text *text, armilla_text_part *part, const unsigned char *at);

/* The number (from 1) of the line that `at` is in, and the line without its end. */
int64_t armilla_text_line_number(const armilla_text *text, const unsigned char *at);
armilla_span armilla_text_line(const armilla_text *text, const unsigned char *at);

/* The next line of rest without its end; false behind the last. */
bool armilla_text_next_line(armilla_span *rest, armilla_span *line);

/* Blanks and words of formats whose words stand between blanks. */
static inline bool armilla_text_blank(unsigned char byte)
{
    const uint64_t blanks = 1ull << ' ' | 1ull << '\t' | 1ull << '\r' | 1ull << '\v' | 1ull << '\f';
    return byte <= ' ' && (blanks >> byte & 1);
}

static inline const unsigned char *armilla_text_skip_blanks(const unsigned char *at, const unsigned char *end)
{
    while (at < end && armilla_text_blank(*at)) at++;
    return at;
}

static inline const unsigned char *armilla_text_word_end(const unsigned char *at, const unsigned char *end)
{
    while (at < end && !armilla_text_blank(*at)) at++;
    return at;
}

/* Parts leave gaps where lines were empty: moves blocks of `size` bytes together. Their number. */
int64_t armilla_text_close_gaps(const armilla_text *text, size_t size, void *blocks);

/* Up to 40 bytes of the field as they can be shown in a message. */
enum { ARMILLA_SHOWN = 48 };
const char *armilla_text_show(armilla_span field, char shown[ARMILLA_SHOWN]);
const char *armilla_text_show_word(const char *word, char shown[ARMILLA_SHOWN]);

#endif

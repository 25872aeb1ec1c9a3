/* The option table's row. One table gives defaults, validation, command-line flags, --help and the model's record
 * of how it was made; the command has a second table of the same kind for what concerns only itself. */
#ifndef ARMILLA_OPTIONS_H
#define ARMILLA_OPTIONS_H

#include <armilla/base.h>

#include <stddef.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum armilla_option_kind {
    ARMILLA_OPTION_FLAG,     /* bool; takes no value */
    ARMILLA_OPTION_INTEGER,  /* int64_t in [low, high] */
    ARMILLA_OPTION_REAL,     /* double in [low, high], or the word in `automatic`, if there is one, stored as -1 */
    ARMILLA_OPTION_POSITIVE, /* double > 0, or the word in `automatic`, stored as 0 */
    ARMILLA_OPTION_MULTIPLE, /* const char *: a positive number, or a multiple such as 0.3x */
    ARMILLA_OPTION_WORD,     /* const char *: one of choices */
    ARMILLA_OPTION_TEXT,     /* const char *: anything, e.g. a path */
    ARMILLA_OPTION_SIZE      /* int64_t: bytes, a positive number with K, M, G or T (of 1024) behind it or not */
} armilla_option_kind;

typedef struct armilla_option {
    size_t size;
    const char *name; /* without the dashes */
    armilla_option_kind kind;
    bool open;  /* WORD: also anything else, such as a file */
    bool sized; /* the struct that the table describes begins with its size: fields that it does not have are not set */
    size_t offset;                            /* of the field in the struct that the table describes */
    const char *preset;                       /* default, in the words a user would type; NULL: none (0, false, NULL) */
    double low, high;                         /* range, for INTEGER and REAL */
    const char *automatic;                    /* the word that POSITIVE and REAL take for "none" or "auto" */
    const char *(*choice)(size_t index);      /* WORD: the index-th choice, NULL past the last */
    const char *(*resolve)(const char *word); /* WORD, optional: the canonical name of a word (aliases), or NULL */
    const char *value;                        /* what --help calls the value: "R", "FILE" */
    const char *help;                         /* one line */
    const char *group;                        /* what it is one of: ARMILLA_PREPARATION; NULL: nothing */
} armilla_option;

/* The group of options that say how data are prepared before they are fitted. */
#define ARMILLA_PREPARATION "preparation"

/* The beginning of a row: {ARMILLA_OPTION_ROW("rank"), .kind = ...}. */
#define ARMILLA_OPTION_ROW(word) .size = sizeof(armilla_option), .name = (word)

/* Rows may be longer than this header knows: this is how to go through a table. */
static inline const armilla_option *armilla_option_next(const armilla_option *row)
{
    return (const armilla_option *)(const void *)((const char *)row + row->size);
}

/* Whether the option is one of the group. */
static inline bool armilla_option_is_of(const armilla_option *row, const char *group)
{
    return row->size > offsetof(armilla_option, group) && row->group && strcmp(row->group, group) == 0;
}

/* Sets every field that the table describes to its preset. The table ends with a row whose name is NULL. */
ARMILLA_API void armilla_option_presets(const armilla_option *table, void *target);

/* Parses text into the row's field of target. Text and words are borrowed, not copied. FLAG: text is ignored. On
 * failure the context says what is wrong with the value and, for words, what was probably meant. */
ARMILLA_API armilla_status armilla_option_set(armilla_context *context, const armilla_option *row, void *target,
                                              const char *text);

/* The row of that name, or NULL. */
ARMILLA_API const armilla_option *armilla_option_find(const armilla_option *table, const char *name);

/* The row's value in source as a user would type it, into buffer; "" where it is unset. Returns buffer. */
ARMILLA_API const char *armilla_option_show(const armilla_option *row, const void *source, char *buffer, size_t size);

/* target's field of the row becomes source's, where both structs have it; texts are borrowed. */
ARMILLA_API void armilla_option_copy(const armilla_option *row, const void *source, void *target);

/* Edit distance (insertions, deletions, substitutions, neighbouring swaps count 1), for "did you mean". */
ARMILLA_API size_t armilla_word_distance(const char *a, const char *b);

#ifdef __cplusplus
}
#endif

#endif

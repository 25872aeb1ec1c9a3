/* A list of texts that belongs to data: names of features, names of samples, labels of samples. Held packed, so that
 * a million names are two blocks of memory. */
#ifndef ARMILLA_DATA_NAMES_H
#define ARMILLA_DATA_NAMES_H

#include "base/context.h"

#include <armilla/data.h>

typedef struct armilla_names {
    int64_t count, capacity;       /* texts, and those that starts has space for */
    int64_t bytes, bytes_capacity; /* of text, with the 0 after each */
    int64_t *starts;
    char *text;
} armilla_names;

/* An empty list is all zeros. Adds a copy of length bytes; one that holds a 0 byte ends there. */
armilla_status armilla_names_add(armilla_context *context, armilla_names *names, const char *text, size_t length);
/* Text i, which stays where it is until the next add. */
const char *armilla_names_at(const armilla_names *names, int64_t i);
/* An all-zero list is fine. */
void armilla_names_free(armilla_context *context, armilla_names *names);

/* A copy; all zeros where from is NULL or empty. */
armilla_status armilla_names_copy(armilla_context *context, const armilla_names *from, armilla_names *to);

/* A hash table from texts to their places in a list: a look-up takes a time that does not grow with the list. */
typedef struct armilla_names_index {
    const armilla_names *names; /* borrowed */
    int64_t *slots;             /* place + 1, or 0 */
    uint64_t mask;
} armilla_names_index;
armilla_status armilla_names_index_new(armilla_context *context, const armilla_names *names,
                                       armilla_names_index *index);
/* The first place of the text, or -1. */
int64_t armilla_names_find(const armilla_names_index *index, const char *text);
void armilla_names_index_free(armilla_context *context, armilla_names_index *index);

/* The data take the list over and names becomes empty. The count must be that of the features or samples
 * (ARMILLA_BAD_DATA, with both numbers in the message, which begins with `where`, "FILE: " or ""). */
armilla_status armilla_data_adopt_names(armilla_data *data, armilla_naming kind, const char *where,
                                        armilla_names *names);
/* The list, or NULL where the data have none of that kind. */
const armilla_names *armilla_data_names(const armilla_data *data, armilla_naming kind);

#endif

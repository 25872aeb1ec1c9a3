/* A list of texts that belongs to data: names of features, names of samples, labels of samples. Held packed, so that
 * a million names are two blocks of memory. */
#ifndef ARMILLA_DATA_NAMES_H
#define ARMILLA_DATA_NAMES_H

#include "base/context.h"

#include <armilla/data.h>

typedef struct armilla_names {
    int64_t count, room;       /* texts, and those that starts has room for */
    int64_t bytes, bytes_room; /* of text, with the 0 after each */
    int64_t *starts;
    char *text;
} armilla_names;

/* An empty list is all zeros. Adds a copy of length bytes; one that holds a 0 byte ends there. */
armilla_status armilla_names_add(armilla_context *context, armilla_names *names, const char *text, size_t length);
/* Text i, which stays where it is until the next add. */
const char *armilla_names_at(const armilla_names *names, int64_t i);
/* An all-zero list is fine. */
void armilla_names_free(armilla_context *context, armilla_names *names);

/* The data take the list over and names becomes empty. The count must be that of the features or samples
 * (ARMILLA_BAD_DATA, with both numbers in the sentence, which begins with `where`, "FILE: " or ""). */
armilla_status armilla_data_adopt_names(armilla_data *data, armilla_naming kind, const char *where,
                                        armilla_names *names);
/* The list, or NULL where the data have none of that kind. */
const armilla_names *armilla_data_names(const armilla_data *data, armilla_naming kind);

#endif

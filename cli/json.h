/* Facts as an ordered list of names and values, printed as one JSON object or as lines for people. */
#ifndef ARMILLA_CLI_JSON_H
#define ARMILLA_CLI_JSON_H

#include "command.h"

#include <jansson.h>

/* Adds a value; what does not apply is null: NULL text, a number that is not finite, a count that is negative. */
void json_put_text(json_t *object, const char *name, const char *text);
/* The name of a file as it was given: - for standard input. */
void json_put_file(json_t *object, const char *name, const cli_session *session, const char *path);
void json_put_list(json_t *object, const char *name, const char *const *texts, size_t count);
void json_put_number(json_t *object, const char *name, double number);
void json_put_count(json_t *object, const char *name, int64_t count);
/* A list of whole numbers; null where they are NULL. */
void json_put_counts(json_t *object, const char *name, const int64_t *counts, int64_t count);
/* "peak_rss_bytes": the most memory this process has had. */
void json_put_peak_memory(json_t *object);
void json_put_flag(json_t *object, const char *name, bool flag);

/* Everything a model's summary says, under the names of `fit --json`. */
void json_put_summary(json_t *object, const armilla_model_summary *summary);

/* Prints the object on standard output and frees it: as JSON under --json, else a line per member, a list as lines of
 * its own. ARMILLA_NO_MEMORY for NULL. */
armilla_status json_print(cli_session *session, json_t *object);

#endif

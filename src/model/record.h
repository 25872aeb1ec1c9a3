/* JSON text of the model's record. */
#ifndef ARMILLA_MODEL_RECORD_H
#define ARMILLA_MODEL_RECORD_H

#include <jansson.h>

/* The text as a JSON string. File names need not be UTF-8, JSON must be: other bytes become '?'. */
json_t *armilla_json_text(const char *text);

#endif

/* Names of features and samples, and labels: packed lists, and their place in a data object. */
#include "data/names.h"

#include "base/size.h"
#include "data/data.h"

#include <inttypes.h>
#include <string.h>

/* Grows the block to `needed` elements, at least doubling, so that adding n texts costs O(n). */
static armilla_status reserve(armilla_context *context, int64_t needed, size_t size, void *block, int64_t *capacity)
{
    if (needed <= *capacity) return ARMILLA_OK;
    const int64_t wanted = armilla_max64(needed, *capacity < INT64_MAX / 2 ? 2 * *capacity : INT64_MAX);
    const armilla_status status = armilla_grow_large(context, wanted, size, block);
    if (status == ARMILLA_OK) *capacity = wanted;
    return status;
}

armilla_status armilla_names_add(armilla_context *context, armilla_names *names, const char *text, size_t length)
{
    enum { MANY = 1 << 16 };
    const char *end = length ? memchr(text, 0, length) : NULL;
    const int64_t used = end ? end - text : (int64_t)length;
    armilla_status status = reserve(context, names->count + 1, sizeof *names->starts, &names->starts, &names->capacity);
    if (status == ARMILLA_OK)
        status = reserve(context, names->bytes + used + 1, 1, &names->text, &names->bytes_capacity);
    if (status != ARMILLA_OK) return status;
    names->starts[names->count++] = names->bytes;
    if (used) memcpy(names->text + names->bytes, text, (size_t)used);
    names->text[names->bytes + used] = '\0';
    names->bytes += used + 1;
    if (names->count % MANY == 0) armilla_spill_drop(context, names->text, names->bytes);
    return ARMILLA_OK;
}

const char *armilla_names_at(const armilla_names *names, int64_t i)
{
    return names->text + names->starts[i];
}

void armilla_names_free(armilla_context *context, armilla_names *names)
{
    armilla_release(context, names->starts);
    armilla_release(context, names->text);
    *names = (armilla_names){0};
}

armilla_status armilla_names_copy(armilla_context *context, const armilla_names *from, armilla_names *to)
{
    armilla_names made = {0};
    armilla_status status = ARMILLA_OK;
    for (int64_t i = 0; from && i < from->count && status == ARMILLA_OK; i++)
        status = armilla_names_add(context, &made, armilla_names_at(from, i), strlen(armilla_names_at(from, i)));
    if (status == ARMILLA_OK)
        *to = made;
    else
        armilla_names_free(context, &made);
    return status;
}

/* FNV-1a, its high bits mixed into the low ones. */
static uint64_t hash(const char *text)
{
    uint64_t sum = 0xcbf29ce484222325u;
    for (; *text; text++) sum = (sum ^ (unsigned char)*text) * 0x100000001b3u;
    return sum ^ sum >> 29;
}

/* The slot that the text has, or would have. */
static uint64_t slot_of(const armilla_names_index *index, const char *text)
{
    uint64_t slot = hash(text) & index->mask;
    while (index->slots[slot] && strcmp(armilla_names_at(index->names, index->slots[slot] - 1), text) != 0)
        slot = (slot + 1) & index->mask;
    return slot;
}

armilla_status armilla_names_index_new(armilla_context *context, const armilla_names *names, armilla_names_index *index)
{
    armilla_names_index made = {.names = names, .mask = 15};
    while ((int64_t)made.mask < 2 * names->count) made.mask = 2 * made.mask + 1;
    const armilla_status status = armilla_take(context, (int64_t)made.mask + 1, sizeof *made.slots, &made.slots);
    if (status != ARMILLA_OK) return status;
    for (int64_t i = 0; i < names->count; i++) {
        const uint64_t slot = slot_of(&made, armilla_names_at(names, i));
        if (!made.slots[slot]) made.slots[slot] = i + 1;
    }
    *index = made;
    return ARMILLA_OK;
}

int64_t armilla_names_find(const armilla_names_index *index, const char *text)
{
    return index->slots[slot_of(index, text)] - 1;
}

void armilla_names_index_free(armilla_context *context, armilla_names_index *index)
{
    armilla_release(context, index->slots);
    *index = (armilla_names_index){0};
}

/* What each kind is called, and how many of it data have. */
static int64_t wanted_count(const armilla_data *data, armilla_naming kind)
{
    return kind == ARMILLA_FEATURE_NAMES ? data->m : data->n;
}

static const char *const kinds[ARMILLA_NAMING_COUNT] = {"names of features", "names of samples", "labels of samples"};

armilla_status armilla_data_adopt_names(armilla_data *data, armilla_naming kind, const char *where,
                                        armilla_names *names)
{
    const int64_t wanted = wanted_count(data, kind);
    if (names->count != wanted)
        return armilla_fail(data->context, ARMILLA_BAD_DATA,
                            "%sthere are %" PRId64 " %s, but %" PRId64 " are needed: one for each", where, names->count,
                            kinds[kind], wanted);
    armilla_names_free(data->context, &data->names[kind]);
    data->names[kind] = *names;
    *names = (armilla_names){0};
    return ARMILLA_OK;
}

const armilla_names *armilla_data_names(const armilla_data *data, armilla_naming kind)
{
    return data->names[kind].count ? &data->names[kind] : NULL;
}

const char *armilla_data_name(const armilla_data *data, armilla_naming kind, int64_t index)
{
    if (!data || (unsigned)kind >= ARMILLA_NAMING_COUNT || !armilla_data_names(data, kind) || index < 0 ||
        index >= data->names[kind].count)
        return NULL;
    return armilla_names_at(&data->names[kind], index);
}

armilla_status armilla_data_set_names(armilla_data *data, armilla_naming kind, const char *const *texts, int64_t count)
{
    armilla_names names = {0};
    armilla_status status = ARMILLA_OK;
    if (!data) return ARMILLA_BAD_ARGUMENT;
    if ((unsigned)kind >= ARMILLA_NAMING_COUNT || (count > 0 && !texts))
        return armilla_fail(data->context, ARMILLA_BAD_ARGUMENT, "names: the kind is unknown, or there are no texts");
    for (int64_t i = 0; i < count && status == ARMILLA_OK; i++)
        status = armilla_names_add(data->context, &names, texts[i] ? texts[i] : "", texts[i] ? strlen(texts[i]) : 0);
    if (status == ARMILLA_OK) status = armilla_data_adopt_names(data, kind, "", &names);
    armilla_names_free(data->context, &names);
    return status;
}

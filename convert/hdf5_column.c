/* A column of AnnData's as texts, in each of its encodings (its on-disk format, and what older versions wrote):
 *
 *   NAME                           string-array or array: strings, numbers, booleans
 *   NAME/values, NAME/mask         nullable-integer, nullable-boolean, nullable-string-array
 *   NAME/codes, NAME/categories    categorical; its categories are one of the above
 *   NAME, __categories/NAME        categorical of 0.7
 *   a member NAME of records       until 0.6; of a categorical the codes, with /uns/NAME_categories
 *
 * No encoding contains itself, so that none is read in a circle. */
#include "hdf5_field.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char missing[] = "NA";

/* A vector as it is stored: as many as wanted (-1: any number). */
static armilla_status read_plain(const source *s, const char *path, const char *member, int64_t wanted, text_list *list)
{
    hdf5_field field;
    if (!hdf5_field_open(s, path, member, &field)) return ARMILLA_OK;
    armilla_status status = ARMILLA_OK;
    if (wanted < 0 || field.count == wanted) status = hdf5_field_texts(&field, list);
    hdf5_field_close(&field);
    return status;
}

/* count and *numbers of a vector; NULL where it is none of numbers. */
static armilla_status read_numbers(const source *s, const char *path, const char *member, int64_t *count,
                                   double **numbers)
{
    hdf5_field field;
    if (!hdf5_field_open(s, path, member, &field)) return ARMILLA_OK;
    *count = field.count;
    const armilla_status status = hdf5_field_numbers(&field, numbers);
    hdf5_field_close(&field);
    return status;
}

/* The texts of values; "NA" where the mask says that there is none. */
static armilla_status read_nullable(const source *s, const char *group, int64_t wanted, text_list *list)
{
    char values[MOST_PATH], mask[MOST_PATH];
    double *masked = NULL;
    int64_t count = 0;
    bool all = true;
    hdf5_join(values, group, "values");
    hdf5_join(mask, group, "mask");
    armilla_status status = read_numbers(s, mask, NULL, &count, &masked);
    if (status == ARMILLA_OK && masked && (wanted < 0 || count == wanted))
        status = read_plain(s, values, NULL, count, list);
    for (int64_t i = 0; i < list->count && status == ARMILLA_OK; i++)
        if (masked[i] != 0) {
            free(list->texts[i]);
            all = (list->texts[i] = strdup(missing)) && all;
        }
    free(masked);
    return status == ARMILLA_OK && !all ? texts_no_memory(s->c) : status;
}

/* Whatever has no codes. */
static armilla_status read_uncoded(const source *s, const char *path, int64_t wanted, text_list *list)
{
    if (hdf5_has(s, path) && hdf5_kind(s, path) == H5I_GROUP) return read_nullable(s, path, wanted, list);
    return read_plain(s, path, NULL, wanted, list);
}

/* Codes in a dataset or in a member of its records, and what they number. */
typedef struct coded {
    const char *codes, *member, *categories;
} coded;

static armilla_status read_categorical(const source *s, const coded *at, int64_t wanted, text_list *list)
{
    text_list names = {0};
    char array[MOST_PATH];
    double *numbers = NULL;
    int64_t count = 0;
    hdf5_join(array, at->codes, at->member ? at->member : "");
    armilla_status status = read_uncoded(s, at->categories, -1, &names);
    if (status == ARMILLA_OK && names.texts) status = read_numbers(s, at->codes, at->member, &count, &numbers);
    if (status == ARMILLA_OK && numbers && (wanted < 0 || count == wanted))
        status = labels_of_codes(s->c, at->member ? array : at->codes, count, numbers, &names, list);
    free(numbers);
    text_list_free(&names);
    return status;
}

/* A member of records, whose categories are in uns where it has some. */
static armilla_status read_member(const source *s, const char *frame, const char *name, int64_t wanted, text_list *list)
{
    char categories[MOST_PATH];
    const int length = snprintf(categories, sizeof categories, "/uns/%s_categories", name);
    if (length > 0 && length < MOST_PATH && hdf5_has(s, categories))
        return read_categorical(s, &(coded){frame, name, categories}, wanted, list);
    return read_plain(s, frame, name, wanted, list);
}

static armilla_status read_any(const source *s, const char *frame, const char *name, int64_t wanted, text_list *list)
{
    char column[MOST_PATH], codes[MOST_PATH], categories[MOST_PATH], beside[MOST_PATH], older[MOST_PATH];
    hdf5_join(column, frame, name);
    hdf5_join(codes, column, "codes");
    hdf5_join(categories, column, "categories");
    hdf5_join(beside, frame, "__categories");
    hdf5_join(older, beside, name);
    if (*frame && hdf5_kind(s, frame) == H5I_DATASET) return read_member(s, frame, name, wanted, list);
    if (hdf5_has(s, codes)) return read_categorical(s, &(coded){codes, NULL, categories}, wanted, list);
    if (hdf5_has(s, older)) return read_categorical(s, &(coded){column, NULL, older}, wanted, list);
    return read_uncoded(s, column, wanted, list);
}

armilla_status hdf5_read_column(const source *s, const char *frame, const char *name, int64_t wanted, text_list *list)
{
    const armilla_status status = read_any(s, frame, name, wanted, list);
    if (status == ARMILLA_OK && list->texts) s->c->error[0] = '\0';
    return status;
}

bool hdf5_has_column(const source *s, const char *frame, const char *name)
{
    char path[MOST_PATH];
    hdf5_field field;
    hdf5_join(path, frame, name);
    if (hdf5_has(s, path)) return true;
    if (!*frame || !hdf5_field_open(s, frame, name, &field)) return false;
    hdf5_field_close(&field);
    return true;
}

void hdf5_index_name(const source *s, const char *frame, char name[MOST_WORD])
{
    static const char *const usual[] = {"_index", "index"};
    name[0] = '\0';
    if (!hdf5_has(s, frame)) return;
    if (hdf5_kind(s, frame) == H5I_DATASET) {
        hdf5_first_member(s, frame, name);
        return;
    }
    hdf5_read_word(s, frame, "_index", name);
    for (size_t i = 0; i < sizeof usual / sizeof *usual && !name[0]; i++)
        if (hdf5_has_column(s, frame, usual[i])) snprintf(name, MOST_WORD, "%s", usual[i]);
}

armilla_status hdf5_read_index(const source *s, const char *frame, const char *whose, int64_t wanted, text_list *list)
{
    char name[MOST_WORD];
    hdf5_index_name(s, frame, name);
    if (!name[0]) return ARMILLA_OK;
    const armilla_status status = hdf5_read_column(s, frame, name, wanted, list);
    if (status != ARMILLA_OK || list->texts) return status;
    if (s->c->error[0])
        warn(s->c, "%s; the names of %s are not read", s->c->error, whose);
    else
        warn(s->c, "%s: %s/%s: the names of %s are not read: they are not %lld texts, or in an unknown encoding",
             s->c->path, frame, name, whose, (long long)wanted);
    s->c->error[0] = '\0';
    return ARMILLA_OK;
}

armilla_status hdf5_read_labels(const source *s, const char *frame, int64_t samples, text_list *list)
{
    if (!s->c->labels) return ARMILLA_OK;
    if (!hdf5_has_column(s, frame, s->c->labels)) return labels_refuse(s->c, "are not there", samples);
    const armilla_status status = hdf5_read_column(s, frame, s->c->labels, samples, list);
    if (status != ARMILLA_OK || list->texts) return status;
    return labels_refuse(s->c, "are neither texts nor numbers, or of another count", samples);
}

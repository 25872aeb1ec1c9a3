/* .safetensors: a length of 8 bytes, little-endian, a header of that many bytes, and then the numbers of tensors. The
 * header is JSON: a name to {"dtype": "F32", "shape": [3, 4], "data_offsets": [begin, end]}, places behind the header.
 * Tensors cover what follows the header without gap or overlap; a header that says otherwise is refused, whichever
 * tensor is wanted. Numbers stay in the mapping. */
#include "files/stream.h"

#include "base/size.h"
#include "files/text.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LENGTH = 8,              /* bytes of the header's length */
    MOST_HEADER = 100000000, /* the limit of the format's own library */
    LEAST_HEADER = 2,        /* {} */
    MEMORY_OF_A_BYTE = 128   /* that a byte of JSON takes at most: an empty list */
};

static const struct element {
    const char *word;
    int width;
    char kind; /* NumPy's; 0: not read */
} elements[] = {
    {"F64", 8, 'f'}, {"F32", 4, 'f'}, {"F16", 2, 'f'},   {"BF16", 2, ARMILLA_KIND_BF16},
    {"U8", 1, 'u'},  {"I8", 1, 'i'},  {"BOOL", 1, 0},    {"I16", 2, 0},
    {"U16", 2, 0},   {"I32", 4, 0},   {"U32", 4, 0},     {"I64", 8, 0},
    {"U64", 8, 0},   {"C64", 8, 0},   {"F8_E4M3", 1, 0}, {"F8_E5M2", 1, 0},
};

typedef struct tensor {
    const char *name, *dtype;
    const struct element *element; /* NULL: unknown, which is no mistake where it is not wanted */
    armilla_array array;           /* dimensions may be more than 2 */
    int64_t begin, end;            /* behind the header */
} tensor;

/* A file being read, of which the header is in memory. */
typedef struct reading {
    armilla_context *context;
    const char *path;
    const unsigned char *header;
    int64_t length; /* of the header */
    int64_t bytes;  /* behind it */
    json_t *root;
    tensor *tensors;
    int64_t count;
} reading;

static armilla_status bad_tensor(const reading *f, const char *name, const char *what)
{
    char shown[ARMILLA_SHOWN];
    return armilla_fail(f->context, ARMILLA_BAD_DATA, "%s: tensor '%s' %s; copy or save the file again", f->path,
                        armilla_text_show_word(name, shown), what);
}

static uint64_t length_at(const unsigned char *start)
{
    uint64_t length = 0;
    for (int i = LENGTH - 1; i >= 0; i--) length = length << 8 | start[i];
    return length;
}

/* How long the header of a file of that many bytes is, which begins with those at start. */
static armilla_status find_header(armilla_context *context, const armilla_bytes *file, int64_t *length)
{
    if (file->count < LENGTH + LEAST_HEADER)
        return armilla_fail(context, ARMILLA_BAD_DATA, "%s: is cut short: its header is missing; copy it again",
                            file->path);
    const uint64_t declared = length_at(file->start);
    if (declared < LEAST_HEADER || declared > MOST_HEADER)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "%s: is not a safetensors file: its header would have %" PRIu64
                            " bytes; name its true format (" ARMILLA_FIELD("format") ")",
                            file->path, declared);
    if (declared > file->count - LENGTH)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "%s: is cut short: %" PRIu64 " bytes of its header are missing; copy it again", file->path,
                            declared - (file->count - LENGTH));
    *length = (int64_t)declared;
    return ARMILLA_OK;
}

/* The integer, which is not below 0. */
static bool take_size(const json_t *value, int64_t *size)
{
    *size = json_is_integer(value) ? (int64_t)json_integer_value(value) : -1;
    return *size >= 0;
}

/* The shape, as far as an array has sizes for it, and the product of all sizes. */
static bool take_shape(const json_t *value, armilla_array *array, int64_t *elements_of)
{
    const size_t dimensions = json_array_size(value); /* 0 of what is no list */
    *elements_of = 1;
    if (!json_is_array(value) || dimensions > INT32_MAX) return false;
    array->dimensions = (int)dimensions;
    for (size_t i = 0; i < dimensions; i++) {
        int64_t size = 0;
        if (!take_size(json_array_get(value, i), &size) || !armilla_size_area(*elements_of, size, elements_of))
            return false;
        if (i < 2) array->shape[i] = size;
    }
    return true;
}

static const struct element *find_element(const char *word)
{
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (strcmp(elements[i].word, word) == 0) return &elements[i];
    return NULL;
}

static armilla_status take_tensor(const reading *f, const char *name, const json_t *value, tensor *made)
{
    const json_t *places = json_object_get(value, "data_offsets");
    const char *dtype = json_string_value(json_object_get(value, "dtype"));
    int64_t numbers = 0;
    size_t declared = 0;
    *made = (tensor){.name = name, .dtype = dtype, .array = {.shape = {1, 1}}};
    if (!dtype) return bad_tensor(f, name, "has no dtype in the header");
    if (!take_shape(json_object_get(value, "shape"), &made->array, &numbers))
        return bad_tensor(f, name, "has no shape in the header that could be");
    if (json_array_size(places) != 2 || !take_size(json_array_get(places, 0), &made->begin) ||
        !take_size(json_array_get(places, 1), &made->end) || made->begin > made->end || made->end > f->bytes)
        return bad_tensor(f, name, "has no data_offsets in the header that lie in the file");
    if (!(made->element = find_element(dtype))) return ARMILLA_OK;
    made->array.kind = made->element->kind;
    made->array.width = made->element->width;
    made->array.swapped = made->array.width > 1 && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    if (!armilla_size_multiply(numbers, (size_t)made->element->width, &declared) ||
        declared != (size_t)(made->end - made->begin))
        return bad_tensor(f, name, "has a shape and data_offsets in the header that do not agree");
    return ARMILLA_OK;
}

static int by_place(const void *left, const void *right)
{
    const tensor *a = left, *b = right;
    if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

/* Sorts the tensors by their places, which are to follow each other to the end of the file. */
static armilla_status check_places(const reading *f)
{
    int64_t place = 0;
    qsort(f->tensors, (size_t)f->count, sizeof *f->tensors, by_place);
    for (int64_t i = 0; i < f->count; place = f->tensors[i++].end)
        if (f->tensors[i].begin != place)
            return bad_tensor(f, f->tensors[i].name,
                              f->tensors[i].begin < place ? "overlaps with another one"
                                                          : "has bytes before it that belong to none");
    if (place == f->bytes) return ARMILLA_OK;
    return armilla_fail(f->context, ARMILLA_BAD_DATA,
                        "%s: has %" PRId64 " bytes behind its last tensor; copy or save the file again", f->path,
                        f->bytes - place);
}

static armilla_status parse_header(reading *f)
{
    json_error_t error = {.line = 0};
    const char *name = NULL;
    json_t *value = NULL;
    armilla_status status = armilla_memory_afford(f->context, "its header needs", (double)f->length * MEMORY_OF_A_BYTE);
    if (status != ARMILLA_OK) return status;
    f->root = json_loadb((const char *)f->header, (size_t)f->length, JSON_REJECT_DUPLICATES, &error);
    if (!f->root && json_error_code(&error) == json_error_out_of_memory)
        return armilla_fail(f->context, ARMILLA_NO_MEMORY, "%s: out of memory", f->path);
    if (!json_is_object(f->root))
        return armilla_fail(f->context, ARMILLA_BAD_DATA,
                            "%s: its header is malformed at byte %d; copy or save the file again", f->path,
                            LENGTH + (f->root ? 0 : error.position));
    status = armilla_take(f->context, (int64_t)json_object_size(f->root) + 1, sizeof *f->tensors, &f->tensors);
    json_object_foreach(f->root, name, value)
    {
        if (strcmp(name, "__metadata__") == 0) continue;
        if (status == ARMILLA_OK) status = take_tensor(f, name, value, &f->tensors[f->count]);
        f->count++;
    }
    return status == ARMILLA_OK ? check_places(f) : status;
}

/* The one that is wanted, or the only matrix. */
static armilla_status choose(const reading *f, const char *wanted, const tensor **chosen)
{
    armilla_listing list = {.used = 0};
    char shown[ARMILLA_SHOWN];
    int matrices = 0;
    for (int64_t i = 0; i < f->count; i++) {
        const tensor *t = &f->tensors[i];
        const bool matrix = t->array.dimensions == 2;
        armilla_listing_add(&list, armilla_text_show_word(t->name, shown), &t->array);
        if (wanted ? strcmp(t->name, wanted) == 0 : matrix) *chosen = t;
        matrices += matrix && matrices < 2;
    }
    if (wanted ? *chosen != NULL : matrices == 1) return ARMILLA_OK;
    if (wanted)
        return armilla_fail(f->context, ARMILLA_BAD_DATA, "%s: has no tensor '%s'; it holds: %s", f->path,
                            armilla_text_show_word(wanted, shown), list.text);
    if (matrices == 0)
        return armilla_fail(f->context, ARMILLA_BAD_DATA,
                            "%s: holds no matrix, but: %s; save a tensor of two dimensions", f->path,
                            f->count ? list.text : "nothing");
    return armilla_fail(f->context, ARMILLA_BAD_DATA,
                        "%s: holds several matrices; choose one by " ARMILLA_FIELD("array NAME") " among: %s", f->path,
                        list.text);
}

static armilla_status check_tensor(const reading *f, const tensor *t)
{
    char shown[ARMILLA_SHOWN], dtype[ARMILLA_SHOWN];
    if (t->array.dimensions != 2)
        return armilla_fail(f->context, ARMILLA_BAD_DATA,
                            "%s: tensor '%s' has %d dimension%s, and a matrix has 2; save tensor.reshape(len(tensor), "
                            "-1)",
                            f->path, armilla_text_show_word(t->name, shown), t->array.dimensions,
                            t->array.dimensions == 1 ? "" : "s");
    if (t->element && t->element->kind) return ARMILLA_OK;
    return armilla_fail(f->context, ARMILLA_BAD_DATA,
                        "%s: tensor '%s' holds %s, and F64, F32, F16, BF16, U8 and I8 are read; save tensor.float()",
                        f->path, armilla_text_show_word(t->name, shown), armilla_text_show_word(t->dtype, dtype));
}

/* f->header, length and bytes are known. *place: of the first number behind the header. */
static armilla_status find_tensor(reading *f, const char *wanted, armilla_array *array, int64_t *place)
{
    const tensor *chosen = NULL;
    armilla_status status = parse_header(f);
    if (status == ARMILLA_OK) status = choose(f, wanted, &chosen);
    if (status == ARMILLA_OK) status = check_tensor(f, chosen);
    if (status == ARMILLA_OK) {
        *array = chosen->array;
        *place = chosen->begin;
    }
    armilla_release(f->context, f->tensors);
    json_decref(f->root);
    return status;
}

static armilla_status read_safetensors(armilla_context *context, armilla_bytes *bytes,
                                       const armilla_read_options *options, armilla_data **data)
{
    reading f = {.context = context, .path = bytes->path, .header = bytes->start + LENGTH};
    armilla_array array;
    int64_t place = 0;
    armilla_status status = find_header(context, bytes, &f.length);
    f.bytes = (int64_t)bytes->count - LENGTH - f.length;
    if (status == ARMILLA_OK) status = find_tensor(&f, options->array, &array, &place);
    if (status != ARMILLA_OK) return status;
    array.values = f.header + f.length + place;
    return armilla_array_data(context, bytes, &array, options, data);
}

/* The header may be longer than the head of the file. */
static armilla_status take_header(const reading *f, armilla_blocks *blocks, unsigned char **header)
{
    armilla_status status = armilla_grow(f->context, f->length, 1, header);
    if (status == ARMILLA_OK)
        status = armilla_blocks_read(blocks, f->context, (armilla_extent){LENGTH, f->length}, true, *header);
    return status;
}

static armilla_status stream_safetensors(armilla_context *context, const armilla_head *head,
                                         const armilla_read_options *options, armilla_data **data)
{
    const armilla_bytes file = armilla_head_file(head);
    reading f = {.context = context, .path = file.path};
    unsigned char *header = NULL;
    armilla_array array = {.width = 0};
    int64_t place = 0;
    armilla_status status = find_header(context, &file, &f.length);
    if (status != ARMILLA_OK) return status;
    f.bytes = (int64_t)file.count - LENGTH - f.length;
    status = take_header(&f, head->blocks, &header);
    f.header = header;
    if (status == ARMILLA_OK) status = find_tensor(&f, options->array, &array, &place);
    armilla_release(context, header);
    if (status != ARMILLA_OK || armilla_head_maps(head, &array, options)) return status;
    return armilla_array_stream(context, head->blocks, &array, LENGTH + f.length + place, options, data);
}

static bool recognize(const unsigned char *start, size_t count)
{
    if (count <= LENGTH || start[LENGTH] != '{') return false;
    const uint64_t length = length_at(start);
    return length >= LEAST_HEADER && length <= MOST_HEADER;
}

const armilla_format armilla_format_safetensors = {
    .name = "safetensors",
    .endings = ".safetensors",
    .uses = "array",
    .meaning = "a tensor of two dimensions (F64, F32, F16, BF16, U8, I8), by its name: " ARMILLA_FIELD("array NAME"),
    .recognize = recognize,
    .read = read_safetensors,
    .stream = stream_safetensors,
};

/* The header of an .npy file: magic, version, length, and a Python dictionary literal of three keys, of which only
 * what NumPy writes is accepted (NumPy's NEP 1). Sizes are checked before anyone trusts them. */
#include "files/array.h"

#include "base/size.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAGIC "\x93NUMPY"
#define MAGIC_BYTES 6
#define MOST_WORD 32
#define MOST_DIMENSIONS 64      /* NumPy's own limit */
#define MOST_CHARACTERS 1000000 /* where a string's declared length stops being read on */

typedef struct parser {
    armilla_context *context;
    const char *where;
    const unsigned char *start, *at, *end; /* start: of the file */
    armilla_array *array;
    bool texts;    /* strings are wanted, not numbers */
    unsigned seen; /* bit i: field i */
} parser;

/* Kinds of elements that are no real numbers, and what to do about them. */
static const struct refusal {
    char kind;
    const char *meaning, *advice, *word; /* word: NULL for all of the kind */
} refusals[] = {
    {'O', "Python objects", "save it with numpy.save of array.astype('float64')", NULL},
    {'U', "text", "save it with numpy.save of array.astype('float64')", NULL},
    {'S', "text", "save it with numpy.save of array.astype('float64')", NULL},
    {'a', "text", "save it with numpy.save of array.astype('float64')", NULL},
    {'c', "complex numbers", "save real numbers: numpy.save of numpy.abs(array), or of array.real", NULL},
    {'V', "two bytes each that NumPy has no type for, such as bfloat16",
     "save it with numpy.save of array.astype('float32')", "V2"},
    {'V', "records or raw bytes", "save it with numpy.save of a float64 array", NULL},
    {'M', "dates", "save it with numpy.save of array.astype('int64')", NULL},
    {'m', "time spans", "save it with numpy.save of array.astype('int64')", NULL},
};

static armilla_status malformed(parser *p, const char *what)
{
    return armilla_fail(p->context, ARMILLA_BAD_DATA,
                        "%s: its .npy header is malformed at byte %zu: %s; save it again with numpy.save", p->where,
                        (size_t)(p->at - p->start), what);
}

static int peek(const parser *p)
{
    return p->at < p->end ? *p->at : -1;
}

static void skip_blanks(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n')) p->at++;
}

/* Blanks, then the character where it is there. */
static bool accept(parser *p, char wanted)
{
    skip_blanks(p);
    if (peek(p) != wanted) return false;
    p->at++;
    return true;
}

/* A string in quotes, without escapes. */
static armilla_status parse_string(parser *p, char word[MOST_WORD])
{
    skip_blanks(p);
    const int quote = peek(p);
    size_t length = 0;
    if (quote != '\'' && quote != '"') return malformed(p, "a string in quotes is expected");
    for (p->at++; peek(p) != quote; p->at++) {
        if (peek(p) < ' ' || peek(p) == '\\' || length == MOST_WORD - 1) return malformed(p, "a string is not closed");
        word[length++] = (char)*p->at;
    }
    p->at++;
    word[length] = '\0';
    return ARMILLA_OK;
}

static armilla_status refuse_kind(parser *p, char kind, const char *descriptor)
{
    const char *word = kind ? strchr(descriptor, kind) : NULL;
    if (p->texts)
        return armilla_fail(p->context, ARMILLA_BAD_DATA, "%s: the array holds no text (%s); save array.astype('str')",
                            p->where, descriptor);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (refusals[i].kind == kind && (!refusals[i].word || (word && strcmp(word, refusals[i].word) == 0)))
            return armilla_fail(p->context, ARMILLA_BAD_DATA, "%s: the array holds %s (%s), not real numbers; %s",
                                p->where, refusals[i].meaning, descriptor, refusals[i].advice);
    return armilla_fail(p->context, ARMILLA_BAD_DATA,
                        "%s: the array's element type '%s' cannot be read; save it with numpy.save of a float64 array",
                        p->where, descriptor);
}

/* The bytes of one element, or 0 where arrays of that kind are not what is wanted. */
static int element_bytes(const parser *p, char kind, int width)
{
    if (!p->texts) return armilla_number_find(kind, width) ? width : 0;
    return kind == 'U' ? 4 * width : kind == 'S' ? width : 0;
}

/* '<f8': byte order, kind, bytes of a number; of U the number of characters. */
static armilla_status parse_descriptor(parser *p)
{
    char word[MOST_WORD];
    skip_blanks(p);
    if (peek(p) == '[') return refuse_kind(p, 'V', "a structured array");
    armilla_status status = parse_string(p, word);
    if (status != ARMILLA_OK) return status;
    const char *rest = word;
    const char order = strchr("<>=|", *rest) && *rest ? *rest++ : '=';
    const char kind = *rest;
    const size_t digits = kind ? strspn(rest + 1, "0123456789") : 0;
    int width = 0;
    for (size_t i = 0; i < digits && width < MOST_CHARACTERS; i++) width = 10 * width + (rest[1 + i] - '0');
    const int bytes = kind == '\0' || rest[1 + digits] != '\0' ? 0 : element_bytes(p, kind, width);
    if (bytes == 0) return refuse_kind(p, kind, word);
    if (order == '|' && bytes > 1 && kind != 'S') return malformed(p, "the byte order of the numbers is missing");
    p->array->kind = kind;
    p->array->width = bytes;
    p->array->swapped = bytes > 1 && order == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '>' : '<');
    return ARMILLA_OK;
}

static armilla_status parse_order(parser *p)
{
    static const char *const words[] = {"False", "True"};
    skip_blanks(p);
    for (int i = 0; i < 2; i++) {
        const size_t length = strlen(words[i]);
        if ((size_t)(p->end - p->at) < length || memcmp(p->at, words[i], length) != 0) continue;
        p->at += length;
        p->array->column_major = i == 1;
        return ARMILLA_OK;
    }
    return malformed(p, "True or False is expected");
}

static armilla_status parse_size(parser *p, int64_t *size)
{
    const unsigned char *first = p->at;
    *size = 0;
    for (; peek(p) >= '0' && peek(p) <= '9'; p->at++)
        if (__builtin_mul_overflow(*size, 10, size) || __builtin_add_overflow(*size, *p->at - '0', size))
            return malformed(p, "a size is too large");
    if (p->at == first) return malformed(p, "a size is expected");
    if (peek(p) == 'L') p->at++; /* Python 2 marked long integers */
    return ARMILLA_OK;
}

/* (), (3,), (3, 4), and no more than two sizes. */
static armilla_status parse_shape(parser *p)
{
    armilla_array *array = p->array;
    bool comma = true;
    if (!accept(p, '(')) return malformed(p, "the shape is expected in parentheses");
    for (array->dimensions = 0; !accept(p, ')'); array->dimensions++) {
        int64_t size = 0;
        if (!comma) return malformed(p, "a comma is expected between sizes");
        if (array->dimensions == MOST_DIMENSIONS) return malformed(p, "there are too many sizes");
        armilla_status status = parse_size(p, &size);
        if (status != ARMILLA_OK) return status;
        if (array->dimensions < 2) array->shape[array->dimensions] = size;
        comma = accept(p, ',');
    }
    if (array->dimensions == 1 && !comma) return malformed(p, "a comma is expected behind a single size");
    if (array->dimensions > 2)
        return armilla_fail(p->context, ARMILLA_BAD_DATA,
                            "%s: the array has %d dimensions, and 2 are the most; save array.reshape(len(array), -1)",
                            p->where, array->dimensions);
    return ARMILLA_OK;
}

static const struct field {
    const char *name;
    armilla_status (*parse)(parser *p);
} fields[] = {{"descr", parse_descriptor}, {"fortran_order", parse_order}, {"shape", parse_shape}};

#define FIELD_COUNT (sizeof fields / sizeof *fields)

static armilla_status parse_field(parser *p)
{
    char name[MOST_WORD];
    armilla_status status = parse_string(p, name);
    if (status != ARMILLA_OK) return status;
    if (!accept(p, ':')) return malformed(p, "a colon is expected");
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (strcmp(fields[i].name, name) != 0) continue;
        if (p->seen & 1u << i) return malformed(p, "a key is there twice");
        p->seen |= 1u << i;
        return fields[i].parse(p);
    }
    return malformed(p, "a key is none of descr, fortran_order, shape");
}

static armilla_status parse_dictionary(parser *p)
{
    bool comma = true;
    if (!accept(p, '{')) return malformed(p, "an opening brace is expected");
    while (!accept(p, '}')) {
        if (!comma) return malformed(p, "a comma is expected");
        armilla_status status = parse_field(p);
        if (status != ARMILLA_OK) return status;
        comma = accept(p, ',');
    }
    if (p->seen != (1u << FIELD_COUNT) - 1) return malformed(p, "one of descr, fortran_order, shape is missing");
    skip_blanks(p);
    return p->at == p->end ? ARMILLA_OK : malformed(p, "something stands behind the closing brace");
}

static armilla_status cut_short(armilla_context *context, const char *where, const char *part, size_t missing)
{
    return armilla_fail(context, ARMILLA_BAD_DATA,
                        "%s: is cut short: %zu bytes of its %s are missing; copy or save it again", where, missing,
                        part);
}

bool armilla_array_recognize(const unsigned char *bytes, size_t count)
{
    return count >= MAGIC_BYTES && memcmp(bytes, MAGIC, MAGIC_BYTES) == 0;
}

/* Finds the dictionary: it follows a length of two bytes in version 1, of four in versions 2 and 3. */
static armilla_status find_dictionary(parser *p, size_t count)
{
    const unsigned char *bytes = p->start;
    size_t length = 0;
    if (count < MAGIC_BYTES + 2 && memcmp(bytes, MAGIC, count < MAGIC_BYTES ? count : MAGIC_BYTES) == 0)
        return cut_short(p->context, p->where, "header", MAGIC_BYTES + 4 - count);
    if (!armilla_array_recognize(bytes, count))
        return armilla_fail(p->context, ARMILLA_BAD_DATA,
                            "%s: is not an .npy array: it does not begin with \\x93NUMPY; write it with numpy.save",
                            p->where);
    const int major = bytes[MAGIC_BYTES], minor = bytes[MAGIC_BYTES + 1];
    if (major < 1 || major > 3 || minor != 0)
        return armilla_fail(p->context, ARMILLA_BAD_DATA,
                            "%s: version %d.%d of .npy is unknown; save it again with numpy.save", p->where, major,
                            minor);
    const size_t width = major == 1 ? 2 : 4, prefix = MAGIC_BYTES + 2 + width;
    if (count < prefix) return cut_short(p->context, p->where, "header", prefix - count);
    for (size_t i = width; i-- > 0;) length = length << 8 | bytes[MAGIC_BYTES + 2 + i];
    if (length > count - prefix) return cut_short(p->context, p->where, "header", length - (count - prefix));
    p->at = bytes + prefix;
    p->end = p->at + length;
    return ARMILLA_OK;
}

static armilla_status parse_header(parser *p, size_t count, size_t *declared)
{
    armilla_array *made = p->array;
    int64_t elements = 0;
    armilla_status status = find_dictionary(p, count);
    if (status == ARMILLA_OK) status = parse_dictionary(p);
    if (status != ARMILLA_OK) return status;
    if (!armilla_size_area(made->shape[0], made->shape[1], &elements) ||
        !armilla_size_multiply(elements, (size_t)made->width, declared))
        return malformed(p, "the declared shape is larger than any memory");
    made->values = p->end;
    return ARMILLA_OK;
}

armilla_status armilla_array_parse_header(armilla_context *context, const char *where, const unsigned char *bytes,
                                          size_t count, armilla_array *array, size_t *declared)
{
    armilla_array made = {.shape = {1, 1}};
    parser p = {.context = context, .where = where, .start = bytes, .at = bytes, .end = bytes, .array = &made};
    const armilla_status status = parse_header(&p, count, declared);
    if (status == ARMILLA_OK) *array = made;
    return status;
}

armilla_status armilla_array_check_length(armilla_context *context, const char *where, size_t there, size_t declared)
{
    if (there < declared) return cut_short(context, where, "numbers", declared - there);
    if (there > declared)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "%s: has %zu bytes behind the %zu that its header declares; save it again with numpy.save",
                            where, there - declared, declared);
    return ARMILLA_OK;
}

armilla_status armilla_array_parse(armilla_context *context, const char *where, const unsigned char *bytes,
                                   size_t count, bool texts, armilla_array *array)
{
    armilla_array made = {.shape = {1, 1}};
    parser p = {
        .context = context, .where = where, .start = bytes, .at = bytes, .end = bytes, .array = &made, .texts = texts};
    size_t declared = 0;
    armilla_status status = parse_header(&p, count, &declared);
    if (status == ARMILLA_OK)
        status = armilla_array_check_length(context, where, count - (size_t)(made.values - bytes), declared);
    if (status == ARMILLA_OK) *array = made;
    return status;
}

void armilla_array_show_shape(int dimensions, const int64_t shape[2], const char *zero, char text[64])
{
    size_t used = (size_t)snprintf(text, 64, "(");
    for (int i = 0; i < dimensions; i++) {
        char size[24];
        snprintf(size, sizeof size, "%" PRId64, shape[i]);
        used += (size_t)snprintf(text + used, 64 - used, "%s%s", i ? ", " : "", shape[i] ? size : zero);
    }
    snprintf(text + used, 64 - used, dimensions == 1 ? ",)" : ")");
}

void armilla_listing_add(armilla_listing *list, const char *name, const armilla_array *array)
{
    char shape[64] = "";
    const size_t left = sizeof list->text - list->used;
    const char *comma = list->used ? ", " : "";
    if (array && array->dimensions == 2)
        snprintf(shape, sizeof shape, " (%" PRId64 " x %" PRId64 ")", array->shape[0], array->shape[1]);
    else if (array && array->dimensions == 1)
        snprintf(shape, sizeof shape, " (%" PRId64 ")", array->shape[0]);
    const size_t length = strlen(name) + strlen(shape) + 2;
    if (length + sizeof ", ..." > left) {
        if (left > 0) snprintf(list->text + list->used, left, "%s...", comma);
        list->used = sizeof list->text;
        return;
    }
    list->used += (size_t)snprintf(list->text + list->used, left, "%s%s%s", comma, name, shape);
}

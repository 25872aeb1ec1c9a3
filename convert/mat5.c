/* MATLAB's .mat of version 5: behind a header of 128 bytes elements, each a tag (type, size) and bytes. A variable is an
 * element of elements: flags, sizes, name and numbers, which may be stored narrower than their class; it may be packed
 * by zlib as a whole. Nothing in the file is trusted: each part has to end within what holds it. */
#include "mat.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { HEADER = 128, TAG = 8, MATRIX = 14, PACKED = 15, PART = 1 << 13, MOST_HEAD = 4096 };
enum { CLASS_SPARSE = 5, CLASS_DOUBLE = 6, FLAG_COMPLEX = 0x800, FLAG_LOGICAL = 0x200 };

/* What the classes from double on become. */
static const armilla_type types[] = {ARMILLA_F64, ARMILLA_F32, ARMILLA_I8,  ARMILLA_U8,  ARMILLA_F64,
                                     ARMILLA_F64, ARMILLA_F64, ARMILLA_F64, ARMILLA_F64, ARMILLA_F64};

/* Bytes that are left. */
typedef struct reader {
    const unsigned char *at;
    size_t left;
    bool swap;
} reader;

typedef struct element {
    uint32_t type;
    const unsigned char *at;
    size_t size;
} element;

/* The next element, whose bytes may be fewer than its size where only the head of a variable was unpacked: then none are
 * left behind it. Up to four bytes are held in the tag itself. */
static bool next_element(reader *r, element *e)
{
    if (r->left < TAG) return false;
    const uint32_t word = mat_word(r->at, r->swap);
    const bool brief = word >> 16 != 0;
    *e = (element){brief ? word & 0xffff : word, r->at + (brief ? 4 : TAG),
                   brief ? word >> 16 : mat_word(r->at + 4, r->swap)};
    if (brief && e->size > 4) return false;
    const size_t taken = brief ? TAG : TAG + (e->size + 7) / 8 * 8;
    r->at += taken < r->left ? taken : r->left;
    r->left -= taken < r->left ? taken : r->left;
    return true;
}

/* An element all of whose bytes are there. */
static bool next_whole(reader *r, element *e)
{
    const unsigned char *end = r->at + r->left;
    return next_element(r, e) && e->size <= (size_t)(end - e->at);
}

static bool next_array(reader *r, mat_array *array)
{
    element e;
    if (!next_whole(r, &e)) return false;
    *array = (mat_array){.number = mat_number_find(e.type), .at = e.at};
    if (array->number) array->count = (int64_t)(e.size / array->number->size);
    return array->number != NULL;
}

/* Flags, sizes and name; false where they are none of a variable. */
static bool read_head(reader *r, mat_variable *v)
{
    element flags, sizes, name;
    if (!next_whole(r, &flags) || flags.size < 8 || !next_whole(r, &sizes) || !next_whole(r, &name)) return false;
    const uint32_t word = mat_word(flags.at, r->swap), class = word & 0xff;
    const size_t length = name.size < MOST_NAME ? name.size : MOST_NAME - 1;
    v->swap = r->swap;
    v->sparse = class == CLASS_SPARSE;
    memcpy(v->name, name.at, length);
    v->name[length] = '\0';
    v->numeric = sizes.type == MAT_INT32 && sizes.size == 8 && !(word & FLAG_COMPLEX) && class >= CLASS_SPARSE &&
                 class - CLASS_DOUBLE + 1 <= sizeof types / sizeof *types;
    if (!v->numeric) return true;
    v->rows = (int32_t)mat_word(sizes.at, r->swap);
    v->cols = (int32_t)mat_word(sizes.at + 4, r->swap);
    v->type = !v->sparse ? types[class - CLASS_DOUBLE] : word & FLAG_LOGICAL ? ARMILLA_F32 : ARMILLA_F64;
    return true;
}

static armilla_status read_variable(conversion *c, reader *r, bool whole, mat_variable *v)
{
    bool right = read_head(r, v);
    if (right && whole && v->numeric && v->sparse) right = next_array(r, &v->places) && next_array(r, &v->starts);
    if (right && whole && v->numeric) right = next_array(r, &v->values);
    if (right) return ARMILLA_OK;
    return refuse(c, ARMILLA_BAD_DATA, "%s: variable %s: is damaged; save it again", c->path, *v->name ? v->name : "?");
}

/* Unpacks everything, of which the first `most` bytes are kept; *count = how many there are. */
static bool unpack(const unsigned char *from, size_t size, unsigned char *kept, size_t most, size_t *count)
{
    unsigned char part[PART];
    z_stream stream;
    int state = Z_OK;
    memset(&stream, 0, sizeof stream);
    *count = 0;
    if (inflateInit(&stream) != Z_OK) return false;
    stream.next_in = (unsigned char *)(uintptr_t)from; /* only read; the type is older than const */
    stream.avail_in = (unsigned)size;                  /* a size is of 32 bits in this format */
    while (state == Z_OK) {
        stream.next_out = part;
        stream.avail_out = sizeof part;
        state = inflate(&stream, Z_NO_FLUSH);
        const size_t made = sizeof part - stream.avail_out, left = *count < most ? most - *count : 0;
        if (left > 0) memcpy(kept + *count, part, made < left ? made : left);
        *count += made;
    }
    inflateEnd(&stream);
    return state == Z_STREAM_END;
}

/* The variable in packed bytes: its head, or what all of them unpack to. */
static armilla_status read_packed(conversion *c, const element *packed, bool whole, bool swap, mat_variable *v)
{
    unsigned char head[MOST_HEAD];
    size_t count = 0;
    element inner;
    if (!unpack(packed->at, packed->size, head, sizeof head, &count))
        return refuse(c, ARMILLA_BAD_DATA, "%s: the compressed variable at byte %td is damaged; copy it again", c->path,
                      packed->at - TAG - c->bytes);
    reader r = {head, count < sizeof head ? count : sizeof head, swap};
    if (whole) {
        const armilla_status status = take(c, (int64_t)count, 1, &v->unpacked);
        if (status != ARMILLA_OK) return status;
        (void)unpack(packed->at, packed->size, v->unpacked, count, &count);
        r = (reader){v->unpacked, count, swap};
    }
    reader inside = {r.at + TAG, r.left > TAG ? r.left - TAG : 0, swap};
    if (!next_element(&r, &inner) || inner.type != MATRIX || inner.size > count - TAG)
        return refuse(c, ARMILLA_BAD_DATA, "%s: the compressed variable at byte %td is none; save it again", c->path,
                      packed->at - TAG - c->bytes);
    return read_variable(c, &inside, whole, v);
}

static armilla_status next_variable(conversion *c, size_t *at, bool whole, mat_variable *v)
{
    const bool swap = mat_swaps(c->bytes[126] == 'M');
    const unsigned char *tag = c->bytes + *at;
    const size_t left = c->size - *at;
    if (left < TAG) return refuse(c, ARMILLA_BAD_DATA, "%s: is cut short at byte %zu; copy it again", c->path, *at);
    const element e = {mat_word(tag, swap), tag + TAG, mat_word(tag + 4, swap)};
    if (e.size > left - TAG)
        return refuse(c, ARMILLA_BAD_DATA, "%s: is cut short: %zu bytes are missing; copy it again", c->path,
                      e.size - (left - TAG));
    *at += TAG + e.size;
    if (e.type == PACKED) return read_packed(c, &e, whole, swap, v);
    reader inside = {e.at, e.size, swap};
    return e.type == MATRIX ? read_variable(c, &inside, whole, v) : ARMILLA_OK;
}

armilla_status read_mat5(conversion *c, matrix *made)
{
    return mat_read(c, HEADER, next_variable, made);
}

/* Vectors of numbers for approximate search, all of one length, little-endian, in one of two layouts.
 * .fbin, .u8bin, .i8bin: the number of vectors and how many numbers each has, as 4-byte integers without a sign, then the
 * numbers, one vector after the other.
 * .fvecs, .bvecs, .ivecs, as TEXMEX (SIFT1M, GIST1M) and FAISS have them: of each vector how many numbers it has, as a
 * 4-byte integer, then its numbers: f32, u8, i32.
 * Floats and bytes stay in the mapping, those of the second layout with a little between two vectors. Public sets have all
 * six endings: BIGANN is .u8bin, SPACEV .i8bin (both of big-ann-benchmarks), and the true neighbours of SIFT1M and GIST1M,
 * with which those of `armilla neighbors` are compared, are .ivecs. An ending costs one row below. */
#include "files/stream.h"

#include "base/size.h"

#include <inttypes.h>

/* The array, of which kind, width and byte order are known. all: of the second layout every vector is looked at;
 * otherwise of the bytes only the first few. */
typedef armilla_status (*layout)(armilla_context *context, const armilla_bytes *bytes, bool all, armilla_array *array);

enum { HEADER = 8 };

static int64_t size_at(const unsigned char *at)
{
    return (int64_t)((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
}

/* The declared numbers have to be there, and nothing else. */
static armilla_status check_length(armilla_context *context, const armilla_bytes *bytes, const armilla_array *array)
{
    const int64_t n = array->shape[0], m = array->shape[1];
    const size_t there = bytes->count - HEADER;
    int64_t count = 0;
    size_t declared = 0;
    if (!armilla_size_area(n, m, &count) || !armilla_size_multiply(count, (size_t)array->width, &declared))
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "%s: declares %" PRId64 " vectors of %" PRId64
                            " numbers, more than any memory holds; copy it again, or name its true format "
                            "(" ARMILLA_FIELD("format") ")",
                            bytes->path, n, m);
    if (there == declared) return ARMILLA_OK;
    return armilla_fail(
        context, ARMILLA_BAD_DATA,
        "%s: declares %" PRId64 " vectors of %" PRId64
        " numbers, and %zu bytes of them are %s; copy it again, or name its true format (" ARMILLA_FIELD("format") ")",
        bytes->path, n, m, there < declared ? declared - there : there - declared,
        there < declared ? "missing" : "too many");
}

static armilla_status parse_bin(armilla_context *context, const armilla_bytes *bytes, bool all, armilla_array *array)
{
    (void)all;
    if (bytes->count < HEADER)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "%s: is cut short: %zu bytes of its header are missing; copy it again", bytes->path,
                            HEADER - bytes->count);
    array->shape[0] = size_at(bytes->start);
    array->shape[1] = size_at(bytes->start + HEADER / 2);
    array->values = bytes->start + HEADER;
    return check_length(context, bytes, array);
}

/* The vectors of a file being checked; odd: the first that has another length than the first; atomic. */
typedef struct checking {
    armilla_counted vectors;
    int64_t odd;
} checking;

static void look_for_odd(void *self, int64_t first, int64_t last)
{
    checking *c = self;
    armilla_counted own = c->vectors;
    own.start += first * own.step;
    const int64_t found = first + armilla_counted_odd(&own, last - first);
    int64_t known = __atomic_load_n(&c->odd, __ATOMIC_RELAXED);
    while (found < last && found < known &&
           !__atomic_compare_exchange_n(&c->odd, &known, found, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

/* Every vector that is whole. */
static armilla_status check_vectors(armilla_context *context, const armilla_counted *vectors, int64_t n)
{
    checking c = {*vectors, n};
    const armilla_team team = armilla_team_of(context, n);
    armilla_team_share(&team, n, look_for_odd, &c);
    return c.odd == n ? ARMILLA_OK : armilla_counted_refuse(context, vectors, c.odd, c.odd);
}

static armilla_status cut_short(armilla_context *context, const armilla_bytes *bytes, int64_t n, int64_t missing)
{
    return armilla_fail(context, ARMILLA_BAD_DATA,
                        "%s: is cut short: %" PRId64 " bytes of vector %" PRId64
                        " (counted from 1) are missing; copy it again, or name its true format "
                        "(" ARMILLA_FIELD("format") ")",
                        bytes->path, missing, n + 1);
}

/* The size of the file says how many vectors there are. */
static armilla_status parse_vecs(armilla_context *context, const armilla_bytes *bytes, bool all, armilla_array *array)
{
    const int64_t count = (int64_t)bytes->count;
    if (count < ARMILLA_LEAD) return cut_short(context, bytes, 0, ARMILLA_LEAD - count);
    const int64_t m = armilla_lead_at(bytes->start), step = ARMILLA_LEAD + m * array->width;
    if (m < 1)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "%s: its first vector declares %" PRId64
                            " numbers; copy it again, or name its true format (" ARMILLA_FIELD("format") ")",
                            bytes->path, m);
    const int64_t n = count / step, rest = count % step;
    if (all && n > 0) {
        const armilla_counted vectors = {bytes->path, bytes->start, step, m};
        const armilla_status status = check_vectors(context, &vectors, n);
        if (status != ARMILLA_OK) return status;
    }
    if (rest > 0) return cut_short(context, bytes, n, step - rest);
    array->shape[0] = n;
    array->shape[1] = m;
    array->lead = ARMILLA_LEAD;
    array->values = bytes->start + ARMILLA_LEAD;
    return ARMILLA_OK;
}

typedef struct vectors {
    layout parse;
    char kind; /* NumPy's */
    int width;
} vectors;

static armilla_array begin_array(const vectors *of)
{
    return (armilla_array){.kind = of->kind,
                           .width = of->width,
                           .dimensions = 2,
                           .swapped = of->width > 1 && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__};
}

static armilla_status read_vectors(armilla_context *context, armilla_bytes *bytes, const armilla_read_options *options,
                                   const vectors *of, armilla_data **data)
{
    armilla_array array = begin_array(of);
    const armilla_status status = of->parse(context, bytes, true, &array);
    return status == ARMILLA_OK ? armilla_array_data(context, bytes, &array, options, data) : status;
}

static armilla_status stream_vectors(armilla_context *context, const armilla_head *head,
                                     const armilla_read_options *options, const vectors *of, armilla_data **data)
{
    const armilla_bytes bytes = armilla_head_file(head);
    armilla_array array = begin_array(of);
    const armilla_status status = of->parse(context, &bytes, false, &array);
    if (status != ARMILLA_OK || armilla_head_maps(head, &array, options)) return status;
    return armilla_array_stream(context, head->blocks, &array, array.values - head->bytes, options, data);
}

#define FORMAT(word, meaning_of, ...)                                                                                  \
    static const vectors word = {__VA_ARGS__};                                                                         \
    static armilla_status read_##word(armilla_context *context, armilla_bytes *bytes,                                  \
                                      const armilla_read_options *options, armilla_data **data)                        \
    {                                                                                                                  \
        return read_vectors(context, bytes, options, &word, data);                                                     \
    }                                                                                                                  \
    static armilla_status stream_##word(armilla_context *context, const armilla_head *head,                            \
                                        const armilla_read_options *options, armilla_data **data)                      \
    {                                                                                                                  \
        return stream_vectors(context, head, options, &word, data);                                                    \
    }                                                                                                                  \
    const armilla_format armilla_format_##word = {                                                                     \
        .name = #word,                                                                                                 \
        .endings = "." #word,                                                                                          \
        .meaning = meaning_of,                                                                                         \
        .by_name = true,                                                                                               \
        .read = read_##word,                                                                                           \
        .stream = stream_##word,                                                                                       \
    };

FORMAT(fvecs, "vectors of f32 behind their lengths, as TEXMEX and FAISS have them", parse_vecs, 'f', 4)
FORMAT(bvecs, "the same of u8", parse_vecs, 'u', 1)
FORMAT(ivecs, "the same of i32", parse_vecs, 'i', 4)
FORMAT(fbin, "vectors of f32, as benchmarks of approximate search have them", parse_bin, 'f', 4)
FORMAT(u8bin, "the same of u8", parse_bin, 'u', 1)
FORMAT(i8bin, "the same of i8", parse_bin, 'i', 1)

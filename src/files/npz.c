/* Reading .npz through libzip, from the file's bytes, so that opening, reading and their errors are those of every
 * other input. What an archive says of its sizes is checked against its own size before memory is taken. */
#include "files/npz.h"

#include "base/samples.h"
#include "base/size.h"
#include "files/files.h"
#include "files/npz_stream.h"
#include "files/texts.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <zip.h>

#define MOST_RATIO 1100 /* deflate reaches 1032 : 1 */
#define HEADER_PEEK (1 << 16)
#define READ_PART ((size_t)4 << 20) /* bytes after which progress is reported */

struct armilla_npz {
    armilla_context *context;
    armilla_bytes bytes;       /* of the archive; where it stays in its file only path and count are set */
    armilla_npz_source source; /* and then this is what it is read through */
    zip_t *archive;
    char where[512]; /* "FILE: array NAME" of the array that was loaded last */
};

static armilla_status bad_archive(const armilla_npz *npz, zip_error_t *error)
{
    armilla_context *context = npz->context;
    const char *path = npz->bytes.path;
    if (npz->source.failed != ARMILLA_OK) return npz->source.failed;
    if (zip_error_code_zip(error) == ZIP_ER_MEMORY)
        return armilla_fail(context, ARMILLA_NO_MEMORY, "%s: out of memory", path);
    return armilla_fail(context, ARMILLA_BAD_DATA,
                        "%s: is not a whole .npz archive: %s; give a model or an archive written by numpy.savez", path,
                        zip_error_strerror(error));
}

/* In bytes, which it takes over also where it fails, or in a file where `blocks` is not NULL. */
static armilla_status open_archive(armilla_context *context, armilla_bytes *bytes, armilla_blocks *blocks,
                                   armilla_npz **npz)
{
    zip_error_t error;
    armilla_npz *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) {
        armilla_bytes_free(context, bytes);
        return status;
    }
    made->context = context;
    made->bytes = *bytes;
    made->source = (armilla_npz_source){.blocks = blocks, .context = context};
    zip_error_init(&error);
    zip_source_t *source = blocks ? armilla_npz_source_new(&made->source, &error)
                                  : zip_source_buffer_create(bytes->start, bytes->count, 0, &error);
    if (source) made->archive = zip_open_from_source(source, ZIP_RDONLY, &error);
    if (made->archive) {
        *npz = made;
    } else {
        status = bad_archive(made, &error);
        zip_source_free(source); /* an archive that is open owns its source */
        armilla_npz_free(made);
    }
    zip_error_fini(&error);
    return status;
}

armilla_status armilla_npz_open(armilla_context *context, const char *path, armilla_npz **npz)
{
    armilla_bytes bytes;
    const armilla_status status = armilla_bytes_open(context, path, &bytes);
    return status == ARMILLA_OK ? open_archive(context, &bytes, NULL, npz) : status;
}

armilla_status armilla_npz_open_bytes(armilla_context *context, const char *path, const unsigned char *start,
                                      size_t count, armilla_npz **npz)
{
    return open_archive(context, &(armilla_bytes){.path = path, .start = start, .count = count}, NULL, npz);
}

armilla_status armilla_npz_open_blocks(armilla_context *context, armilla_blocks *blocks, armilla_npz **npz)
{
    armilla_bytes bytes = {.path = armilla_blocks_path(blocks), .count = (size_t)armilla_blocks_size(blocks)};
    return open_archive(context, &bytes, blocks, npz);
}

void armilla_npz_free(armilla_npz *npz)
{
    if (!npz) return;
    if (npz->archive) zip_discard(npz->archive);
    armilla_bytes_free(npz->context, &npz->bytes);
    armilla_release(npz->context, npz);
}

static int64_t index_of(const armilla_npz *npz, const char *name)
{
    char full[ARMILLA_NPZ_NAME];
    if ((size_t)snprintf(full, sizeof full, "%s.npy", name) >= sizeof full) return -1;
    return zip_name_locate(npz->archive, full, ZIP_FL_ENC_RAW);
}

bool armilla_npz_has(const armilla_npz *npz, const char *name)
{
    return index_of(npz, name) >= 0;
}

bool armilla_npz_entry(const armilla_npz *npz, int64_t index, char name[ARMILLA_NPZ_NAME])
{
    const char *entry = zip_get_name(npz->archive, (zip_uint64_t)index, ZIP_FL_ENC_RAW);
    if (!entry) return false;
    const size_t length = strlen(entry);
    const bool array = length > 4 && strcmp(entry + length - 4, ".npy") == 0;
    snprintf(name, ARMILLA_NPZ_NAME, "%.*s", (int)armilla_min64(INT_MAX, (int64_t)length - (array ? 4 : 0)), entry);
    return true;
}

/* The size that the archive declares for the entry, where it is possible at all. */
static armilla_status declared_size(armilla_npz *npz, int64_t index, size_t *size)
{
    const char *where = npz->where;
    zip_stat_t facts;
    const zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    zip_stat_init(&facts);
    if (zip_stat_index(npz->archive, (zip_uint64_t)index, 0, &facts) != 0 || (facts.valid & needed) != needed)
        return armilla_fail(npz->context, ARMILLA_BAD_DATA, "%s: cannot be read: %s; copy or save the archive again",
                            where, zip_strerror(npz->archive));
    if (facts.comp_method != ZIP_CM_STORE && facts.comp_method != ZIP_CM_DEFLATE)
        return armilla_fail(npz->context, ARMILLA_BAD_DATA,
                            "%s: is compressed by method %d, which NumPy does not use; save it with numpy.savez", where,
                            (int)facts.comp_method);
    const uint64_t ratio = facts.comp_method == ZIP_CM_DEFLATE ? MOST_RATIO : 1;
    if (facts.comp_size > npz->bytes.count || facts.size / ratio > facts.comp_size)
        return armilla_fail(npz->context, ARMILLA_BAD_DATA,
                            "%s: declares %" PRIu64 " bytes out of %" PRIu64
                            ", which is impossible; copy or save the archive again",
                            where, facts.size, facts.comp_size);
    *size = (size_t)facts.size;
    return ARMILLA_OK;
}

/* count bytes into block; where that is all, the one more that is asked for makes libzip compare the checksum. */
static bool read_bytes(const armilla_npz *npz, zip_file_t *file, unsigned char *block, size_t count, bool all)
{
    unsigned char more = 0;
    size_t used = 0;
    while (used < count) {
        const zip_int64_t got = zip_fread(file, block + used, count - used < READ_PART ? count - used : READ_PART);
        if (got <= 0) return false;
        used += (size_t)got;
        if (count > READ_PART && armilla_call_reached(npz->context, (int64_t)used, (int64_t)count)) return false;
    }
    return !all || zip_fread(file, &more, 1) == 0;
}

/* The entry's first bytes, no more than limit. */
static armilla_status load(armilla_npz *npz, const char *name, size_t limit, unsigned char **bytes, size_t *count)
{
    const int64_t index = index_of(npz, name);
    size_t size = 0;
    unsigned char *block = NULL;
    zip_file_t *file = NULL;
    if (index < 0)
        return armilla_fail(npz->context, ARMILLA_BAD_DATA, "%s: has no array '%s'; is it a model of armilla's?",
                            npz->bytes.path, name);
    snprintf(npz->where, sizeof npz->where, "%s: array %s", npz->bytes.path, name);
    armilla_status status = declared_size(npz, index, &size);
    if (status != ARMILLA_OK) return status;
    const size_t wanted = size < limit ? size : limit;
    /* Codes of a model may not fit: then they are in a file, unless they are compressed and only claim to be so many;
     * what is converted is in one beside the output. */
    const armilla_samples all = armilla_samples_whole((int64_t)wanted);
    status = wanted <= npz->bytes.count ? armilla_samples_take(npz->context, &all, 1, 1, &block)
                                        : armilla_grow_large(npz->context, (int64_t)wanted, 1, &block);
    if (status != ARMILLA_OK) goto done;
    file = zip_fopen_index(npz->archive, (zip_uint64_t)index, 0);
    if (!file || !read_bytes(npz, file, block, wanted, wanted == size)) {
        status = npz->source.failed;
        if (status == ARMILLA_OK)
            status = armilla_fail(npz->context, ARMILLA_BAD_DATA, "%s: is damaged: %s; copy or save the archive again",
                                  npz->where, file ? zip_file_strerror(file) : zip_strerror(npz->archive));
        goto done;
    }
    *bytes = block;
    *count = wanted;
    block = NULL;
done:
    if (file) zip_fclose(file);
    armilla_release(npz->context, block);
    return status;
}

const char *armilla_npz_where(const armilla_npz *npz)
{
    return npz->where;
}

armilla_status armilla_npz_load(armilla_npz *npz, const char *name, armilla_array *array, unsigned char **block)
{
    unsigned char *made = NULL;
    size_t count = 0;
    armilla_status status = load(npz, name, SIZE_MAX, &made, &count);
    if (status != ARMILLA_OK) return status;
    status = armilla_array_parse(npz->context, npz->where, made, count, false, array);
    if (status == ARMILLA_OK)
        *block = made;
    else
        armilla_release(npz->context, made);
    return status;
}

static bool is_real(const armilla_array *array)
{
    return array->kind == 'f' && (array->width == 4 || array->width == 8);
}

static armilla_status wrong_kind(armilla_npz *npz, const armilla_array *array, const char *wanted)
{
    return armilla_fail(npz->context, ARMILLA_BAD_DATA,
                        "%s: holds numbers of type %c%d, and %s are expected; was the file changed?", npz->where,
                        array->kind, array->width, wanted);
}

static armilla_status check_shape(armilla_npz *npz, const armilla_array *array, int64_t rows, int64_t cols)
{
    const int64_t wanted[2] = {rows, cols};
    const int dimensions = rows < 0 ? 0 : cols < 0 ? 1 : 2;
    bool same = array->dimensions == dimensions;
    char has[64], needs[64];
    for (int i = 0; i < dimensions; i++) same = same && (wanted[i] == 0 || wanted[i] == array->shape[i]);
    if (same) return ARMILLA_OK;
    armilla_array_show_shape(array->dimensions, array->shape, "0", has);
    armilla_array_show_shape(dimensions, wanted, "any", needs);
    return armilla_fail(npz->context, ARMILLA_BAD_DATA,
                        "%s: has the shape %s, and %s is expected; was the file changed?", npz->where, has, needs);
}

/* *values = the numbers as asked: the block itself where they are so already, to save the memory of a second. */
static armilla_status take_values(armilla_npz *npz, const armilla_array *array, armilla_type type,
                                  unsigned char **block, void **values)
{
    const int64_t count = array->shape[0] * array->shape[1];
    if (!*block || !armilla_array_is(array, type, true)) {
        armilla_status status = armilla_grow(npz->context, count, armilla_type_size(type), values);
        if (status == ARMILLA_OK) armilla_array_copy(array, type, true, *values);
        return status;
    }
    memmove(*block, array->values, (size_t)count * armilla_type_size(type));
    *values = *block;
    *block = NULL;
    return ARMILLA_OK;
}

armilla_status armilla_npz_read(armilla_npz *npz, const char *name, armilla_type type, int64_t *rows, int64_t *cols,
                                void *values)
{
    armilla_array array;
    unsigned char *block = NULL;
    void *made = NULL;
    armilla_status status = armilla_npz_load(npz, name, &array, &block);
    if (status != ARMILLA_OK) return status;
    status = is_real(&array) ? ARMILLA_OK : wrong_kind(npz, &array, "f4 or f8");
    if (status == ARMILLA_OK) status = check_shape(npz, &array, *rows, *cols);
    if (status == ARMILLA_OK) status = take_values(npz, &array, type, &block, &made);
    armilla_release(npz->context, block);
    if (status != ARMILLA_OK) return status;
    if (*rows == 0) *rows = array.shape[0];
    if (*cols == 0 && array.dimensions == 2) *cols = array.shape[1];
    *(void **)values = made;
    return ARMILLA_OK;
}

armilla_status armilla_npz_peek(armilla_npz *npz, const char *name, armilla_array *array)
{
    unsigned char *block = NULL;
    size_t count = 0, declared = 0;
    armilla_status status = load(npz, name, HEADER_PEEK, &block, &count);
    if (status == ARMILLA_OK)
        status = armilla_array_parse_header(npz->context, npz->where, block, count, array, &declared);
    if (status == ARMILLA_OK) array->values = NULL;
    armilla_release(npz->context, block);
    return status;
}

/* The offset in the file of the content of a stored entry. libzip does not report it: it is the place of libzip's first
 * read of the content. What libzip has read is compared with the bytes there. */
static int64_t find_place(armilla_npz *npz, const char *name)
{
    enum { SAMPLE = 64 };
    unsigned char got[SAMPLE], there[SAMPLE];
    zip_stat_t facts;
    const int64_t index = index_of(npz, name), size = armilla_blocks_size(npz->source.blocks);
    zip_stat_init(&facts);
    if (zip_stat_index(npz->archive, (zip_uint64_t)index, 0, &facts) != 0 || facts.comp_method != ZIP_CM_STORE)
        return -1;
    zip_file_t *file = zip_fopen_index(npz->archive, (zip_uint64_t)index, 0);
    npz->source.read_at = -1;
    const zip_int64_t count = file ? zip_fread(file, got, sizeof got) : -1;
    const int64_t at = npz->source.read_at;
    if (file) zip_fclose(file);
    if (count <= 0 || at < 0 || facts.size > (zip_uint64_t)(size - at)) return -1;
    const armilla_status status =
        armilla_blocks_read(npz->source.blocks, npz->context, (armilla_extent){at, count}, false, there);
    return status == ARMILLA_OK && memcmp(got, there, (size_t)count) == 0 ? at : -1;
}

armilla_status armilla_npz_locate(armilla_npz *npz, const char *name, armilla_array *array, int64_t *at)
{
    unsigned char *block = NULL;
    size_t count = 0, declared = 0, size = 0;
    armilla_status status = load(npz, name, HEADER_PEEK, &block, &count);
    if (status == ARMILLA_OK) status = declared_size(npz, index_of(npz, name), &size);
    if (status == ARMILLA_OK)
        status = armilla_array_parse_header(npz->context, npz->where, block, count, array, &declared);
    const int64_t header = status == ARMILLA_OK ? array->values - block : 0;
    if (status == ARMILLA_OK)
        status = armilla_array_check_length(npz->context, npz->where, size - (size_t)header, declared);
    armilla_release(npz->context, block);
    if (status != ARMILLA_OK) return status;
    array->values = NULL;
    *at = find_place(npz, name);
    if (*at >= 0) *at += header;
    return ARMILLA_OK;
}

armilla_status armilla_npz_type(armilla_npz *npz, const char *name, armilla_type *type)
{
    armilla_array array;
    armilla_status status = armilla_npz_peek(npz, name, &array);
    if (status == ARMILLA_OK && !is_real(&array)) status = wrong_kind(npz, &array, "f4 or f8");
    if (status == ARMILLA_OK) *type = array.width == 4 ? ARMILLA_F32 : ARMILLA_F64;
    return status;
}

armilla_status armilla_npz_read_text(armilla_npz *npz, const char *name, char **text)
{
    armilla_array array;
    unsigned char *block = NULL;
    armilla_status status = armilla_npz_load(npz, name, &array, &block);
    if (status != ARMILLA_OK) return status;
    if (array.kind != 'u' || array.width != 1) status = wrong_kind(npz, &array, "bytes (u1)");
    if (status == ARMILLA_OK) status = check_shape(npz, &array, 0, -1);
    if (status == ARMILLA_OK && block) {
        /* The header before the bytes leaves space for the final NUL. */
        memmove(block, array.values, (size_t)array.shape[0]);
        block[array.shape[0]] = '\0';
        *text = (char *)block;
        block = NULL;
    }
    armilla_release(npz->context, block);
    return status;
}

/* The strings of a vector, or of an array of any shape. */
static armilla_status read_strings(armilla_npz *npz, const char *name, bool vector, armilla_names *names)
{
    armilla_array array;
    unsigned char *block = NULL;
    size_t count = 0;
    armilla_status status = load(npz, name, SIZE_MAX, &block, &count);
    if (status == ARMILLA_OK) status = armilla_array_parse(npz->context, npz->where, block, count, true, &array);
    if (status == ARMILLA_OK && vector) status = check_shape(npz, &array, 0, -1);
    if (status == ARMILLA_OK) status = armilla_texts_read(npz->context, &array, names);
    armilla_release(npz->context, block);
    return status;
}

armilla_status armilla_npz_read_texts(armilla_npz *npz, const char *name, armilla_names *names)
{
    return read_strings(npz, name, true, names);
}

armilla_status armilla_npz_read_word(armilla_npz *npz, const char *name, size_t size, char *word)
{
    armilla_names names = {.count = 0};
    armilla_status status = read_strings(npz, name, false, &names);
    if (status == ARMILLA_OK && (names.count != 1 || strlen(armilla_names_at(&names, 0)) >= size))
        status =
            armilla_fail(npz->context, ARMILLA_BAD_DATA, "%s: is not a short word; save the file again", npz->where);
    if (status == ARMILLA_OK) strcpy(word, armilla_names_at(&names, 0));
    armilla_names_free(npz->context, &names);
    return status;
}

armilla_status armilla_npz_read_integers(armilla_npz *npz, const char *name, int64_t count, int64_t **values)
{
    armilla_array array;
    unsigned char *block = NULL;
    int64_t *made = NULL;
    armilla_status status = armilla_npz_load(npz, name, &array, &block);
    if (status != ARMILLA_OK) return status;
    if (array.kind != 'i' && array.kind != 'u') status = wrong_kind(npz, &array, "integers");
    if (status == ARMILLA_OK) status = check_shape(npz, &array, count, -1);
    if (status == ARMILLA_OK) status = armilla_take(npz->context, count, sizeof *made, &made);
    for (int64_t i = 0; i < count && status == ARMILLA_OK; i++) {
        double value = 0;
        armilla_number_find(array.kind, array.width)->fetch(array.values + i * array.width, array.swapped, 1, &value);
        made[i] = value >= 0 && value < 9e15 ? (int64_t)value : -1; /* the caller knows the range */
    }
    armilla_release(npz->context, block);
    if (status == ARMILLA_OK) *values = made;
    return status;
}

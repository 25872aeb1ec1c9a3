/* A source of bytes for libzip that reads a file through blocks. */
#include "files/npz_stream.h"

#include "base/size.h"

static zip_int64_t read_some(armilla_npz_source *s, void *to, zip_uint64_t count)
{
    const int64_t left = armilla_blocks_size(s->blocks) - s->at;
    const int64_t wanted = count < (zip_uint64_t)left ? (int64_t)count : left;
    if (s->read_at < 0) s->read_at = s->at;
    s->failed = armilla_blocks_read(s->blocks, s->context, (armilla_extent){s->at, wanted}, false, to);
    if (s->failed != ARMILLA_OK) {
        zip_error_set(&s->error, ZIP_ER_READ, 0);
        return -1;
    }
    s->at += wanted;
    return wanted;
}

static zip_int64_t seek_to(armilla_npz_source *s, void *where, zip_uint64_t count)
{
    const zip_int64_t place = zip_source_seek_compute_offset(
        (zip_uint64_t)s->at, (zip_uint64_t)armilla_blocks_size(s->blocks), where, count, &s->error);
    if (place < 0) return -1;
    s->at = place;
    return 0;
}

static zip_int64_t state_size(armilla_npz_source *s, void *to)
{
    zip_stat_t *facts = to;
    zip_stat_init(facts);
    facts->size = facts->comp_size = (zip_uint64_t)armilla_blocks_size(s->blocks);
    facts->valid = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
    return sizeof *facts;
}

static zip_int64_t answer(void *self, void *data, zip_uint64_t count, zip_source_cmd_t command)
{
    armilla_npz_source *s = self;
    switch (command) {
    case ZIP_SOURCE_OPEN:
        s->at = 0;
        return 0;
    case ZIP_SOURCE_READ:
        return read_some(s, data, count);
    case ZIP_SOURCE_SEEK:
        return seek_to(s, data, count);
    case ZIP_SOURCE_TELL:
        return s->at;
    case ZIP_SOURCE_STAT:
        return state_size(s, data);
    case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&s->error, data, count);
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE:
        return 0;
    case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL,
                                              ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_CLOSE, ZIP_SOURCE_FREE, -1);
    default:
        zip_error_set(&s->error, ZIP_ER_OPNOTSUPP, 0);
        return -1;
    }
}

zip_source_t *armilla_npz_source_new(armilla_npz_source *source, zip_error_t *error)
{
    zip_error_init(&source->error);
    source->at = 0;
    source->read_at = -1;
    return zip_source_function_create(answer, source, error);
}

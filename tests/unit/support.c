/* Shared by the unit tests; see support.h. */
#include "support.h"

#include <dirent.h>
#include <ftw.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

static char directory[64];
static pid_t owner;

/* NaN in both precisions, signalling in f64, and no size, index or truth value that makes sense. Blocks begin and end on
 * four bytes, but for a sanitizer's, whose last few stay as they are. By wmemset, which compilers do not leave out before
 * free. Valgrind knows by itself what was never written, and would take this for it. */
static void spoil(char *start, size_t first, size_t end)
{
    _Static_assert(sizeof(wchar_t) == 4, "four bytes at a time");
    static int wanted = -1;
    if (__atomic_load_n(&wanted, __ATOMIC_RELAXED) < 0)
        __atomic_store_n(&wanted, getenv("ARMILLA_VALGRIND") == NULL, __ATOMIC_RELAXED);
    first = (first + 3) / 4 * 4;
    if (__atomic_load_n(&wanted, __ATOMIC_RELAXED) && first < end)
        wmemset((wchar_t *)(void *)(start + first), 0x7ff4a5a5, (end - first) / 4);
}

/* realloc that leaves no bytes of luck: neither in what is new, nor in what is given back. A block is spoilt as far as
 * the C library could let it grow in place. */
static void *spoiling_resize(void *user, void *block, size_t bytes)
{
    const size_t before = block ? malloc_usable_size(block) : 0;
    (void)user;
    if (bytes == 0) {
        if (block) spoil(block, 0, before);
        free(block);
        return NULL;
    }
    char *made = realloc(block, bytes);
    if (made) spoil(made, before, malloc_usable_size(made));
    return made;
}

static void *count_resize(void *user, void *block, size_t bytes)
{
    support_allocator *allocator = user;
    if (bytes == 0) {
        if (block) __atomic_sub_fetch(&allocator->live, 1, __ATOMIC_RELAXED);
        return spoiling_resize(NULL, block, 0);
    }
    __atomic_store_n(&allocator->newest, bytes, __ATOMIC_RELAXED);
    if (bytes > __atomic_load_n(&allocator->largest, __ATOMIC_RELAXED))
        __atomic_store_n(&allocator->largest, bytes, __ATOMIC_RELAXED);
    const int64_t before = __atomic_fetch_add(&allocator->taken, 1, __ATOMIC_RELAXED);
    const bool limited = allocator->countdown >= 0;
    if (limited && (allocator->fail_all_after ? before >= allocator->countdown : before == allocator->countdown))
        return NULL;
    void *made = spoiling_resize(NULL, block, bytes);
    if (made && !block) __atomic_add_fetch(&allocator->live, 1, __ATOMIC_RELAXED);
    return made;
}

armilla_allocator support_allocator_table(support_allocator *allocator)
{
    return (armilla_allocator){sizeof(armilla_allocator), count_resize, allocator};
}

armilla_context *support_context(void)
{
    const armilla_allocator table = {sizeof table, spoiling_resize, NULL};
    armilla_context *context = NULL;
    assert_int_equal(armilla_context_new(&table, &context), ARMILLA_OK);
    return context;
}

armilla_context *support_context_with(support_allocator *allocator)
{
    const armilla_allocator table = support_allocator_table(allocator);
    armilla_context *context = NULL;
    assert_int_equal(armilla_context_new(&table, &context), ARMILLA_OK);
    return context;
}

void support_begin(support_allocator *allocator, armilla_context **context)
{
    support_clean();
    *allocator = SUPPORT_ALLOCATOR;
    *context = support_context_with(allocator);
}

void support_end(const support_allocator *allocator, armilla_context *context)
{
    armilla_context_free(context);
    support_clean();
    assert_int_equal(allocator->live, 0);
}

static int remove_entry(const char *path, const struct stat *facts, int kind, struct FTW *place)
{
    (void)facts;
    (void)kind;
    return place->level == 0 ? 0 : remove(path);
}

void support_clean(void)
{
    if (directory[0]) (void)nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void remove_directory(void)
{
    if (getpid() != owner) return;
    support_clean();
    (void)rmdir(directory);
}

static void make_directory(void)
{
    if (directory[0]) return;
    strcpy(directory, "/tmp/armilla-test-XXXXXX");
    if (!mkdtemp(directory)) fail_msg("a temporary directory cannot be made");
    owner = getpid();
    atexit(remove_directory);
}

const char *support_path(char buffer[], size_t size, const char *name)
{
    make_directory();
    assert_true((size_t)snprintf(buffer, size, "%s/%s", directory, name) < size);
    return buffer;
}

int support_entries(void)
{
    int count = 0;
    make_directory();
    DIR *open = opendir(directory);
    assert_non_null(open);
    for (const struct dirent *found = readdir(open); found; found = readdir(open))
        count += strcmp(found->d_name, ".") != 0 && strcmp(found->d_name, "..") != 0;
    closedir(open);
    return count;
}

void support_write_file(const char *path, const void *bytes, size_t count)
{
    (void)unlink(path); /* ext4 flushes a file that is truncated and written anew, which takes long */
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

char *support_read_file(const char *path, size_t *count)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const size_t size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, size, file), size);
    bytes[size] = '\0';
    fclose(file);
    if (count) *count = size;
    return bytes;
}

void support_fails(const armilla_context *context, armilla_status got, armilla_status wanted, const char *part)
{
    const char *message = armilla_context_error(context);
    if (got != wanted || !strstr(message, part))
        fail_msg("status %d (%s) with '%s'; expected status %d (%s) with '%s'", (int)got, armilla_status_text(got),
                 message, (int)wanted, armilla_status_text(wanted), part);
}

void support_ok(const armilla_context *context, armilla_status got)
{
    if (got != ARMILLA_OK) fail_msg("status %d with '%s'", (int)got, armilla_context_error(context));
}

armilla_status support_read(armilla_context *context, const armilla_format *format, const void *start, size_t count,
                            const armilla_read_options *options, armilla_data **data)
{
    unsigned char *copy = malloc(count ? count : 1);
    char path[32];
    armilla_bytes bytes = {.path = path, .start = copy, .count = count};
    snprintf(path, sizeof path, "a%.*s", (int)strcspn(format->endings, " "), format->endings);
    if (count) memcpy(copy, start, count);
    const int64_t outer = armilla_memory_enter(context, options->memory);
    armilla_status status = armilla_call_enter(context, options->threads);
    if (status == ARMILLA_OK) {
        status = format->read(context, &bytes, options, data);
        armilla_call_leave(context);
    }
    armilla_memory_leave(context, outer);
    free(copy);
    return status;
}

armilla_panel support_load(const armilla_data *data, void **workspace)
{
    armilla_panel panel = {.context = data->context,
                           .data = data,
                           .kernels = armilla_kernels_for(data->context, ARMILLA_F64),
                           .count = data->n};
    *workspace = malloc(data->ops->workspace(data, ARMILLA_F64, data->n) + 1);
    support_ok(data->context, data->ops->load(&panel, *workspace));
    return panel;
}

bool support_has_index64(const armilla_data *data)
{
    void *workspace = NULL;
    const armilla_panel panel = support_load(data, &workspace);
    free(workspace);
    return panel.sparse.index64;
}

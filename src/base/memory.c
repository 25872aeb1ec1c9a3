/* The context's memory: every block is counted, and none is taken that would pass the limit. A block has its size in
 * front of it, because the caller's allocator does not tell it. */
#include "base/memory.h"
#include "base/samples.h"

#include "base/number.h"
#include "base/size.h"

#include <errno.h>
#include <inttypes.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HEADER = sizeof(armilla_block_header), BYTES_PER_INPUT = 64, TEXT = 32 };
#define LEAST_BUDGET ((int64_t)1 << 30) /* by input: where there is none */

#ifndef ARMILLA_SPILL_PART /* of what is left: an array is mostly one of several; fuzzing makes it small */
#define ARMILLA_SPILL_PART 4
#endif

_Static_assert(HEADER % alignof(max_align_t) == 0, "blocks stay aligned");

/* a * b, and the largest number where that is too large. */
static int64_t multiply_most(int64_t a, int64_t b)
{
    int64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static int64_t add_most(int64_t a, int64_t b)
{
    int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static void set_budget(armilla_memory *memory)
{
    if (!memory->by_input) return;
    const int64_t part = multiply_most(multiply_most(BYTES_PER_INPUT, memory->input), add_most(1, memory->rank));
    memory->limit = armilla_min64(add_most(LEAST_BUDGET, part), memory->free);
}

void armilla_context_set_memory(armilla_context *context, int64_t bytes)
{
    if (!context) return;
    armilla_memory *memory = &context->memory;
    memory->by_input = bytes == ARMILLA_MEMORY_BY_INPUT;
    memory->limit = bytes > 0 ? bytes : INT64_MAX;
    memory->call = INT64_MAX;
    if (!memory->by_input) return;
    memory->free = add_most(armilla_memory_free(context->io) / 8 * 7, memory->live);
    set_budget(memory);
}

int64_t armilla_context_memory_limit(const armilla_context *context)
{
    return context ? armilla_min64(context->memory.limit, context->memory.call) : INT64_MAX;
}

int64_t armilla_context_memory_live(const armilla_context *context)
{
    return context ? __atomic_load_n(&context->memory.live, __ATOMIC_RELAXED) : 0;
}

int64_t armilla_context_memory_peak(const armilla_context *context)
{
    return context ? __atomic_load_n(&context->memory.peak, __ATOMIC_RELAXED) : 0;
}

void armilla_memory_add_input(armilla_context *context, int64_t bytes)
{
    context->memory.input = add_most(context->memory.input, bytes);
    set_budget(&context->memory);
}

int64_t armilla_memory_left(const armilla_context *context)
{
    const int64_t limit = armilla_context_memory_limit(context);
    const int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    int64_t all = 0;
    if (limit < INT64_MAX) return armilla_max64(limit - armilla_context_memory_live(context), 0);
    return pages > 0 && page > 0 && armilla_size_area(pages, page, &all) ? all / 2 : INT64_MAX / 4;
}

bool armilla_memory_holds(const armilla_context *context, int64_t bytes)
{
    const armilla_memory *memory = &context->memory;
    const int64_t limit = armilla_min64(memory->by_input ? memory->free : memory->limit, memory->call);
    if (limit == INT64_MAX) return bytes <= armilla_memory_left(context);
    return bytes <= armilla_max64(limit - armilla_context_memory_live(context), 0) / 2;
}

void armilla_memory_add_rank(armilla_context *context, int64_t rank)
{
    context->memory.rank = armilla_max64(context->memory.rank, rank);
    set_budget(&context->memory);
}

int64_t armilla_memory_enter(armilla_context *context, int64_t bytes)
{
    const int64_t outer = context->memory.call;
    if (bytes > 0) context->memory.call = armilla_min64(outer, bytes);
    return outer;
}

void armilla_memory_leave(armilla_context *context, int64_t outer)
{
    context->memory.call = outer;
}

/* "1.5 GiB" */
static const char *show_bytes(double bytes, char text[TEXT])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    for (; bytes >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++) bytes /= 1024;
    (void)armilla_plain_print(text, TEXT, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return text;
}

/* A --memory that is enough for some time: twice what is known to be needed, as a power of two. */
static const char *show_advice(double bytes, char text[TEXT])
{
    static const char letters[] = "MGT";
    double size = 1;
    size_t letter = 0;
    while (size * 0x1p20 < 2 * bytes && size < 0x1p40) size *= 2;
    for (; size >= 1024 && letters[letter + 1]; letter++) size /= 1024;
    (void)armilla_plain_print(text, TEXT, "%.0f%c", size, letters[letter]);
    return text;
}

/* The limit would be passed. */
static armilla_status past_limit(armilla_context *context, const char *what, double bytes)
{
    const armilla_memory *memory = &context->memory;
    const int64_t limit = armilla_context_memory_limit(context), live = armilla_context_memory_live(context);
    char needed[TEXT], held[TEXT], allowed[TEXT], input[TEXT], advice[TEXT];
    show_bytes(bytes, needed);
    show_bytes((double)live, held);
    show_bytes((double)limit, allowed);
    if (!memory->by_input || limit == memory->call)
        return armilla_fail(
            context, ARMILLA_NO_MEMORY,
            "out of memory: %s %s besides the %s in use, and the limit is %s; raise it by " ARMILLA_FIELD(
                "memory %s") " or more",
            what, needed, held, allowed, show_advice((double)live + bytes, advice));
    if (limit == memory->free)
        return armilla_fail(context, ARMILLA_NO_MEMORY,
                            "out of memory: %s %s besides the %s in use, and this machine has %s to spare; use a "
                            "smaller rank, " ARMILLA_FIELD("precision f32") " or a machine with more memory",
                            what, needed, held, allowed);
    return armilla_fail(
        context, ARMILLA_NO_MEMORY,
        "out of memory: %s %s besides the %s in use, and an input of %s may take %s; where it is right, "
        "raise the limit to " ARMILLA_FIELD("memory %s") " or more",
        what, needed, held, show_bytes((double)memory->input, input), allowed,
        show_advice((double)live + bytes, advice));
}

armilla_status armilla_memory_afford(armilla_context *context, const char *what, double bytes)
{
    const int64_t limit = armilla_context_memory_limit(context);
    if (limit == INT64_MAX || bytes <= (double)limit - (double)armilla_context_memory_live(context)) return ARMILLA_OK;
    return past_limit(context, what, bytes);
}

/* The allocator itself has no more. */
armilla_status armilla_memory_refused(armilla_context *context, double bytes)
{
    char needed[TEXT], held[TEXT];
    return armilla_fail(context, ARMILLA_NO_MEMORY,
                        "out of memory: %s cannot be had besides the %s in use; use a smaller rank, " ARMILLA_FIELD(
                            "precision f32") " or "
                                             "a machine with more memory",
                        show_bytes(bytes, needed), show_bytes((double)armilla_context_memory_live(context), held));
}

/* Counts bytes more, unless that passes the limit. */
static bool claim(armilla_context *context, int64_t bytes)
{
    armilla_memory *memory = &context->memory;
    const int64_t limit = armilla_context_memory_limit(context);
    int64_t live = armilla_context_memory_live(context), now = 0;
    do {
        if (bytes > limit - live) return false;
        now = live + bytes;
    } while (!__atomic_compare_exchange_n(&memory->live, &live, now, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    int64_t peak = armilla_context_memory_peak(context);
    while (now > peak &&
           !__atomic_compare_exchange_n(&memory->peak, &peak, now, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
    return true;
}

armilla_status armilla_memory_claim(armilla_context *context, int64_t bytes)
{
    return claim(context, bytes) ? ARMILLA_OK : past_limit(context, "an array needs", (double)bytes);
}

void armilla_memory_give_back(armilla_context *context, int64_t bytes)
{
    __atomic_sub_fetch(&context->memory.live, bytes, __ATOMIC_RELAXED);
}

/* The header of a block; NULL has none. */
static armilla_block_header header_of(const void *block)
{
    armilla_block_header header = {0, 0};
    if (block) memcpy(&header, (const char *)block - HEADER, sizeof header);
    return header;
}

/* Large blocks in large pages, where the system has them: fewer faults, and fewer misses of addresses. It is a wish, and
 * whoever refuses it changes nothing. */
static void ask_for_large_pages(char *start, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    enum { LARGE = 4 << 20 };
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = ((uintptr_t)start + page - 1) / page * page;
    const uintptr_t last = ((uintptr_t)start + bytes) / page * page;
    const int error = errno;
    if (bytes >= LARGE) (void)madvise(start + (first - (uintptr_t)start), last - first, MADV_HUGEPAGE);
    errno = error;
#else
    (void)start;
    (void)bytes;
#endif
}

armilla_status armilla_grow(armilla_context *context, int64_t count, size_t size, void *block)
{
    void **place = block;
    const double asked = (double)count * (double)size;
    size_t bytes = 0;
    const armilla_status status = ARMILLA_NOT_NULL(context, block);
    if (status != ARMILLA_OK) return status;
    if (count < 0 || !armilla_size_multiply(count > 0 ? count : 1, size, &bytes) || bytes > PTRDIFF_MAX - HEADER)
        return armilla_memory_refused(context, asked);
    if (armilla_spill_owns(context, *place)) return armilla_spill_resize(context, (int64_t)bytes, block);
    const int64_t before = header_of(*place).bytes, after = (int64_t)bytes + HEADER;
    const armilla_block_header header = {.bytes = after};
    if (after > before && !claim(context, after - before)) return past_limit(context, "an array needs", asked);
    char *start = *place ? (char *)*place - HEADER : NULL;
    start = context->allocator.resize(context->allocator.user, start, (size_t)after);
    if (!start && after > before) armilla_memory_give_back(context, after - before);
    if (!start) return armilla_memory_refused(context, asked);
    if (after < before) armilla_memory_give_back(context, before - after);
    if (before == 0) ask_for_large_pages(start, (size_t)after); /* what grows is not all used */
    memcpy(start, &header, sizeof header);
    *place = start + HEADER;
    return ARMILLA_OK;
}

/* Moves a block into a file. */
static armilla_status spill(armilla_context *context, int64_t bytes, void **place)
{
    void *made = NULL;
    const armilla_status status = armilla_spill_take(context, bytes, &made);
    if (status != ARMILLA_OK) return status;
    if (*place) memcpy(made, *place, (size_t)armilla_min64(header_of(*place).bytes - HEADER, bytes));
    armilla_release(context, *place);
    *place = made;
    return ARMILLA_OK;
}

armilla_status armilla_grow_large(armilla_context *context, int64_t count, size_t size, void *block)
{
    size_t bytes = 0;
    const bool small = count < 0 || !armilla_size_multiply(count > 0 ? count : 1, size, &bytes) ||
                       bytes > PTRDIFF_MAX - HEADER ||
                       (int64_t)bytes <= armilla_memory_left(context) / ARMILLA_SPILL_PART;
    if (small || !armilla_spill_allowed(context) || armilla_spill_owns(context, *(void **)block))
        return armilla_grow(context, count, size, block);
    return spill(context, (int64_t)bytes, block);
}

armilla_status armilla_take(armilla_context *context, int64_t count, size_t size, void *block)
{
    void *made = NULL;
    armilla_status status = ARMILLA_NOT_NULL(context, block);
    if (status == ARMILLA_OK) status = armilla_grow(context, count, size, &made);
    if (status != ARMILLA_OK) return status;
    memset(made, 0, (size_t)(count > 0 ? count : 1) * size);
    *(void **)block = made;
    return ARMILLA_OK;
}

void armilla_release(armilla_context *context, void *block)
{
    if (!context || !block || armilla_spill_release(context, block)) return;
    const armilla_block_header header = header_of(block);
    armilla_memory_give_back(context, header.bytes);
    if (!header.mapped) {
        context->allocator.resize(context->allocator.user, (char *)block - HEADER, 0);
        return;
    }
    armilla_samples_forget(context, (char *)block - ARMILLA_LINE);
    (void)munmap((char *)block - ARMILLA_LINE, (size_t)header.mapped);
}

armilla_status armilla_copy_text(armilla_context *context, const char *text, char **copy)
{
    char *made = NULL;
    armilla_status status = ARMILLA_OK;
    if (text) {
        const size_t bytes = strlen(text) + 1;
        status = armilla_take(context, (int64_t)bytes, 1, &made);
        if (status == ARMILLA_OK) memcpy(made, text, bytes);
    }
    if (status == ARMILLA_OK) *copy = made;
    return status;
}

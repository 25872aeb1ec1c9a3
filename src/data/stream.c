/* Dense data in a file: the bytes of a panel are copied out of the blocks, and become numbers there. */
#include "data/stream.h"

#include "base/size.h"

#include <inttypes.h>
#include <string.h>

typedef struct streamed {
    armilla_data data;
    armilla_blocks *blocks;
    armilla_stored numbers;
} streamed;

enum { RUN = 512 }; /* numbers that are converted together */

void armilla_stored_decode(const armilla_stored *numbers, const unsigned char *from, int64_t count, void *to)
{
    const int64_t size = (int64_t)armilla_type_size(numbers->type);
    double run[RUN];
    if (!numbers->fetch) {
        memcpy(to, from, (size_t)(count * size));
        return;
    }
    for (int64_t first = 0; first < count; first += RUN) {
        const int64_t part = armilla_min64(RUN, count - first);
        numbers->fetch(from + first * numbers->width, numbers->swapped, part, run);
        armilla_store(numbers->type, part, run, (char *)to + first * size);
    }
}

int64_t armilla_lead_at(const unsigned char *at)
{
    return (int32_t)((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
}

int64_t armilla_counted_odd(const armilla_counted *samples, int64_t n)
{
    int64_t j = 0;
    while (j < n && armilla_lead_at(samples->start + j * samples->step) == samples->m) j++;
    return j;
}

armilla_status armilla_counted_refuse(armilla_context *context, const armilla_counted *samples, int64_t odd,
                                      int64_t number)
{
    return armilla_fail(context, ARMILLA_BAD_DATA,
                        "%s: vector %" PRId64 " (counted from 1) declares %" PRId64 " numbers, and the first %" PRId64
                        "; all vectors must have equally many, so copy or make the file again",
                        samples->path, number + 1, armilla_lead_at(samples->start + odd * samples->step), samples->m);
}

/* Bytes from one sample to the next. */
static int64_t step_of(const streamed *X)
{
    return X->numbers.lead + X->data.m * X->numbers.width;
}

/* The panel as stored, then, where that is another, in its type, then in the working type. */
static size_t stored_bytes(const streamed *X, int64_t width)
{
    return armilla_padded((size_t)(step_of(X) * width));
}

static size_t decoded_bytes(const streamed *X, int64_t width)
{
    return X->numbers.fetch ? armilla_padded((size_t)(X->data.m * width) * armilla_type_size(X->data.type)) : 0;
}

static size_t workspace(const armilla_data *X, armilla_type work, int64_t width)
{
    const streamed *s = (const streamed *)X;
    return stored_bytes(s, width) + decoded_bytes(s, width) +
           (X->type == work ? 0 : (size_t)(X->m * width) * armilla_type_size(work));
}

static armilla_extent extent_of(const streamed *X, int64_t first, int64_t last)
{
    const int64_t step = step_of(X);
    return (armilla_extent){X->numbers.at - X->numbers.lead + first * step, (last - first) * step};
}

/* What the thread will want: the rest of its slot, then the next one. */
static void expect(const streamed *X, const armilla_panel *panel)
{
    const int64_t n = X->data.n, next = armilla_min64(panel->next, n);
    armilla_extent rest = extent_of(X, next, armilla_min64(next + panel->next_count, n));
    if (panel->until > next) rest = extent_of(X, next, panel->until);
    armilla_blocks_expect(X->blocks, panel->context, rest);
    if (panel->then < n && panel->then > panel->first)
        armilla_blocks_expect(X->blocks, panel->context,
                              extent_of(X, panel->then, armilla_min64(panel->then + panel->count, n)));
}

static armilla_status check_leads(const armilla_panel *panel, const unsigned char *stored)
{
    const streamed *X = (const streamed *)panel->data;
    const armilla_counted samples = {armilla_blocks_path(X->blocks), stored, step_of(X), X->data.m};
    const int64_t odd = X->numbers.lead ? armilla_counted_odd(&samples, panel->count) : panel->count;
    return odd == panel->count ? ARMILLA_OK : armilla_counted_refuse(panel->context, &samples, odd, panel->first + odd);
}

/* to = count numbers from there, one after the other. */
typedef void (*change)(const armilla_panel *panel, const void *from, int64_t count, void *to);

static void decode(const armilla_panel *panel, const void *from, int64_t count, void *to)
{
    armilla_stored_decode(&((const streamed *)panel->data)->numbers, from, count, to);
}

static void convert(const armilla_panel *panel, const void *from, int64_t count, void *to)
{
    panel->kernels->convert[panel->data->type](count, from, to);
}

/* Changes all numbers of the panel, whose samples `step` bytes part; `size`: bytes of a number in the result. */
static void change_panel(armilla_panel *panel, change apply, int64_t step, int64_t size, void *to)
{
    const int64_t m = panel->data->m;
    const bool packed = panel->stride == m;
    for (int64_t j = 0; j < (packed ? 1 : panel->count); j++)
        apply(panel, (const char *)panel->columns + j * step, packed ? m * panel->count : m, (char *)to + j * m * size);
    panel->columns = to;
    panel->stride = m;
}

static armilla_status load(armilla_panel *panel, void *space)
{
    const streamed *X = (const streamed *)panel->data;
    const armilla_type work = panel->kernels->type, type = X->data.type;
    const int64_t step = step_of(X), size = (int64_t)armilla_type_size(type);
    unsigned char *stored = space;
    char *decoded = (char *)space + stored_bytes(X, panel->count),
         *converted = decoded + decoded_bytes(X, panel->count);
    const bool alone = panel->next_count <= 0;
    if (!alone) expect(X, panel);
    armilla_status status = armilla_blocks_read(X->blocks, panel->context,
                                                extent_of(X, panel->first, panel->first + panel->count), alone, stored);
    if (status == ARMILLA_OK) status = check_leads(panel, stored);
    if (status != ARMILLA_OK) return status;
    panel->columns = stored + X->numbers.lead;
    panel->stride = step / X->numbers.width;
    panel->ahead = space; /* what comes next is not in memory yet */
    panel->ahead_bytes = 0;
    if (X->numbers.fetch) change_panel(panel, decode, step, size, decoded);
    if (type != work) change_panel(panel, convert, panel->stride * size, (int64_t)armilla_type_size(work), converted);
    return ARMILLA_OK;
}

static void free_streamed(armilla_data *data)
{
    armilla_blocks_free(((streamed *)data)->blocks);
    armilla_release(data->context, data);
}

#define STORAGE(name, type, word, numpy) [name] = ("streamed dense " word),

static const armilla_data_ops streamed_ops = {
    .storage = {ARMILLA_TYPE_LIST(STORAGE)},
    .workspace = workspace,
    .load = load,
    ARMILLA_DENSE_PANELS,
    .free = free_streamed,
};

armilla_status armilla_data_stream_dense(armilla_context *context, armilla_blocks *blocks,
                                         const armilla_stored *numbers, int64_t m, int64_t n, armilla_data **data)
{
    streamed *made = NULL;
    armilla_status status = armilla_data_check_shape(context, "", m, n);
    if (status == ARMILLA_OK) status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    made->data = (armilla_data){
        .ops = &streamed_ops, .context = context, .type = numbers->type, .m = m, .n = n, .blocks = blocks};
    made->blocks = blocks;
    made->numbers = *numbers;
    *data = &made->data;
    return ARMILLA_OK;
}

/* Slots and panels of data. */
#include "data/slots.h"

#include "base/ranks.h"
#include "base/size.h"
#include "data/sparse.h"

enum {
    PANEL_BYTES = 296 * 1024, /* fits beside others in a 512 KiB second-level cache */
    LEAST_WIDTH = 72,         /* below this the sums cost more than a panel in the third-level cache */
    MOST_WIDTH = 120,
    WIDTH_STEP = 12, /* the kernels' block of samples */
    FEW_SLOTS = 64,  /* slots of dense data; more only where each has so many panels */
    SLOT_PANELS = 8, /* that a vector of sums costs little beside them */
    TALL_SLOTS = 8,  /* with more features the vectors are longer: slots are no more than these where they have not */
    TALL_COLUMNS = 480, /* as many columns as one for each so many features, up to so many */
    TALL_FEATURES = 8,
    TALL_LEAST = 48,             /* columns of a slot of the tallest data, whose basis is read once for each */
    SPARSE_MEETING = 16,         /* entries of a panel in each feature that are worth its sums in the cache */
    SPARSE_MOST_WIDTH = 1 << 15, /* features that all samples have are still summed in the type without harm */
    SPARSE_LEAST_SLOTS =
        8,                 /* with tall sparse data the sums cost as much as the sweep: few slots, no more than leave */
    SPARSE_FEW_SLOTS = 24, /* so many entries of a slot for each feature. All of these are kept. With more entries, */
    SPARSE_PER_FEATURE = 12, /* vectors are added as the slots are finished, which pays from so many entries on */
    SPARSE_PER_FEATURE_MORE = 48,
};

static int64_t divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

/* So many columns that several of them meet in a feature, but enough panels for the slots. */
static int64_t sparse_width(const armilla_data *X)
{
    const double meeting =
        SPARSE_MEETING * (double)X->m * (double)X->n / (double)armilla_max64(armilla_data_stored(X), 1);
    const int64_t most = armilla_min64(divide_up(X->n, SPARSE_LEAST_SLOTS), SPARSE_MOST_WIDTH);
    return armilla_max64(LEAST_WIDTH, meeting < (double)most ? (int64_t)meeting : most);
}

int64_t armilla_panel_width(const armilla_data *X, armilla_type work)
{
    if (armilla_sparse_of(X)) return sparse_width(X);
    const int64_t fitting = PANEL_BYTES / (int64_t)armilla_type_size(work) / X->m;
    return armilla_max64(LEAST_WIDTH, armilla_min64(fitting - fitting % WIDTH_STEP, MOST_WIDTH));
}

/* How many slots at most, for data of so many panels. */
static int64_t slot_bound(const armilla_data *X, int64_t panels)
{
    const int64_t per_feature = armilla_data_stored(X) / X->m;
    const int64_t few = armilla_min64(per_feature / SPARSE_PER_FEATURE, SPARSE_FEW_SLOTS);
    const int64_t many = armilla_min64(per_feature / SPARSE_PER_FEATURE_MORE, ARMILLA_MOST_SLOTS);
    if (armilla_sparse_of(X)) return armilla_max64(SPARSE_LEAST_SLOTS, armilla_max64(few, many));
    const int64_t columns = armilla_min64(X->m / TALL_FEATURES, TALL_COLUMNS);
    const int64_t least = columns < TALL_COLUMNS ? 1 : TALL_LEAST;
    const int64_t few_slots = armilla_max64(1, armilla_min64(TALL_SLOTS, X->n / least));
    const int64_t tall = armilla_max64(few_slots, X->n / armilla_max64(columns, 1));
    return armilla_min64(tall, armilla_max64(FEW_SLOTS, armilla_min64(panels / SLOT_PANELS, ARMILLA_MOST_SLOTS)));
}

/* The first column before which at least so many entries and columns stand. */
static int64_t find_column(const armilla_data *X, int64_t weight)
{
    int64_t low = 0, high = X->n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (armilla_sparse_before(X, middle) + middle < weight)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first column of slot s of `slots`, which have nearly equal numbers of columns (dense) or of entries (sparse). */
static int64_t slot_start(const armilla_data *X, int64_t slots, int64_t s)
{
    if (s == slots) return X->n;
    if (!armilla_sparse_of(X)) return armilla_part_start(X->n / WIDTH_STEP, slots, s) * WIDTH_STEP;
    return find_column(X, (int64_t)((double)(armilla_data_stored(X) + X->n) / (double)slots * (double)s));
}

int64_t armilla_slots_width(const armilla_slots *slots, const armilla_data *X, int64_t wanted, int64_t slot)
{
    /* All of a slot where that is little more than a panel; of dense data, whose panels are buffers of each thread where
     * they are converted or streamed, less more. */
    const bool sparse = armilla_sparse_of(X) != NULL;
    const int64_t columns = slots->first_of[slot + 1] - slots->first_of[slot], step = sparse ? 1 : WIDTH_STEP;
    const int64_t most = wanted + wanted / (sparse ? 2 : 8);
    return divide_up(divide_up(columns, divide_up(columns, most)), step) * step;
}

/* The same slots for every pass over the same data, whatever it sums and in which type, so that whoever has the samples
 * of some slots has them for all passes. Every slot has a column: visitors write a slot's results when they see its first
 * panel. A sample with more than a slot's share of the entries is a reason for fewer slots. */
void armilla_slots_find(const armilla_data *X, armilla_slots *slots)
{
    const int64_t width = armilla_panel_width(X, ARMILLA_F32), panels = divide_up(X->n, width);
    const int64_t bound = slot_bound(X, panels), per_slot = divide_up(panels, bound);
    const int64_t wanted = armilla_sparse_of(X) ? divide_up(panels, per_slot) : armilla_min64(panels, bound);
    slots->count = 0;
    slots->first_of[0] = 0;
    for (int64_t s = 1; s <= wanted; s++) {
        const int64_t end = slot_start(X, wanted, s);
        if (end > slots->first_of[slots->count]) slots->first_of[++slots->count] = end;
    }
}

void armilla_slots_own(const armilla_context *context, const armilla_slots *slots, int64_t *first, int64_t *last)
{
    const armilla_tree tree = armilla_tree_of(slots->count);
    const armilla_share_of_tree own =
        armilla_ranks_share(&tree, armilla_ranks_rank(context), armilla_ranks_size(context));
    *first = own.first_slot;
    *last = own.last_slot;
}

armilla_samples armilla_data_share(const armilla_context *context, const armilla_data *X)
{
    armilla_slots slots;
    int64_t first = 0, last = 0;
    if (armilla_ranks_size(context) == 1) return armilla_samples_whole(X->n);
    armilla_slots_find(X, &slots);
    armilla_slots_own(context, &slots, &first, &last);
    return (armilla_samples){X->n, slots.first_of[first], slots.first_of[last]};
}

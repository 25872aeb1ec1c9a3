/* Bounds of Lloyd's iteration.
 *
 * What is compared is s_k = offset_k - 2l c_k, with c_k the kernels' product of u_k and x. It differs from ||x - l u_k||^2 -
 * ||x||^2, in real numbers, by at most e, which has these parts:
 *
 *     2l gamma ||x|| ||u_k||     a product of m numbers in the working type, whatever the order of its sum: gamma =
 *                                mu/(1-mu), u the unit roundoff; and m times the least number, where products vanish
 *     |offset_k - ||l u_k||^2|   for example where the length of an atom is taken for 1
 *     a few 2^-53 of the terms   s_k itself, and ||x||^2 as it was measured, also where x was rounded after that
 *
 * With d_a <= upper, d_k >= lower: lower^2 > upper^2 + 2e has s_k > s_a. lower^2 > v + e is enough once s_a has been
 * computed, so that v = s_a + ||x||^2 is known. Distances in bounds are rounded away from what is to be shown. */
#include "solve/bounds.h"

#include "base/size.h"
#include "linalg/dense.h"
#include "solve/bounds_sample.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    WIDTH = 8,       /* centres of a group, where memory allows: the fewer, the fewer products, and the more bounds */
    SHADOW_PART = 8, /* shadows take at most this part of what the data do, and of the memory that is left, */
    DATA_PART = 4,   /* bounds take at most this part of what the data do, */
    MEMORY_PART = 4  /* and of the memory that is left */
};

void armilla_bounds_plan(armilla_bounds *b, const armilla_sweep *sweep, int64_t r, const double *squared_norms)
{
    const armilla_traversal *traversal = armilla_sweep_traversal(sweep);
    const armilla_data *X = armilla_traversal_data(traversal);
    armilla_context *context = armilla_sweep_team(sweep)->context;
    *b = (armilla_bounds){.kernels = armilla_code_kernels_for(context),
                          .work = armilla_sweep_type(sweep),
                          .squared_norms = squared_norms,
                          .m = X->m,
                          .r = r,
                          .whole = X->ops->layout != NULL,
                          .threads = armilla_sweep_threads(sweep)};
    armilla_traversal_columns(traversal, &b->share.first, &b->share.last);
    b->share.count = X->n;
    const int64_t own = b->share.last - b->share.first, numbers = (int64_t)sizeof(float) * armilla_max64(own, 1);
    const int64_t stored = armilla_data_stored(X) / X->n * (int64_t)armilla_type_size(b->work);
    const int64_t affordable = armilla_memory_left(context) / MEMORY_PART / numbers - 2;
    const int64_t worth = b->whole ? 1 : armilla_max64(1, stored / DATA_PART / (int64_t)sizeof(float));
    armilla_shadows_plan(&b->shadows, sweep, r, squared_norms,
                         armilla_min64(stored / SHADOW_PART / (int64_t)sizeof(float),
                                       armilla_memory_left(context) / SHADOW_PART / numbers));
    const int64_t groups = armilla_min64(armilla_min64(worth, affordable), (r + WIDTH - 1) / WIDTH);
    if (groups < 1) return;
    b->width = (r + groups - 1) / groups;
    b->groups = (r + b->width - 1) / b->width;
}

void armilla_bounds_list(armilla_bounds *b, armilla_state_list *list)
{
    const int64_t threads = b->threads, bytes = b->m * (int64_t)armilla_type_size(b->work);
    if (list->restoring) b->known = false;
    if (b->groups == 0) return;
    armilla_state_samples_workspace(list, ARMILLA_STATE_I32, 1, &b->share, &b->nearest);
    armilla_state_samples_workspace(list, ARMILLA_STATE_F32, 1, &b->share, &b->upper);
    armilla_state_samples_workspace(list, ARMILLA_STATE_F32, b->groups, &b->share, &b->lower);
    armilla_state_workspace(list, ARMILLA_STATE_F64, b->m, b->r, &b->U);
    armilla_state_workspace(list, ARMILLA_STATE_F64, b->r, 1, &b->steps);
    armilla_state_workspace(list, ARMILLA_STATE_F64, b->r, 1, &b->moved);
    armilla_state_workspace(list, ARMILLA_STATE_F64, b->r, 1, &b->squares);
    armilla_state_workspace(list, ARMILLA_STATE_F64, b->groups, 1, &b->shift);
    armilla_state_workspace(list, ARMILLA_STATE_F32, b->groups, 1, &b->limits);
    if (!b->whole) armilla_state_workspace(list, ARMILLA_STATE_U8, ARMILLA_STRIP * bytes, threads, &b->panels);
    armilla_state_workspace(list, ARMILLA_STATE_U8, ARMILLA_STRIP * b->groups, threads, &b->lists);
    armilla_state_workspace(list, ARMILLA_STATE_I32, b->groups, threads, &b->counts);
    armilla_shadows_list(&b->shadows, list);
}

/* The movement of the centres. */
typedef struct moving {
    armilla_bounds *bounds;
    const double *U;
    double l;
} moving;

/* ||l'u' - lu||, rounded up; one that stands still moves by nothing, not even by rounding. */
static double step_length(const moving *t, const double *u, const double *before)
{
    const int64_t m = t->bounds->m;
    double square = 0, length = 0;
    if (t->l == t->bounds->l && memcmp(u, before, (size_t)m * sizeof *u) == 0) return 0;
    for (int64_t i = 0; i < m; i++) {
        const double now = t->l * u[i], step = now - t->bounds->l * before[i];
        square += step * step;
        length += now * now;
    }
    const double step = sqrt(square) * (1 + (double)(m + 16) * DBL_EPSILON) + sqrt((double)m * DBL_MIN);
    return step + 4 * DBL_EPSILON * (sqrt(length) + step);
}

static void move_some(void *self, int64_t first, int64_t last)
{
    const moving *t = self;
    armilla_bounds *b = t->bounds;
    const int64_t m = b->m;
    for (int64_t k = first; k < last; k++) {
        const double *u = t->U + k * m;
        b->steps[k] = b->known ? step_length(t, u, b->U + k * m) / b->unit : 0;
        b->squares[k] = armilla_dot(m, u, u);
        memcpy(b->U + k * m, u, (size_t)m * sizeof *u);
    }
}

/* The unit of distances: at least the length of every sample; 0 where there is none. */
static double find_unit(const armilla_bounds *b)
{
    double most = 0;
    int exponent = 0;
    for (int64_t j = b->share.first; j < b->share.last; j++) most = fmax(most, b->squared_norms[j]);
    if (!(most > 1e-280 && most < 1e280)) return 0;
    (void)frexp(sqrt(most), &exponent);
    return ldexp(1, exponent);
}

/* The parts of e; whether numbers are of a size for which it holds. */
static bool find_errors(armilla_bounds *b, double l)
{
    const double m = (double)b->m, roundoff = armilla_epsilon(b->work) / 2, gamma = m * roundoff / (1 - m * roundoff);
    const bool narrow = b->work == ARMILLA_F32;
    double longest = 0, apart = 0;
    for (int64_t k = 0; k < b->r; k++) {
        longest = fmax(longest, b->squares[k]);
        apart = fmax(apart, fabs(b->offsets[k] - l * l * b->squares[k]));
    }
    const double length = sqrt(longest), longest_square = l * l * longest;
    b->by_length = 2 * l * length * gamma * 1.001;
    b->by_square = 4 * armilla_epsilon(b->work) + (m + 16) * DBL_EPSILON;
    b->always = apart + (m + 16) * DBL_EPSILON * (longest_square + apart) + 2 * l * m * (narrow ? 0x1p-149 : DBL_MIN);
    return m * roundoff < 0.01 && l > 0 && longest_square < 1e280 && b->unit > 0 && isfinite(b->always) &&
           b->unit * length < (narrow ? 1e36 : 1e280);
}

/* What a group's farthest step takes from its bounds. */
static void add_steps(armilla_bounds *b)
{
    for (int64_t k = 0; k < b->r; k++) b->moved[k] = b->known ? (b->moved[k] + b->steps[k]) * (1 + DBL_EPSILON) : 0;
    for (int64_t g = 0; g < b->groups; g++) {
        double most = 0;
        for (int64_t i = 0; i < armilla_bound_width(b, g); i++) most = fmax(most, b->steps[g * b->width + i]);
        b->shift[g] = b->known ? (b->shift[g] + most) * (1 + DBL_EPSILON) : 0;
        b->limits[g] = (float)fmin(b->shift[g], ARMILLA_BOUND_MOST) * (1 + ARMILLA_BOUND_ROUND);
    }
}

void armilla_bounds_move(armilla_bounds *b, const armilla_team *team, const armilla_bound_centers *centers)
{
    moving t = {b, centers->U, centers->l};
    b->offsets = centers->offsets;
    if (b->groups > 0) {
        if (!b->known) b->unit = find_unit(b);
        armilla_team_share(team, b->r, move_some, &t);
        b->usable = find_errors(b, centers->l);
        b->known &= b->usable;
        add_steps(b);
    }
    b->l = centers->l;
    if (b->known)
        armilla_shadows_move(&b->shadows, team,
                             &(armilla_shadow_centers){.U = centers->U,
                                                       .squares = b->squares,
                                                       .offsets = centers->offsets,
                                                       .typed = centers->typed,
                                                       .l = centers->l,
                                                       .unit = b->unit});
}

void armilla_bounds_ran(armilla_bounds *b, bool all)
{
    if (b->known || !all) armilla_shadows_ran(&b->shadows, all);
    b->known = b->usable && all;
}

/* Products with all centres, by which all bounds are made anew. */
static void assign_all(const armilla_bounds *b, const armilla_assigning *a)
{
    const armilla_panel *strip = a->strip;
    armilla_bounded samples[ARMILLA_STRIP];
    armilla_nearest found[ARMILLA_STRIP];
    strip->data->ops->products(strip, b->r, a->U, a->C);
    for (int64_t j = 0; j < strip->count; j++) samples[j] = armilla_bound_begin(b, strip->first + j);
    for (int64_t g = 0; g < b->groups; g++) {
        const int64_t first = g * b->width;
        b->kernels->nearest_two(armilla_bound_width(b, g), strip->count, a->C + first, b->r, b->offsets + first,
                                2 * b->l, found);
        for (int64_t j = 0; j < strip->count; j++) armilla_bound_take(b, &samples[j], g, &found[j]);
    }
    for (int64_t j = 0; j < strip->count; j++) {
        armilla_bound_end(b, &samples[j], strip->first + j);
        a->assignments[j] = (int32_t)samples[j].nearest;
    }
}

/* Columns of a strip that want products with a group. */
typedef struct wanted {
    const uint8_t *columns;
    int64_t count;
} wanted;

/* Those columns side by side: where they are neighbours, in their place. */
static armilla_columns pick_columns(const armilla_bounds *b, const armilla_assigning *a, const wanted *w)
{
    const armilla_panel *strip = a->strip;
    const size_t size = armilla_type_size(b->work), bytes = (size_t)b->m * size;
    const char *columns = strip->columns;
    char *panel = b->panels + (size_t)(a->thread * ARMILLA_STRIP) * bytes;
    const bool neighbours = w->columns[w->count - 1] - w->columns[0] + 1 == w->count;
    if (neighbours)
        return (armilla_columns){.values = columns + (size_t)(w->columns[0] * strip->stride) * size,
                                 .m = b->m,
                                 .count = w->count,
                                 .stride = strip->stride,
                                 .ahead = panel};
    for (int64_t i = 0; i < w->count; i++)
        memcpy(panel + (size_t)i * bytes, columns + (size_t)(w->columns[i] * strip->stride) * size, bytes);
    return (armilla_columns){.values = panel, .m = b->m, .count = w->count, .stride = b->m, .ahead = panel};
}

/* C = products of those columns with the centres of a group. */
static void multiply_group(const armilla_bounds *b, const armilla_assigning *a, int64_t group, const wanted *w)
{
    const armilla_panel *strip = a->strip;
    const size_t bytes = (size_t)(group * b->width * b->m) * armilla_type_size(b->work);
    if (b->whole) { /* of the only group */
        for (int64_t i = 0; i < w->count; i++) {
            const armilla_panel one = armilla_panel_cut(strip, w->columns[i], 1);
            strip->data->ops->products(&one, b->r, a->U, a->C + i * b->r);
        }
        return;
    }
    const armilla_columns X = pick_columns(b, a, w);
    armilla_multiply_some(strip, &X, armilla_bound_width(b, group), (const char *)a->atoms + bytes, a->C);
}

static void look_at_group(const armilla_bounds *b, const armilla_assigning *a, int64_t group, const wanted *w,
                          armilla_bounded *samples)
{
    armilla_nearest found[ARMILLA_STRIP];
    const int64_t width = armilla_bound_width(b, group);
    if (w->count == 0) return;
    multiply_group(b, a, group, w);
    b->kernels->nearest_two(width, w->count, a->C, width, b->offsets + group * b->width, 2 * b->l, found);
    for (int64_t i = 0; i < w->count; i++) armilla_bound_take(b, &samples[w->columns[i]], group, &found[i]);
}

static bool is_near(const armilla_bounds *b, const armilla_bounded *x, int64_t group)
{
    return !(x->lower[group] > x->limit + b->limits[group]);
}

/* Whether any group can have a nearer centre: without a branch, so that the compiler makes vectors of it. */
static bool has_near(const armilla_bounds *b, const float *lower, float limit)
{
    const float *limits = b->limits;
    int near = 0;
    for (int64_t g = 0; g < b->groups; g++) near |= !(lower[g] > limit + limits[g]);
    return near != 0;
}

/* Lists of the columns of a strip for each group. */
typedef struct lists {
    uint8_t *columns;
    int32_t *counts;
} lists;

static void list_column(const lists *l, int64_t group, int64_t column)
{
    l->columns[group * ARMILLA_STRIP + l->counts[group]++] = (uint8_t)column;
}

/* A column that will be wanted soon: which they are, no hardware can guess. */
static void fetch_column(const armilla_bounds *b, const armilla_panel *strip, int64_t column)
{
    const int64_t size = (int64_t)armilla_type_size(b->work);
    if (b->whole || b->shadows.depth > 0) return;
    const char *start = (const char *)strip->columns + column * strip->stride * size;
    for (int64_t at = 0; at < b->m * size; at += ARMILLA_LINE) __builtin_prefetch(start + at, 0, 2);
}

/* Samples whose bounds do not rule all other centres out, in order and in the list of their own centre's group. */
static int64_t list_uncertain(const armilla_bounds *b, const armilla_assigning *a, const lists *l,
                              armilla_bounded *samples, uint8_t *uncertain)
{
    int64_t count = 0;
    memset(l->counts, 0, (size_t)b->groups * sizeof *l->counts);
    for (int64_t j = 0; j < a->strip->count; j++) {
        const int64_t at = a->strip->first + j;
        const int32_t nearest = b->nearest[at];
        const double squared = b->squared_norms[at], error = armilla_bound_error(b, squared);
        const double upper = fmax((double)b->upper[at] + b->moved[nearest], 0) * b->unit;
        const float limit = armilla_bound_limit(b, upper * upper * (1 + 8 * DBL_EPSILON) + 2 * error);
        a->assignments[j] = nearest;
        if (!has_near(b, b->lower + at * b->groups, limit)) continue;
        fetch_column(b, a->strip, j);
        samples[j] = armilla_bound_begin(b, at);
        list_column(l, armilla_bound_group(b, nearest), j);
        uncertain[count++] = (uint8_t)j;
    }
    return count;
}

/* The groups that each of these samples has to look at once it knows the nearest of its own; how many in all. Lists of
 * own groups are used up. */
static int64_t list_near(const armilla_bounds *b, const lists *l, const uint8_t *uncertain, int64_t count,
                         const armilla_bounded *samples)
{
    int64_t pairs = 0;
    memset(l->counts, 0, (size_t)b->groups * sizeof *l->counts);
    for (int64_t i = 0; i < count; i++) {
        const armilla_bounded *x = &samples[uncertain[i]];
        const int64_t own = armilla_bound_group(b, x->nearest);
        for (int64_t g = 0; g < b->groups; g++) {
            if (g == own || !is_near(b, x, g)) continue;
            list_column(l, g, uncertain[i]);
            pairs++;
        }
    }
    return pairs;
}

/* Columns of a list that have not found a nearer centre meanwhile. */
static wanted still_near(const armilla_bounds *b, const lists *l, int64_t group, const armilla_bounded *samples)
{
    uint8_t *columns = l->columns + group * ARMILLA_STRIP;
    int64_t kept = 0;
    for (int64_t i = 0; i < l->counts[group]; i++)
        if (is_near(b, &samples[columns[i]], group)) columns[kept++] = columns[i];
    return (wanted){columns, kept};
}

static void assign_some(armilla_bounds *b, const armilla_assigning *a)
{
    armilla_bounded samples[ARMILLA_STRIP];
    uint8_t uncertain[ARMILLA_STRIP];
    const lists l = {b->lists + a->thread * b->groups * ARMILLA_STRIP, b->counts + a->thread * b->groups};
    if (b->shadows.depth > 0 && !b->shadows.known) armilla_shadows_cast(&b->shadows, a->strip, a->C);
    const int64_t count = list_uncertain(b, a, &l, samples, uncertain);
    if (b->shadows.depth > 0) {
        armilla_bounds_assign_shadowed(b, a, uncertain, count);
        return;
    }
    for (int64_t g = 0; g < b->groups && count > 0; g++) {
        const wanted own = {l.columns + g * ARMILLA_STRIP, l.counts[g]};
        look_at_group(b, a, g, &own, samples);
    }
    const int64_t pairs = list_near(b, &l, uncertain, count, samples);
    if (3 * pairs > 2 * a->strip->count * b->groups) { /* all products in one go are as quick */
        assign_all(b, a);
        return;
    }
    for (int64_t g = 0; g < b->groups; g++) {
        const wanted near = still_near(b, &l, g, samples);
        look_at_group(b, a, g, &near, samples);
    }
    for (int64_t i = 0; i < count; i++) {
        const armilla_bounded *x = &samples[uncertain[i]];
        armilla_bound_end(b, x, a->strip->first + uncertain[i]);
        a->assignments[uncertain[i]] = (int32_t)x->nearest;
    }
}

void armilla_bounds_assign(armilla_bounds *b, const armilla_assigning *a)
{
    const armilla_panel *strip = a->strip;
    /* Products of centred sparse columns cancel: what is left of them has another error. */
    if (!b->usable || b->groups == 0 || strip->sparse.shifts) {
        strip->data->ops->products(strip, b->r, a->U, a->C);
        b->kernels->nearest(b->r, strip->count, a->C, b->r, b->offsets, 2 * b->l, a->assignments);
    } else if (b->known)
        assign_some(b, a);
    else
        assign_all(b, a);
}

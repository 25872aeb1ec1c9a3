/* New codes in the type, and the sums over them, in one pass while they are in the first cache. Each sum has a fixed
 * order: by columns, in each by lanes, the lanes added at the end. */
enum { HALF_LANES = LANES / 2 };

/* One vector of them, or one number. */
typedef struct settled_sums {
    doubles cross, change;
    double last_cross, last_change; /* of the numbers behind the last whole vector of a column */
} settled_sums;

INLINE void settle_vector(const armilla_settling *s, int64_t at, int64_t k, settled_sums *sums)
{
    const half typed = shorten(*(const doubles *)(s->W + at));
    const doubles w = widen(typed);
    if (s->previous) {
        const doubles moved = w - widen(*(const half *)((const REAL *)s->previous + at));
        sums->change += moved * moved;
    }
    if (s->C) sums->cross += *(const doubles *)(s->C + at) * w;
    if (s->diagonal) *(doubles *)(s->diagonal + k) += w * w;
    *(half *)((REAL *)s->typed + at) = typed;
}

INLINE void settle_number(const armilla_settling *s, int64_t at, int64_t k, settled_sums *sums)
{
    const REAL typed = (REAL)s->W[at];
    const double w = (double)typed;
    if (s->previous) {
        const double moved = w - (double)((const REAL *)s->previous)[at];
        sums->last_change += moved * moved;
    }
    if (s->C) sums->last_cross += s->C[at] * w;
    if (s->diagonal) s->diagonal[k] += w * w;
    ((REAL *)s->typed)[at] = typed;
}

static void settle(const armilla_settling *s)
{
    const int64_t r = s->r, whole = r - r % HALF_LANES;
    settled_sums sums = {.last_cross = 0};
    for (int64_t j = 0; j < s->count; j++) {
        for (int64_t k = 0; k < whole; k += HALF_LANES) settle_vector(s, j * r + k, k, &sums);
        for (int64_t k = whole; k < r; k++) settle_number(s, j * r + k, k, &sums);
    }
    for (int i = 0; i < HALF_LANES; i++) {
        sums.last_cross += sums.cross[i];
        sums.last_change += sums.change[i];
    }
    if (s->C) *s->cross += sums.last_cross;
    if (s->previous) *s->change += sums.last_change;
}

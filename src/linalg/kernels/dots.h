/* Products of single pairs of columns, with the bits that C = U'X has there without tiles: the same chunks, lanes and tree.
 * Pairs stand side by side, so that none waits for the sum of another. */
enum { DOT_PAIRS = 4 };

/* sums(q) = a_q'b_q over a chunk of features, for pairs first ... first+count-1; count is a constant where it is
 * inlined. */
INLINE void dot_some(int count, int64_t i, int64_t features, const REAL *const *a, const REAL *const *b, double *c)
{
    vector sum[DOT_PAIRS] = {{0}};
    const int64_t whole = i + features - features % LANES;
    const REAL *x[DOT_PAIRS], *u[DOT_PAIRS];
    REAL sums[4];
    UNROLL for (int q = 0; q < count; q++)
    {
        x[q] = a[q];
        u[q] = b[q];
    }
    for (int64_t f = i; f < whole; f += LANES)
        UNROLL for (int q = 0; q < count; q++) sum[q] += *(const vector *)(x[q] + f) * *(const vector *)(u[q] + f);
    if (whole < i + features) { /* the last vector again, without what it has in common with the one before */
        const int64_t f = i + features - LANES;
        UNROLL for (int q = 0; q < count; q++) sum[q] +=
            *(const vector *)(x[q] + f) * keep_last(*(const vector *)(u[q] + f), features % LANES);
    }
    lane_sums(sum, sums);
    UNROLL for (int q = 0; q < count; q++) c[q] += (double)sums[q];
}

static void dots(int64_t m, int64_t count, const void *const *x, const void *const *u, double *c)
{
    const REAL *const *a = (const REAL *const *)x, *const *b = (const REAL *const *)u;
    if (m < LANES) {
        for (int64_t q = 0; q < count; q++)
            dot_products(&(armilla_columns){.values = x[q], .m = m, .count = 1, .stride = m},
                         &(armilla_atoms){.values = u[q], .r = 1}, c + q);
        return;
    }
    const int64_t chunk = chunk_features(m);
    memset(c, 0, (size_t)count * sizeof *c);
    for (int64_t i = 0; i < m; i += chunk) {
        const int64_t features = smaller(chunk, m - i);
        int64_t q = 0;
        for (; q + DOT_PAIRS <= count; q += DOT_PAIRS) dot_some(DOT_PAIRS, i, features, a + q, b + q, c + q);
        for (; q < count; q++) dot_some(1, i, features, a + q, b + q, c + q);
    }
}

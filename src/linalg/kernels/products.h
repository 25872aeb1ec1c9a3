/* C = U'X of a panel. A result c_kj is a sum over chunks of features, each of which has one accumulator of LANES partial
 * sums, added in one fixed order: blocks of columns and atoms only share loads, they never change a result. */
enum {
    /* Samples and atoms of one register block: 6*2 accumulators, 2 atoms and a sample fill 15 of 16 registers, and U, which
     * comes from the second cache, is read least. */
    DOT_SAMPLES = 6,
    DOT_ATOMS = MANY_REGISTERS ? 4 : 2,
    /* Bytes of a chunk of features: those of DOT_SAMPLES samples and of the passing atoms fit the first cache. */
    CHUNK_BYTES = 3584,
    /* Bytes of the chunks of those atoms that all samples meet before the next atoms come: they stay in the second. */
    ATOMS_BYTES = 224 * 1024
};

/* sum(j,k) += x_j' u_k for a vector of features, lane by lane. One loop, so that compilers keep the sums in registers. */
INLINE void add_dots(int samples, int atoms, const REAL *X, int64_t stride, const vector *u, vector *sum)
{
    vector x = {0};
    UNROLL for (int q = 0; q < samples * atoms; q++)
    {
        if (q % atoms == 0) x = hold(*(const vector *)(X + q / atoms * stride));
        sum[q] += x * u[q % atoms];
    }
}

/* C(k,j) += u_k' x_j over a chunk of features, for `samples` columns of X and `atoms` columns of U; both counts are
 * constants where it is inlined, so that the accumulators are registers. */
INLINE void dot_block(int samples, int atoms, int64_t features, const REAL *X, int64_t stride, const REAL *U,
                      int64_t between, double *C, int64_t r, ahead following[2])
{
    vector sum[DOT_SAMPLES * DOT_ATOMS] = {{0}}, u[DOT_ATOMS];
    const int64_t whole = features - features % LANES;
    ahead next = following[0], other = following[1];
    for (int64_t i = 0; i < whole; i += LANES) {
        fetch_ahead(&next);
        fetch_ahead(&other);
        UNROLL for (int k = 0; k < atoms; k++) u[k] = *(const vector *)(U + k * between + i);
        add_dots(samples, atoms, X + i, stride, u, sum);
    }
    if (whole < features) { /* the last vector again, without what it has in common with the one before */
        const int64_t i = features - LANES;
        UNROLL for (int k = 0; k < atoms; k++) u[k] =
            keep_last(*(const vector *)(U + k * between + i), features - whole);
        add_dots(samples, atoms, X + i, stride, u, sum);
    }
    UNROLL for (int q = 0; q < samples * atoms; q += 4)
    {
        const int last = samples * atoms - 1;
        const vector four[4] = {sum[q], sum[q < last ? q + 1 : q], sum[q + 1 < last ? q + 2 : q],
                                sum[q + 2 < last ? q + 3 : q]};
        REAL sums[4];
        lane_sums(four, sums);
        C[q / atoms * r + q % atoms] += (double)sums[0];
        if (q + 1 <= last) C[(q + 1) / atoms * r + (q + 1) % atoms] += (double)sums[1];
        if (q + 2 <= last) C[(q + 2) / atoms * r + (q + 2) % atoms] += (double)sums[2];
        if (q + 3 <= last) C[(q + 3) / atoms * r + (q + 3) % atoms] += (double)sums[3];
    }
    following[0] = next;
    following[1] = other;
}

/* Some atoms, the chunks of which are `between` numbers apart. */
typedef struct atom_block {
    const REAL *U;
    int64_t count, between;
    int64_t r;        /* of all: numbers between columns of C */
    bool is_long;     /* as columns are: each block fetches the next one, */
    const REAL *then; /* and the last one what is here; NULL: nobody knows */
} atom_block;

/* Long columns: the next block of samples is at `then`, and these atoms fetch two of its columns. */
INLINE void fetch_columns(int samples, int64_t stride, const atom_block *of, int64_t k, ahead next[2])
{
    const int64_t c = k / DOT_ATOMS * 2;
    if (!of->is_long) return;
    for (int64_t s = 0; s < 2; s++)
        next[s] = of->then && c + s < samples ? (ahead){(const char *)(of->then + (c + s) * stride), BYTES}
                                              : (ahead){(const char *)of->U, 0};
}

/* All of these atoms for a block of samples: the samples stay in the first cache while the atoms stream past. */
INLINE void dot_samples(int samples, int64_t features, const REAL *X, int64_t stride, const atom_block *of, double *C,
                        ahead *next)
{
    const int64_t between = of->between, r = of->r;
    int64_t k = 0;
    for (; k + DOT_ATOMS <= of->count; k += DOT_ATOMS) {
        fetch_columns(samples, stride, of, k, next);
        dot_block(samples, DOT_ATOMS, features, X, stride, of->U + k * between, between, C + k, r, next);
    }
    fetch_columns(samples, stride, of, k, next);
    for (; k + 2 <= of->count; k += 2)
        dot_block(samples, 2, features, X, stride, of->U + k * between, between, C + k, r, next);
    if (k < of->count) dot_block(samples, 1, features, X, stride, of->U + k * between, between, C + k, r, next);
}

/* All samples for some atoms. */
static void dot_panel(const armilla_columns *X, int64_t i, int64_t features, atom_block *of, double *C, ahead *next)
{
    const REAL *then = of->then;
    const int64_t count = X->count, stride = X->stride, r = of->r;
    const REAL *x = (const REAL *)X->values + i;
    int64_t j = 0;
    for (; j + DOT_SAMPLES <= count; j += DOT_SAMPLES) {
        of->then = j + 2 * DOT_SAMPLES <= count ? x + (j + DOT_SAMPLES) * stride : then;
        dot_samples(DOT_SAMPLES, features, x + j * stride, stride, of, C + j * r, next);
    }
    of->then = NULL;
    for (; j + 2 <= count; j += 2) dot_samples(2, features, x + j * stride, stride, of, C + j * r, next);
    for (; j < count; j++) dot_samples(1, features, x + j * stride, stride, of, C + j * r, next);
}

/* Chunks of nearly equal size, whole vectors but for the last: a function of m alone. */
static int64_t chunk_features(int64_t m)
{
    const int64_t most = CHUNK_BYTES / (int64_t)sizeof(REAL), chunks = (m + most - 1) / most;
    return ((m + chunks - 1) / chunks + LANES - 1) / LANES * LANES;
}

#if !defined(BELOW)
/* Fewer features than a vector has lanes. */
static void dot_short(const armilla_columns *X, const armilla_atoms *atoms, double *C)
{
    const REAL *values = X->values, *U = atoms->values;
    for (int64_t j = 0; j < X->count; j++)
        for (int64_t k = 0; k < atoms->r; k++) {
            REAL sum = 0;
            for (int64_t i = 0; i < X->m; i++) sum += values[j * X->stride + i] * U[k * X->m + i];
            C[j * atoms->r + k] = (double)sum;
        }
}
#endif

/* Packed atoms have all their chunks of the same features one behind the other. */
static void dot_products(const armilla_columns *X, const armilla_atoms *U, double *C)
{
    if (X->m < LANES) {
#if defined(BELOW)
        BELOW.products(X, U, C);
#else
        dot_short(X, U, C);
#endif
        return;
    }
    const int64_t m = X->m, count = X->count, r = U->r, chunk = chunk_features(m);
    const int64_t steps = count / DOT_SAMPLES * ((r + DOT_ATOMS - 1) / DOT_ATOMS) * (m / LANES);
    const int64_t most = ATOMS_BYTES / (chunk * (int64_t)sizeof(REAL)) / DOT_ATOMS * DOT_ATOMS;
    ahead next[2] = {plan_ahead(X, 0, X->ahead_bytes / 2, steps), {U->values, 0}};
    memset(C, 0, (size_t)(r * count) * sizeof *C);
    for (int64_t i = 0; i < m; i += chunk) {
        const int64_t features = smaller(chunk, m - i), between = U->packed ? features : m;
        const REAL *u = (const REAL *)U->values + (U->packed ? i * r : i);
        const REAL *then = i + chunk < m ? (const REAL *)X->values + i + chunk : X->ahead_bytes > 0 ? X->ahead : NULL;
        for (int64_t k = 0; k < r; k += most) {
            atom_block some = {u + k * between, smaller(most, r - k), between, r, .is_long = has_long_columns(X)};
            if (k + most >= r) some.then = then;
            dot_panel(X, i, features, &some, C + k, next);
        }
    }
}

static void pack(int64_t m, const armilla_atoms *U, int64_t first, int64_t last, void *packed)
{
    const int64_t chunk = chunk_features(m);
    for (int64_t i = 0; i < m; i += chunk) {
        const int64_t features = smaller(chunk, m - i);
        for (int64_t k = first; k < last; k++)
            memcpy((REAL *)packed + i * U->r + k * features, (const REAL *)U->values + k * m + i,
                   (size_t)features * sizeof(REAL));
    }
}

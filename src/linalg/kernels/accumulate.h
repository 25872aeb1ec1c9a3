/* A += XW' of a panel: the sum over its columns, in their order, is made in the type, then added in double. */
enum {
    /* Vectors times atoms of one register block. */
    MOST_ATOMS = MANY_REGISTERS ? 12 : 6,
    MOST_VECTORS = 8,
    /* The same where W and X are packed. */
    TILE_VECTORS = 2,
    TILE_ATOMS = MANY_REGISTERS ? 12 : 6,
    TILE_FEATURES = TILE_VECTORS * LANES,
    /* They are from ARMILLA_USUALLY_PACKED atoms on, and already from ARMILLA_LEAST_PACKED where columns are multiples of
     * so many bytes apart. */
    MEETING_BYTES = 1024,
    /* And where codes are packed beforehand, samples are not where there are so few tiles of atoms. */
    FEW_TILES = 6,
    /* Columns that are no more bytes apart are read where they are. */
    NEAR_BYTES = 6400,
    /* Bytes of the packed parts of W and X. */
    PACKED_W = 128 * 1024,
    PACKED_X = ARMILLA_KERNEL_SCRATCH - PACKED_W
};

/* to += v, or to = v where that is new. */
INLINE void add_in_double(double *to, vector v, bool is_new)
{
    const doubles low = widen(low_half(v));
    const doubles high = widen(high_half(v));
    *(doubles *)to = is_new ? low : *(doubles *)to + low;
    *(doubles *)(to + LANES / 2) = is_new ? high : *(doubles *)(to + LANES / 2) + high;
}

/* What accumulate works on: A += XW'. */
typedef struct adding {
    const armilla_columns *X;
    int64_t r;
    const REAL *W;
    int64_t stride; /* elements between columns of W */
    double *A;
    bool is_new; /* A = XW' */
    bool lower;  /* of A the lower triangle is all that is wanted */
    ahead next;
    bool is_long; /* as columns are: tiles fetch the features that are packed next, two lines at a time */
    const char *line, *last_line; /* of the first sample */
} adding;

/* The same for lanes first ... last-1 alone. */
INLINE void add_lanes(double *to, vector v, int64_t first, int64_t last, bool is_new)
{
    REAL number[LANES];
    memcpy(number, &v, sizeof number);
    for (int64_t i = first; i < last; i++) to[i] = (is_new ? 0 : to[i]) + (double)number[i];
}

/* sum(v,a) += x(v) w(a). The fewer of the two are held in registers, the others pass. */
INLINE void add_outer(int vectors, int atoms, const REAL *x, const REAL *w, vector sum[MOST_VECTORS][MOST_ATOMS])
{
    const int held = vectors <= atoms ? vectors : atoms, passing = vectors <= atoms ? atoms : vectors;
    vector kept[MOST_ATOMS];
    for (int h = 0; h < held; h++) kept[h] = vectors <= atoms ? *(const vector *)(x + h * LANES) : spread(w[h]);
    for (int p = 0; p < passing; p++) {
        const vector one = hold(vectors <= atoms ? spread(w[p]) : *(const vector *)(x + p * LANES));
        for (int h = 0; h < held; h++) {
            vector *to = vectors <= atoms ? &sum[h][p] : &sum[p][h];
            *to += kept[h] * one;
        }
    }
}

/* A(i..,k..) += sum_j x_j(i..) w_kj for `atoms` columns of A and `vectors` vectors of features. Only the last `rest`
 * lanes of the last vector are new: the others have been added already. */
INLINE void add_block(int vectors, int atoms, adding *job, int64_t i, int64_t k, int64_t rest)
{
    vector sum[MOST_VECTORS][MOST_ATOMS] = {{{0}}};
    const int64_t m = job->X->m, count = job->X->count, stride = job->X->stride, step = job->stride;
    const REAL *x = (const REAL *)job->X->values + i, *w = job->W + k;
    double *A = job->A + k * m + i;
    ahead next = job->next;
    for (int a = 0; a < atoms; a++)
        for (int v = 0; v < vectors; v++) __builtin_prefetch(A + a * m + v * LANES, 1);
    for (int64_t j = 0; j < count; j++, x += stride, w += step) {
        fetch_ahead(&next);
        for (int v = 0; v < vectors; v += LINE / BYTES) /* the sample's next features may be in the third cache */
            __builtin_prefetch(x + (vectors + v) * LANES, 0, 2);
        add_outer(vectors, atoms, x, w, sum);
    }
    for (int a = 0; a < atoms; a++)
        for (int v = 0; v < vectors; v++) {
            if (rest < LANES)
                add_lanes(A + a * m, sum[0][a], LANES - rest, LANES, job->is_new);
            else
                add_in_double(A + a * m + v * LANES, sum[v][a], job->is_new);
        }
    job->next = next;
}

/* All atoms for a block of features, in blocks of `most` atoms or one less. */
INLINE void add_features(int vectors, int most, adding *job, int64_t i, int64_t rest)
{
    const int64_t r = job->r, blocks = (r + most - 1) / most, full = r - blocks * (most - 1);
    int64_t k = 0;
    for (; k < full * most; k += most) add_block(vectors, most, job, i, k, rest);
    for (; k < r; k += most - 1) add_block(vectors, most - 1, job, i, k, rest);
}

INLINE void add_panel(int vectors, int most, adding *job)
{
    const armilla_columns *X = job->X;
    const int64_t steps = X->count * ((job->r + most - 1) / most) * (X->m / (vectors * LANES));
    job->next = job->is_long ? (ahead){X->values, 0}
                             : plan_ahead(X, X->ahead_bytes / 2, X->ahead_bytes - X->ahead_bytes / 2, steps);
    int64_t i = 0;
    for (; i + vectors * LANES <= X->m; i += vectors * LANES) add_features(vectors, most, job, i, LANES);
    for (; i + LANES <= X->m; i += LANES) add_features(1, most, job, i, LANES);
    if (i < X->m) add_features(1, most, job, X->m - LANES, X->m - i);
}

#if !defined(BELOW)
/* Fewer features than a vector has lanes. */
static void add_short(const adding *job)
{
    const armilla_columns *X = job->X;
    const REAL *values = X->values;
    for (int64_t k = 0; k < job->r; k++)
        for (int64_t i = 0; i < X->m; i++) {
            REAL sum = 0;
            for (int64_t j = 0; j < X->count; j++) sum += values[j * X->stride + i] * job->W[j * job->stride + k];
            double *to = job->A + k * X->m + i;
            *to = (job->is_new ? 0 : *to) + (double)sum;
        }
}
#else
static void add_short(const adding *job)
{
    if (job->lower)
        BELOW.gram(job->X, job->A);
    else
        BELOW.accumulate(job->X, job->r, job->W, job->is_new, job->A);
}
#endif

/* A few atoms: blocks of about 12 accumulators, whatever the rank: fewer atoms at a time take more vectors of features. */
static void add_few(adding *job)
{
    const int64_t blocks = (job->r + MOST_ATOMS - 1) / MOST_ATOMS, most = (job->r + blocks - 1) / blocks;
    if (job->X->m < LANES)
        add_short(job);
    else if (most == 1)
        add_panel(8, 1, job);
    else if (most == 2)
        add_panel(6, 2, job);
    else if (most == 3)
        add_panel(4, 3, job);
    else if (most == 4)
        add_panel(3, 4, job);
    else if (most == 5)
        add_panel(2, 5, job);
    else if (most == 6)
        add_panel(2, 6, job);
#if MANY_REGISTERS
    else if (most == 7)
        add_panel(2, 7, job);
    else if (most == 8)
        add_panel(2, 8, job);
    else if (most == 9)
        add_panel(2, 9, job);
    else if (most == 10)
        add_panel(2, 10, job);
    else if (most == 11)
        add_panel(2, 11, job);
    else
        add_panel(2, 12, job);
#endif
}

/* A tile of A, `vectors` vectors of features times `atoms` atoms. */
typedef struct tile {
    const REAL *x, *w;      /* of the first sample, */
    int64_t x_step, w_step; /* and how far behind them those of the next are */
    double *A;
    int64_t features; /* that there are; the others of the vectors are zeros */
} tile;

/* Two lines of each sample, for the tile that asks. */
static ahead next_line(adding *job)
{
    const ahead of = {job->line, job->line < job->last_line ? job->X->stride * (int64_t)sizeof(REAL) : 0};
    job->line += of.step ? 2 * LINE : 0;
    return of;
}

INLINE void add_tile(int vectors, int atoms, adding *job, const tile *of)
{
    vector sum[TILE_VECTORS * TILE_ATOMS] = {{0}};
    const int64_t m = job->X->m, count = job->X->count;
    const REAL *x = of->x, *w = of->w;
    ahead next = job->is_long ? next_line(job) : job->next;
    /* A is fetched column by column on the way: all at once, the first samples would wait for it. */
    for (int64_t a = 0, j = 0; a < atoms; a++) {
        const int64_t end = a + 1 < atoms ? j + count / atoms : count;
        for (int v = 0; v < vectors * LANES; v += LINE / (int)sizeof(double)) __builtin_prefetch(of->A + a * m + v, 1);
        for (; j < end; j++, x += of->x_step, w += of->w_step) {
            const vector first = *(const vector *)x, second = *(const vector *)(x + (vectors - 1) * LANES);
            vector one = {0};
            __builtin_prefetch(next.at + LINE, 0, 2);
            fetch_ahead(&next);
            /* One loop, so that compilers keep the sums in registers. */
            UNROLL for (int q = 0; q < vectors * atoms; q++)
            {
                if (q % vectors == 0) one = hold(spread(w[q / vectors]));
                sum[q] += (q % vectors == 0 ? first : second) * one;
            }
        }
    }
    if (!job->is_long) job->next = next;
    if (of->features == vectors * LANES) {
        UNROLL for (int q = 0; q < vectors * atoms; q++)
            add_in_double(of->A + q / vectors * m + q % vectors * LANES, sum[q], job->is_new);
        return;
    }
    REAL number[TILE_ATOMS * TILE_FEATURES] = {0};
    UNROLL for (int q = 0; q < vectors * atoms; q++) * (vector *)(number + q * LANES) = sum[q];
    for (int a = 0; a < atoms; a++)
        for (int64_t i = 0; i < of->features; i++) {
            double *to = of->A + a * m + i;
            *to = (job->is_new ? 0 : *to) + (double)number[a * vectors * LANES + i];
        }
}

typedef void (*tile_kernel)(adding *job, const tile *of);

#define TILE(vectors, atoms)                                                                                           \
    static void tile_##vectors##_##atoms(adding *job, const tile *of)                                                  \
    {                                                                                                                  \
        add_tile(vectors, atoms, job, of);                                                                             \
    }
#define TILES(atoms) TILE(1, atoms) TILE(2, atoms)
#define ROW(atoms) [atoms] = {tile_1_##atoms, tile_2_##atoms}
/* At least ARMILLA_LEAST_PACKED atoms in equal shares of at most TILE_ATOMS are not less than these. */
#if MANY_REGISTERS
TILES(6)
TILES(7)
TILES(8)
TILES(9)
TILES(10)
TILES(11)
TILES(12)
static const tile_kernel tiles[TILE_ATOMS + 1][TILE_VECTORS] = {ROW(6),  ROW(7),  ROW(8), ROW(9),
                                                                ROW(10), ROW(11), ROW(12)};
#else
TILES(4) TILES(5) TILES(6) static const tile_kernel tiles[TILE_ATOMS + 1][TILE_VECTORS] = {ROW(4), ROW(5), ROW(6)};
#endif

/* The atoms in tiles of nearly equal size: where tile t begins. */
static int64_t tile_start(int64_t r, int64_t t)
{
    const int64_t count = (r + TILE_ATOMS - 1) / TILE_ATOMS, least = r / count, more = r % count;
    return t * least + smaller(t, more);
}

/* Tiles first ... last-1 of W, one behind the other, each with the numbers of a sample together. */
static void pack_codes(const adding *job, int64_t first, int64_t last, REAL *to)
{
    const int64_t r = job->r;
    for (int64_t t = first; t < last; t++) {
        const int64_t k = tile_start(r, t), atoms = tile_start(r, t + 1) - k;
        const REAL *w = job->W + k;
        for (int64_t j = 0; j < job->X->count; j++, w += job->stride)
            for (int64_t a = 0; a < atoms; a++) *to++ = w[a];
    }
}

/* Features of a tile, up to m: in whole vectors. */
static int64_t padded(int64_t features)
{
    return smaller((features + LANES - 1) / LANES * LANES, TILE_FEATURES);
}

/* Features i ... i+features-1 of all samples in runs of TILE_FEATURES, each with those of a sample together. */
static void pack_samples(const armilla_columns *X, int64_t i, int64_t features, REAL *to)
{
    const REAL *x = (const REAL *)X->values + i;
    const int64_t whole = features / TILE_FEATURES * TILE_FEATURES, run = TILE_FEATURES * X->count;
    const int64_t rest = features - whole, width = padded(rest);
    for (int64_t j = 0; j < X->count; j++, x += X->stride) {
        for (int64_t f = 0; f < whole; f += TILE_FEATURES)
            memcpy(to + f / TILE_FEATURES * run + j * TILE_FEATURES, x + f, TILE_FEATURES * sizeof(REAL));
        REAL *last = to + whole / TILE_FEATURES * run + j * width;
        for (int64_t f = 0; f < width; f++) last[f] = f < rest ? x[whole + f] : 0;
    }
}

/* All tiles of some packed atoms for a run of packed features. */
static void add_run(adding *job, int64_t first, int64_t last, const REAL *w, tile *of, int64_t i)
{
    const int vectors = (int)(padded(of->features) / LANES);
    for (int64_t t = first; t < last; t++) {
        const int64_t k = tile_start(job->r, t), atoms = tile_start(job->r, t + 1) - k;
        if (job->lower && k >= i + of->features) return;
        of->w = w;
        of->w_step = atoms;
        of->A = job->A + k * job->X->m + i;
        tiles[atoms][vectors - 1](job, of);
        w += atoms * job->X->count;
    }
}

/* A group of features is packed next: those from i on of these samples, or where there are no more, of x, which may be
 * NULL. */
static void plan_lines(adding *job, int64_t i, int64_t features, const REAL *x)
{
    const armilla_columns *X = job->X;
    if (i < X->m) x = (const REAL *)X->values + i;
    const int64_t count = i < X->m ? smaller(features, X->m - i) : features;
    job->line = (const char *)(x ? x : X->values);
    job->last_line = job->line + (x ? count * (int64_t)sizeof(REAL) + LINE - 1 : 0);
}

/* Tiles first ... last-1 of W, which lie at w, for a group of packed features. */
static void add_group(adding *job, int64_t first, int64_t last, const REAL *w, const REAL *x, int64_t i,
                      int64_t features)
{
    for (int64_t f = 0; f < features; f += TILE_FEATURES) {
        tile of = {.x = x + f * job->X->count, .features = smaller(TILE_FEATURES, features - f)};
        of.x_step = padded(of.features);
        add_run(job, first, last, w, &of, i + f);
    }
}

/* So many atoms that W stays in the second cache, and for these all features: a run of them stays in the first. */
static void add_packed(adding *job)
{
    const armilla_columns *X = job->X;
    const int64_t size = sizeof(REAL), m = X->m, tile_count = (job->r + TILE_ATOMS - 1) / TILE_ATOMS;
    const int64_t together = PACKED_W / (X->count * TILE_ATOMS * size);
    const int64_t features = PACKED_X / (X->count * TILE_FEATURES * size) * TILE_FEATURES;
    const int64_t steps = X->count * tile_count * ((m + TILE_FEATURES - 1) / TILE_FEATURES);
    REAL *w = X->scratch, *x = (REAL *)(void *)((char *)X->scratch + PACKED_W);
    job->next = plan_ahead(X, X->ahead_bytes / 2, X->ahead_bytes - X->ahead_bytes / 2, steps);
    for (int64_t t = 0; t < tile_count; t += together) {
        const int64_t end = smaller(t + together, tile_count);
        const REAL *then = end < tile_count ? X->values : X->ahead_bytes > 0 ? X->ahead : NULL;
        pack_codes(job, t, end, w);
        for (int64_t i = 0; i < m; i += features) {
            const int64_t some = smaller(features, m - i);
            pack_samples(X, i, some, x);
            plan_lines(job, i + some, features, then);
            add_group(job, t, end, w, x, i, some);
        }
    }
}

/* The same where W is packed, for so few atoms that a copy of X would cost more than it saves; features are fetched two
 * runs ahead. What is left, less than a run, is copied. */
static void add_in_place(adding *job)
{
    const armilla_columns *X = job->X;
    const int64_t whole = X->m / TILE_FEATURES * TILE_FEATURES, tile_count = (job->r + TILE_ATOMS - 1) / TILE_ATOMS;
    const REAL *then = X->ahead_bytes > 0 ? X->ahead : NULL;
    for (int64_t i = 0; i < whole; i += TILE_FEATURES) {
        const int64_t later = i + 2 * TILE_FEATURES;
        tile of = {.x = (const REAL *)X->values + i, .x_step = X->stride, .features = TILE_FEATURES};
        plan_lines(job, later, TILE_FEATURES, then && later - X->m < X->m ? then + (later - X->m) : then);
        add_run(job, 0, tile_count, job->W, &of, i);
    }
    if (whole == X->m) return;
    pack_samples(X, whole, X->m - whole, X->scratch);
    plan_lines(job, X->m, TILE_FEATURES, NULL);
    add_group(job, 0, tile_count, job->W, X->scratch, whole, X->m - whole);
}

/* The same where W is packed: there is more space for X, and each group of features is packed once. */
static void add_packed_codes(adding *job)
{
    const armilla_columns *X = job->X;
    const int64_t size = sizeof(REAL), m = X->m, tile_count = (job->r + TILE_ATOMS - 1) / TILE_ATOMS;
    const int64_t together = PACKED_W / (X->count * TILE_ATOMS * size);
    const int64_t features = ARMILLA_KERNEL_SCRATCH / (X->count * TILE_FEATURES * size) * TILE_FEATURES;
    job->next = (ahead){X->values, 0};
    if (tile_count <= FEW_TILES && X->stride * size % MEETING_BYTES != 0) {
        add_in_place(job);
        return;
    }
    for (int64_t i = 0; i < m; i += features) {
        const int64_t some = smaller(features, m - i);
        pack_samples(X, i, some, X->scratch);
        plan_lines(job, i + some, features, X->ahead_bytes > 0 ? X->ahead : NULL);
        for (int64_t t = 0; t < tile_count; t += together)
            add_group(job, t, smaller(t + together, tile_count), job->W + tile_start(job->r, t) * X->count, X->scratch,
                      i, some);
    }
}

/* Copies of W and X pay where they are read often, or where columns of X would meet in few places of a cache. */
static bool is_worth_packing(const adding *job)
{
    const armilla_columns *X = job->X;
    const bool fits = X->count * TILE_FEATURES * (int64_t)sizeof(REAL) <= PACKED_X;
    const bool meet = X->stride * (int64_t)sizeof(REAL) % MEETING_BYTES == 0;
    return X->scratch && fits && job->r >= (meet ? ARMILLA_LEAST_PACKED : ARMILLA_USUALLY_PACKED);
}

/* Short columns, which lie so near each other that they need no copy. */
static void add_near(adding *job)
{
    const armilla_columns *X = job->X;
    const int64_t m = X->m, tile_count = (job->r + TILE_ATOMS - 1) / TILE_ATOMS;
    const int64_t steps = X->count * tile_count * ((m + TILE_FEATURES - 1) / TILE_FEATURES);
    job->next = plan_ahead(X, X->ahead_bytes / 2, X->ahead_bytes - X->ahead_bytes / 2, steps);
    int64_t i = 0;
    for (; i + LANES <= m; i += TILE_FEATURES) {
        const int vectors = i + TILE_FEATURES <= m ? TILE_VECTORS : 1;
        tile of = {
            .x = (const REAL *)X->values + i, .x_step = X->stride, .w_step = job->stride, .features = vectors * LANES};
        for (int64_t t = 0; t < tile_count; t++) {
            const int64_t k = tile_start(job->r, t), atoms = tile_start(job->r, t + 1) - k;
            if (job->lower && k >= i + of.features) break;
            of.w = job->W + k;
            of.A = job->A + k * m + i;
            tiles[atoms][vectors - 1](job, &of);
        }
    }
    /* At least ARMILLA_LEAST_PACKED atoms in equal shares of at most 6 are not less than 5. */
    const int64_t shares = (job->r + 5) / 6;
    if (m % LANES > 0 && job->r <= 5 * shares)
        add_features(1, 5, job, m - LANES, m % LANES);
    else if (m % LANES > 0)
        add_features(1, 6, job, m - LANES, m % LANES);
}

static void add_all(adding *job)
{
    const armilla_columns *X = job->X;
    const bool near = !job->is_long && X->m >= LANES && X->stride * (int64_t)sizeof(REAL) <= NEAR_BYTES;
    if (X->packed_codes)
        add_packed_codes(job);
    else if (!is_worth_packing(job))
        add_few(job);
    else if (near)
        add_near(job);
    else
        add_packed(job);
}

static void accumulate(const armilla_columns *X, int64_t r, const void *W, bool is_new, double *A)
{
    adding job = {.X = X, .r = r, .W = W, .stride = r, .A = A, .is_new = is_new, .is_long = has_long_columns(X)};
    add_all(&job);
}

static void gram(const armilla_columns *W, double *G)
{
    adding job = {.X = W, .r = W->m, .W = W->values, .stride = W->stride, .A = G, .lower = true};
    add_all(&job);
}

static void pack_all_codes(int64_t r, int64_t count, const void *W, void *packed)
{
    const armilla_columns X = {.count = count};
    const adding job = {.X = &X, .r = r, .W = W, .stride = r};
    pack_codes(&job, 0, (r + TILE_ATOMS - 1) / TILE_ATOMS, packed);
}

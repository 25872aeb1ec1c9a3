/* C = U'X with vectors along the atoms, which lie in tiles: nothing is summed across lanes, so that short columns cost no
 * more than long ones. A result c_kj is a sum over runs of features, each of which has one accumulator that takes the
 * features in their order: what is computed beside it never changes it.
 *
 * Tiled atoms: for each run of features the tiles one behind the other, for each feature the atoms of a tile. The last
 * tile is filled with zeros to whole vectors. */
enum {
    /* Samples and vectors of atoms of one register block. */
    TILED_SAMPLES = MANY_REGISTERS ? 12 : 6,
    TILED_VECTORS = 2,
    TILED_ATOMS = TILED_VECTORS * LANES,
    /* Bytes of a run of features: TILED_SAMPLES of them fit the first cache, and sums stay short. */
    RUN_BYTES = 1152,
    RUN_FEATURES = RUN_BYTES / (int)sizeof(REAL),
    /* Columns that are a multiple of so many bytes apart meet in few places of a cache: they are copied, a line apart. */
    CROWDED_BYTES = 2048,
    COPY_STRIDE = RUN_FEATURES + LINE / (int)sizeof(REAL),
    /* Pieces of memory that a block of columns fetches: the next columns, and a share of the next atoms. */
    ATOM_STREAMS = 24,
    MOST_STREAMS = TILED_SAMPLES + ATOM_STREAMS,
    /* Bytes of atoms that do not stay in a second-level cache: they are fetched block by block whatever the columns. */
    MANY_BYTES = 2 << 20,
    /* What the sum of the lanes of a product costs, in products of vectors. */
    LANE_SUM = 6
};

static int64_t round_up(int64_t number, int64_t step)
{
    return (number + step - 1) / step * step;
}

/* Runs of nearly equal size: a function of m alone. */
static int64_t run_features(int64_t m)
{
    const int64_t runs = (m + RUN_FEATURES - 1) / RUN_FEATURES;
    return (m + runs - 1) / runs;
}

/* Some columns of X at a run of features, and the tile they meet. */
typedef struct meeting {
    const REAL *x, *u;
    int64_t stride, features;
    double *C;
    int64_t r, atoms; /* numbers between columns of C; atoms of the tile */
    bool is_new;
    ahead *streams; /* what is fetched on the way, each in `share` steps, the last in the rest */
    int64_t stream_count, share;
    REAL *typed;       /* where the products go instead, in the type, in whole vectors; NULL: to C */
    int64_t width;     /* numbers between columns there */
    ahead_twice codes; /* that will be wanted next, where they are typed */
} meeting;

/* to += v, or to = v, for the first `count` lanes. */
#if defined(__AVX512F__)
#if LANES == 16
#define MASK_LOAD(to, mask) ((doubles)_mm512_maskz_loadu_pd(mask, to))
#define MASK_STORE(to, mask, v) _mm512_mask_storeu_pd(to, mask, (__m512d)(v))
#else
#define MASK_LOAD(to, mask) ((doubles)_mm256_maskz_loadu_pd(mask, to))
#define MASK_STORE(to, mask, v) _mm256_mask_storeu_pd(to, mask, (__m256d)(v))
#endif
INLINE void put_half(double *to, doubles v, uint32_t mask, bool is_new)
{
    MASK_STORE(to, (__mmask8)mask, is_new ? v : v + MASK_LOAD(to, (__mmask8)mask));
}

INLINE void put_lanes(double *to, vector v, int64_t count, bool is_new)
{
    const uint32_t mask = count < LANES ? (1u << count) - 1 : (1u << LANES) - 1, half_mask = (1u << LANES / 2) - 1;
    put_half(to, widen(low_half(v)), mask & half_mask, is_new);
    put_half(to + LANES / 2, widen(high_half(v)), mask >> LANES / 2, is_new);
}
#else
INLINE void put_lanes(double *to, vector v, int64_t count, bool is_new)
{
    REAL number[LANES];
    memcpy(number, &v, sizeof number);
    for (int64_t i = 0; i < count && i < LANES; i++) to[i] = (is_new ? 0 : to[i]) + (double)number[i];
}
#endif

/* For `samples` columns and `vectors` vectors of atoms, which are constants where it is inlined, as is whether the products
 * stay in the type. Columns are reached from every third, so that the addresses of all fit the registers. */
INLINE void meet(int samples, int vectors, bool typed, meeting *at)
{
    vector sum[TILED_SAMPLES * TILED_VECTORS] = {{0}};
    const int64_t stride = at->stride;
    const REAL *u = at->u, *x[(TILED_SAMPLES + 2) / 3];
    ahead_twice codes = at->codes;
    UNROLL for (int g = 0; g < (samples + 2) / 3; g++) x[g] = at->x + 3 * g * stride;
    for (int64_t s = 0, i = 0; s < at->stream_count; s++) {
        const int64_t end = s + 1 < at->stream_count ? i + at->share : at->features;
        ahead next = at->streams[s];
        for (; i < end; i++, u += vectors * LANES) {
            vector atoms[TILED_VECTORS];
            fetch_ahead(&next);
            if (typed && vectors > 1) fetch_in_turn(&codes);
            UNROLL for (int v = 0; v < vectors; v++) atoms[v] = hold(*(const vector *)(u + v * LANES));
            UNROLL for (int j = 0; j < samples; j++)
            {
                const vector one = spread(x[j / 3][j % 3 * stride + i]);
                UNROLL for (int v = 0; v < vectors; v++) sum[j * vectors + v] += one * atoms[v];
            }
        }
        at->streams[s] = next;
    }
    at->codes = codes;
    if (typed) {
        UNROLL for (int q = 0; q < samples * vectors; q++) *
            (vector *)(at->typed + q / vectors * at->width + q % vectors * LANES) = sum[q];
        return;
    }
    if (at->atoms == vectors * LANES) {
        UNROLL for (int q = 0; q < samples * vectors; q++)
            add_in_double(at->C + q / vectors * at->r + q % vectors * LANES, sum[q], at->is_new);
        return;
    }
    vector kept[TILED_SAMPLES * TILED_VECTORS];
    UNROLL for (int q = 0; q < samples * vectors; q++) kept[q] = sum[q];
    for (int q = 0; q < samples * vectors; q++)
        put_lanes(at->C + q / vectors * at->r + q % vectors * LANES, kept[q], at->atoms - q % vectors * LANES,
                  at->is_new);
}

typedef void (*meeting_kernel)(meeting *at);

#define MEET_ONE(samples, vectors)                                                                                     \
    static void meet_##samples##_##vectors(meeting *at)                                                                \
    {                                                                                                                  \
        meet(samples, vectors, false, at);                                                                             \
    }                                                                                                                  \
    static void meet_typed_##samples##_##vectors(meeting *at)                                                          \
    {                                                                                                                  \
        meet(samples, vectors, true, at);                                                                              \
    }
#define MEET(samples) MEET_ONE(samples, 1) MEET_ONE(samples, 2)
#define BLOCK(samples)                                                                                                 \
    {                                                                                                                  \
        samples, {meet_##samples##_1, meet_##samples##_2},                                                             \
        {                                                                                                              \
            meet_typed_##samples##_1, meet_typed_##samples##_2                                                         \
        }                                                                                                              \
    }
#if MANY_REGISTERS
MEET(12)
#endif
MEET(6)
MEET(3)
MEET(1)

/* Blocks of columns, the largest first. */
static const struct {
    int samples;
    meeting_kernel of[TILED_VECTORS], typed[TILED_VECTORS];
} blocks[] = {
#if MANY_REGISTERS
    BLOCK(12),
#endif
    BLOCK(6),
    BLOCK(3),
    BLOCK(1),
};

/* A run of features of all columns, and atoms first ... last-1, which begin a tile. */
typedef struct tiled_part {
    int64_t feature, features, first, last;
    const REAL *then; /* columns, of which the next part wants as many features; NULL: these again, or nobody knows */
} tiled_part;

/* What a block of columns fetches while it meets its tiles, where columns are long or atoms many. */
typedef struct fetching {
    const char *from[MOST_STREAMS];
    int64_t count, bytes; /* bytes of each */
} fetching;

/* Whether each block of columns fetches what the next one and the next atoms need, instead of a panel the next panel. */
static bool fetches_blocks(const armilla_columns *X, const armilla_atoms *U)
{
    return has_long_columns(X) || (X->ahead_stride > 0 && X->m * U->r * (int64_t)sizeof(REAL) > MANY_BYTES);
}

/* The next block of as many columns, and of the atoms behind these, or the first ones, the share of one block of many. */
static void plan_streams(const armilla_columns *X, const armilla_atoms *U, const tiled_part *part, int64_t j,
                         int64_t samples, fetching *f)
{
    const int64_t size = sizeof(REAL), shares = (X->count + samples - 1) / samples;
    const int64_t numbers = part->features * round_up(part->last - part->first, LANES);
    const int64_t all = X->m * round_up(U->r, LANES), share = numbers / shares;
    const int64_t at = part->feature * round_up(U->r, LANES) + part->last * part->features + j / samples * share;
    const bool more = j + 2 * samples <= X->count; /* blocks of this size */
    const REAL *x = more ? (const REAL *)X->values + (j + samples) * X->stride + part->feature : part->then;
    f->count = 0;
    f->bytes = part->features * size;
    for (int64_t c = 0; c < samples && x && (part->first == 0 || !more); c++)
        f->from[f->count++] = (const char *)(x + c * X->stride);
    const int64_t steps = part->features * ((part->last - part->first + TILED_ATOMS - 1) / TILED_ATOMS);
    const int64_t most = smaller(steps / (f->bytes / LINE + 2), MOST_STREAMS); /* with a step for each line */
    const REAL *u = (const REAL *)U->values + (at + share <= all ? at : j / samples * share);
    for (int64_t c = 0; f->count < most && c * f->bytes < share * size; c++)
        f->from[f->count++] = (const char *)u + c * f->bytes;
}

/* Those that tile t of so many fetches, of which there may be none: then a line that is in the cache anyway. */
static void share_streams(const fetching *f, int64_t t, int64_t of, meeting *at)
{
    const int64_t first = f->count * t / of, count = f->count * (t + 1) / of - first;
    at->stream_count = count > 0 ? count : 1;
    at->share = at->features / at->stream_count;
    const int64_t step = (f->bytes + LINE) / (at->share > 0 ? at->share : 1) + 1; /* they may begin inside a line */
    at->streams[0] = (ahead){(const char *)at->x, 0};
    for (int64_t s = 0; s < count; s++) at->streams[s] = (ahead){f->from[first + s], step < LINE ? step : LINE};
}

/* These atoms for a block of columns, which stays in the first cache while they stream past. */
static void meet_tiles(const armilla_atoms *U, const tiled_part *part, const fetching *f, int block, meeting *at)
{
    double *C = at->C;
    const int64_t tile_count = (part->last - part->first + TILED_ATOMS - 1) / TILED_ATOMS;
    REAL *typed = at->typed;
    const int64_t padded_r = round_up(U->r, LANES);
    const REAL *run = (const REAL *)U->values + part->feature * padded_r;
    for (int64_t k = part->first; k < part->last; k += TILED_ATOMS) {
        at->atoms = smaller(TILED_ATOMS, part->last - k);
        at->u = run + k * part->features;
        at->C = C ? C + k : NULL;
        at->typed = typed ? typed + k : NULL;
        if (f) share_streams(f, (k - part->first) / TILED_ATOMS, tile_count, at);
        (typed ? blocks[block].typed : blocks[block].of)[(at->atoms - 1) / LANES](at);
    }
    at->C = C;
    at->typed = typed;
}

/* Not inlined, so that its copy is on the stack by itself. */
static __attribute__((noinline)) void meet_columns(const armilla_columns *X, const armilla_atoms *U,
                                                   const tiled_part *part, double *C, ahead *next)
{
    const int64_t count = X->count, size = sizeof(REAL);
    const bool crowded = X->stride * size % CROWDED_BYTES == 0;
    REAL copy[TILED_SAMPLES * COPY_STRIDE] __attribute__((aligned(LINE)));
    ahead streams[MOST_STREAMS];
    fetching f;
    const bool fetches = fetches_blocks(X, U);
    meeting at = {.features = part->features, .r = U->r, .is_new = part->feature == 0};
    at.streams = fetches ? streams : next;
    at.stream_count = 1;
    at.codes.at = at.codes.other = X->values;
    int block = 0;
    for (int64_t j = 0; j < count; j += blocks[block].samples) {
        while (blocks[block].samples > count - j) block++;
        at.x = (const REAL *)X->values + j * X->stride + part->feature;
        at.stride = crowded ? COPY_STRIDE : X->stride;
        at.C = C + j * U->r;
        for (int c = 0; c < blocks[block].samples && crowded; c++)
            memcpy(copy + c * COPY_STRIDE, at.x + c * X->stride, (size_t)(part->features * size));
        if (crowded) at.x = copy;
        if (fetches) plan_streams(X, U, part, j, blocks[block].samples, &f);
        meet_tiles(U, part, fetches ? &f : NULL, block, &at);
    }
}

static void tiled_products(const armilla_columns *X, const armilla_atoms *U, double *C)
{
    const int64_t m = X->m, r = U->r, run = run_features(m);
    const int64_t most = round_up(ATOMS_BYTES / (run * (int64_t)sizeof(REAL)), TILED_ATOMS);
    const int64_t steps = (X->count + TILED_SAMPLES - 1) / TILED_SAMPLES * ((r + TILED_ATOMS - 1) / TILED_ATOMS) * m;
    ahead next = plan_ahead(X, 0, X->ahead_bytes / 2, steps);
    for (int64_t i = 0; i < m; i += run)
        for (int64_t k = 0; k < r; k += most) {
            const REAL *then = i + run < m ? (const REAL *)X->values + i + run : X->ahead_bytes > 0 ? X->ahead : NULL;
            const tiled_part part = {i, smaller(run, m - i), k, smaller(k + most, r), k + most < r ? NULL : then};
            meet_columns(X, U, &part, C, &next);
        }
}

/* Atoms in whole vectors against sums of lanes. */
static bool tiles_pay(int64_t m, int64_t r)
{
    const int64_t chunks = (m + chunk_features(m) - 1) / chunk_features(m);
    return round_up(r, LANES) * m <= r * (m + LANE_SUM * LANES * chunks);
}

static int64_t tiled_numbers(int64_t m, int64_t r)
{
    return m * round_up(r, LANES);
}

/* Atoms k ... of a run of features into their tile. */
static void put_tile(int64_t m, const armilla_atoms *U, int64_t i, int64_t k, REAL *to)
{
    const int64_t features = smaller(run_features(m), m - i), atoms = smaller(TILED_ATOMS, U->r - k);
    const int64_t width = round_up(atoms, LANES);
    const REAL *from = (const REAL *)U->values + k * m + i;
    for (int64_t f = 0; f < features; f++)
        for (int64_t a = 0; a < width; a++) to[f * width + a] = a < atoms ? from[a * m + f] : 0;
}

static int64_t tiled_runs(int64_t m)
{
    return (m + run_features(m) - 1) / run_features(m);
}

static void put_tiles(int64_t m, const armilla_atoms *U, int64_t first, int64_t last, void *tiled)
{
    const int64_t run = run_features(m), padded_r = round_up(U->r, LANES);
    for (int64_t t = first; t < last; t++)
        for (int64_t k = 0; k < U->r; k += TILED_ATOMS)
            put_tile(m, U, t * run, k, (REAL *)tiled + t * run * padded_r + k * smaller(run, m - t * run));
}

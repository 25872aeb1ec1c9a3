/* Least squares over w >= 0 for several columns at a time, by exchanging all atoms that are on the wrong side (block principal
 * pivoting; Kim and Park, 2011): each round refits the atoms of every column and compares slopes. Included by descents.h,
 * whose vectors it uses. */

/* Pivots and slopes that are smaller beside what they are summed from are rounding. */
#define DEPENDENT ((REAL)(sizeof(REAL) == 4 ? 1e-5 : 1e-13))
#define LEVEL ((REAL)(sizeof(REAL) == 4 ? 1e-6 : 1e-14))

enum { ROUNDS = 10, MEMBERS = ARMILLA_CONE_MEMBERS };

/* The atoms of each code: number a of column i is atom[a][i], and there are size[i] of them. */
typedef struct members {
    int32_t atom[MEMBERS][CONE_LANES], size[CONE_LANES];
    int64_t largest;
} members;

typedef struct exchange {
    int64_t r;
    const REAL *H;
    const abreast *d;
    abreast *in;       /* which atoms a code has: bits of a mask */
    abreast *L, *z;    /* LL' = H on these by rows, and the solution */
    abreast *x;        /* the code that it makes */
    mask_abreast open; /* columns that are not solved yet */
} exchange;

/* Columns with more atoms than there is space for are given up. */
static void list_members(exchange *e, members *m)
{
    memset(m->size, 0, sizeof m->size);
    for (int64_t k = 0; k < e->r; k++) {
        mask_abreast here;
        EACH_ABREAST here.of[g] = (mask)e->in[k].of[g] & e->open.of[g];
        for (unsigned bits = bits_abreast(&here); bits; bits &= bits - 1) {
            const int i = __builtin_ctz(bits);
            if (m->size[i] < MEMBERS) m->atom[m->size[i]][i] = (int32_t)k;
            m->size[i]++;
        }
    }
    m->largest = 0;
    for (int i = 0; i < CONE_LANES; i++) {
        if (m->size[i] > MEMBERS) {
            ((lane_bits *)&e->open)[i] = 0;
            m->size[i] = 0;
        }
        if (m->size[i] > m->largest) m->largest = m->size[i];
    }
}

/* Row a of H on the members and their d; of columns with fewer members those of the identity, and 0. */
static void gather_row(const exchange *e, const members *m, int64_t a, abreast *row)
{
    for (int i = 0; i < CONE_LANES; i++) {
        const bool is = a < m->size[i];
        const int64_t atom = is ? m->atom[a][i] : 0;
        for (int64_t b = 0; b <= a; b++)
            ((REAL *)(row + b))[i] = is ? e->H[atom * e->r + m->atom[b][i]] : (REAL)(a == b);
        ((REAL *)(e->z + a))[i] = is ? ((const REAL *)(e->d + atom))[i] : 0;
    }
}

/* sum - the products of the first `count` numbers of two rows */
INLINE abreast less_products(abreast sum, const abreast *a, const abreast *b, int64_t count)
{
    for (int64_t k = 0; k < count; k++) EACH_ABREAST sum.of[g] -= a[k].of[g] * b[k].of[g];
    return sum;
}

/* Row a of L, its diagonal inverted, from that of H, and entry a of the solution of Ly = d; columns with a pivot that is
 * rounding are given up. */
INLINE void factor_row(exchange *e, int64_t a, abreast *row)
{
    const abreast *other = e->L;
    for (int64_t b = 0; b < a; other += ++b) {
        row[b] = less_products(row[b], row, other, b);
        EACH_ABREAST row[b].of[g] *= other[b].of[g];
    }
    const abreast pivot = less_products(row[a], row, row, a);
    EACH_ABREAST e->open.of[g] &= (mask)(pivot.of[g] > DEPENDENT * row[a].of[g]);
    EACH_ABREAST row[a].of[g] = 1 / square_root(pivot.of[g]);
    e->z[a] = less_products(e->z[a], row, e->z, a);
    EACH_ABREAST e->z[a].of[g] *= row[a].of[g];
}

/* z of the members: LL'z = d. */
static void refit(exchange *e, const members *m)
{
    abreast *row = e->L;
    for (int64_t a = 0; a < m->largest; row += ++a) {
        gather_row(e, m, a, row);
        factor_row(e, a, row);
    }
    for (int64_t a = m->largest - 1; a >= 0; a--) {
        row -= a + 1;
        EACH_ABREAST e->z[a].of[g] *= row[a].of[g];
        for (int64_t b = 0; b < a; b++) EACH_ABREAST e->z[b].of[g] -= row[b].of[g] * e->z[a].of[g];
    }
    memset(e->x, 0, (size_t)e->r * sizeof *e->x);
    for (int i = 0; i < CONE_LANES; i++)
        for (int32_t a = 0; a < m->size[i]; a++) ((REAL *)(e->x + m->atom[a][i]))[i] = ((const REAL *)(e->z + a))[i];
}

/* Atoms on the wrong side change it; the columns that had one. */
INLINE mask_abreast exchange_all(exchange *e)
{
    mask_abreast wrong = {.of = {{0}}};
    for (int64_t k = 0; k < e->r; k++) {
        const REAL *row = e->H + k * e->r;
        abreast slope = e->d[k], size;
        EACH_ABREAST size.of[g] = larger(slope.of[g], -slope.of[g]);
        for (int64_t j = 0; j < e->r; j++) EACH_ABREAST
            {
                const vector term = row[j] * e->x[j].of[g];
                slope.of[g] -= term;
                size.of[g] += larger(term, -term);
            }
        EACH_ABREAST
        {
            const mask in = (mask)e->in[k].of[g], negative = (mask)(e->x[k].of[g] < 0),
                       rises = (mask)(slope.of[g] > LEVEL * size.of[g]), here = (in & negative) | (~in & rises);
            e->in[k].of[g] = (vector)(in ^ here);
            wrong.of[g] |= here;
        }
    }
    return wrong;
}

/* The columns that are solved take their code. */
INLINE unsigned take_solved(exchange *e, const mask_abreast *wrong, abreast *w)
{
    mask_abreast solved;
    EACH_ABREAST solved.of[g] = e->open.of[g] & ~wrong->of[g];
    EACH_ABREAST e->open.of[g] &= wrong->of[g];
    for (int64_t k = 0; k < e->r; k++) EACH_ABREAST
    w[k].of[g] = choose(solved.of[g], larger(e->x[k].of[g], spread(0)), w[k].of[g]);
    return bits_abreast(&solved);
}

static unsigned solve_cone(int64_t r, const void *H, const void *d, void *w, void *workspace)
{
    abreast *codes = w, *x = workspace, *z = x + 2 * r;
    exchange e = {.r = r, .H = H, .d = d, .x = x, .in = x + r, .z = z, .L = z + (r < MEMBERS ? r : MEMBERS)};
    members m;
    unsigned solved = 0;
    EACH_ABREAST e.open.of[g] = ~(mask){0};
    for (int64_t k = 0; k < r; k++) EACH_ABREAST
    e.in[k].of[g] = (vector)(mask)(codes[k].of[g] > 0);
    for (int round = 0; round < ROUNDS && bits_abreast(&e.open); round++) {
        list_members(&e, &m);
        refit(&e, &m);
        const mask_abreast wrong = exchange_all(&e);
        solved |= take_solved(&e, &wrong, codes);
    }
    return solved;
}

/* Products, norms and eigenvalues of thin matrices in double. */
#include "linalg/dense.h"

#include "base/size.h"
#include "linalg/algebra.h"
#include "linalg/blas.h"
#include "linalg/lanczos.h"
#include "linalg/small.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

armilla_status armilla_blas_need(armilla_context *context, int64_t columns)
{
    return columns > ARMILLA_SMALL ? armilla_blas_load(context, 1) : ARMILLA_OK;
}

void armilla_multiply_thin(const armilla_thin_product *p, int64_t rows)
{
    if (armilla_is_small(rows, armilla_max64(p->r, p->c)))
        armilla_thin_kernels_best()->multiply(p, rows);
    else
        armilla_dgemm('N', 'N', (int)rows, (int)p->c, (int)p->r, p->alpha, p->B, (int)p->stride, p->K, (int)p->r,
                      p->beta, p->Z, (int)p->to);
}

void armilla_gram_thin(const armilla_thin_gram *of, int64_t rows)
{
    if (armilla_is_small(rows, of->r))
        armilla_thin_kernels_best()->gram(of, rows);
    else
        armilla_dsyrk('U', 'T', (int)of->r, (int)rows, 1, of->B, (int)of->stride, of->adds, of->G, (int)of->r);
}

void armilla_gram(int64_t m, int64_t r, const double *B, double *G)
{
    armilla_gram_thin(&(armilla_thin_gram){.r = r, .stride = m, .B = B, .G = G}, m);
    for (int64_t j = 0; j < r; j++)
        for (int64_t i = j + 1; i < r; i++) G[j * r + i] = G[i * r + j];
}

void armilla_multiply(int64_t m, int64_t r, int64_t c, double alpha, const double *B, const double *K, double beta,
                      double *Z)
{
    armilla_multiply_thin(&(armilla_thin_product){r, c, alpha, beta, B, K, Z, m, m}, m);
}

void armilla_inner(int64_t m, int64_t r, int64_t c, const double *B, const double *K, double *Z)
{
    armilla_dgemm('T', 'N', (int)r, (int)c, (int)m, 1, B, (int)m, K, (int)m, 0, Z, (int)r);
}

void armilla_multiply_rows(const armilla_product *p, int64_t first, int64_t last)
{
    const armilla_thin_product rows = {p->r, p->c, p->alpha, p->beta, p->B + first, p->K, p->Z + first, p->m, p->m};
    armilla_multiply_thin(&rows, last - first);
}

static int64_t round_up(int64_t count, int64_t step)
{
    return (count + step - 1) / step * step;
}

/* Rows of a block: few enough that some columns of them stay in a cache, and with many columns that few rows are work for
 * several threads. */
static int64_t block_rows(const armilla_algebra *algebra, int64_t m)
{
    enum { LEAST = 2048, STEP = 64, LARGE_LEAST = 64, LARGE_MOST = 256, LARGE_BLOCKS = 8, LARGE_STEP = 8 };
    const int64_t even = round_up((m + ARMILLA_ROW_BLOCKS - 1) / ARMILLA_ROW_BLOCKS, STEP);
    const int64_t eighth = round_up((m + LARGE_BLOCKS - 1) / LARGE_BLOCKS, LARGE_STEP);
    if (algebra->r < ARMILLA_LARGE) return armilla_max64(LEAST, even);
    return armilla_max64(even, armilla_max64(LARGE_LEAST, armilla_min64(eighth, LARGE_MOST)));
}

int64_t armilla_row_blocks(const armilla_algebra *algebra, int64_t m)
{
    const int64_t rows = block_rows(algebra, m);
    return (m + rows - 1) / rows;
}

typedef struct by_rows {
    int64_t m, rows;
    armilla_rows body;
    void *self;
} by_rows;

static void run_blocks(void *self, int64_t first, int64_t last)
{
    const by_rows *run = self;
    for (int64_t block = first; block < last; block++)
        run->body(run->self, block, block * run->rows, armilla_min64((block + 1) * run->rows, run->m));
}

void armilla_by_rows(const armilla_algebra *algebra, int64_t m, armilla_rows body, void *self)
{
    by_rows run = {m, block_rows(algebra, m), body, self};
    const int64_t blocks = armilla_row_blocks(algebra, m);
    if (algebra->team && blocks > 1)
        armilla_team_share(algebra->team, blocks, run_blocks, &run);
    else
        run_blocks(&run, 0, blocks);
}

void armilla_algebra_set_team(armilla_algebra *algebra, const armilla_team *team)
{
    algebra->team = team;
}

/* Long sums run in this many parts, which compilers turn into vectors; the order is fixed all the same. */
enum { PARTS = 8 };

static double add_parts(const double part[PARTS])
{
    return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

double armilla_dot(int64_t count, const double *a, const double *b)
{
    double part[PARTS] = {0};
    int64_t i = 0;
    for (; i + PARTS <= count; i += PARTS)
        for (int k = 0; k < PARTS; k++) part[k] += a[i + k] * b[i + k];
    for (int k = 0; i < count; i++, k++) part[k] += a[i] * b[i];
    return add_parts(part);
}

static double squared_distance(int64_t count, const double *a, const double *b)
{
    double part[PARTS] = {0};
    int64_t i = 0;
    for (; i + PARTS <= count; i += PARTS)
        for (int k = 0; k < PARTS; k++) part[k] += (a[i + k] - b[i + k]) * (a[i + k] - b[i + k]);
    for (int k = 0; i < count; i++, k++) part[k] += (a[i] - b[i]) * (a[i] - b[i]);
    return add_parts(part);
}

double armilla_safe_scale(int64_t count, const double *a, const double *b)
{
    double largest = 0;
    int exponent = 0;
    for (int64_t i = 0; i < count; i++) {
        const double size = fabs(b ? a[i] - b[i] : a[i]);
        if (isnan(size)) return NAN;               /* which a comparison would lose */
        largest = size > largest ? size : largest; /* fmax is a call */
    }
    if (largest == 0 || isinf(largest)) return largest == 0 ? 0 : 1;
    (void)frexp(largest, &exponent);
    /* So far that squares are safe, and not so far that the scale or its reciprocal leaves the range. */
    return ldexp(1, exponent < -1000 ? 1000 : exponent > 1000 ? -1000 : -exponent);
}

/* Directly where no square can have left the range, else scaled. */
double armilla_distance(int64_t count, const double *a, const double *b)
{
    double sum = b ? squared_distance(count, a, b) : armilla_dot(count, a, a);
    if (sum > 1e-200 && sum < 1e300) return sqrt(sum);
    const double scale = armilla_safe_scale(count, a, b);
    if (scale == 0) return 0;
    sum = 0;
    for (int64_t i = 0; i < count; i++) {
        const double value = scale * (b ? a[i] - b[i] : a[i]);
        sum += value * value;
    }
    return sqrt(sum) / scale;
}

double armilla_norm(int64_t count, const double *a)
{
    return armilla_distance(count, a, NULL);
}

double armilla_make_unit(int64_t count, double *a)
{
    const double length = armilla_norm(count, a);
    for (int64_t i = 0; i < count && length > 0; i++) a[i] /= length;
    return length;
}

/* Sizes of LAPACK's work arrays: what dsyevd documents, and what dgesdd, dgeqrf and dorgqr ask for. */
static armilla_status query_work(armilla_algebra *algebra)
{
    const int m = (int)algebra->m, r = (int)algebra->r;
    double asked[3] = {0};
    double dummy = 0;
    int integer = 0;
    const int64_t eigen = 1 + 6 * algebra->r + 2 * algebra->r * algebra->r;
    const int infos[] = {
        armilla_dgesdd('A', r, r, &dummy, r, &dummy, &dummy, r, &dummy, r, &asked[0], -1, &integer),
        armilla_dgeqrf(m, r, &dummy, m, &dummy, &asked[1], -1),
        armilla_dorgqr(m, r < m ? r : m, r < m ? r : m, &dummy, m, &dummy, &asked[2], -1),
    };
    for (int i = 0; i < 3; i++)
        if (infos[i] != 0) return armilla_fail(algebra->context, ARMILLA_INTERNAL, "LAPACK refused a work size query");
    algebra->work_size = (int)fmax((double)eigen, fmax(asked[0], fmax(asked[1], asked[2])));
    algebra->integer_size = (int)(8 * algebra->r + 3);
    return ARMILLA_OK;
}

armilla_status armilla_algebra_need_lapack(armilla_algebra *algebra)
{
    armilla_context *context = algebra->context;
    if (algebra->integers) return ARMILLA_OK;
    armilla_status status = armilla_blas_load(context, 1);
    if (status == ARMILLA_OK) status = query_work(algebra);
    if (status == ARMILLA_OK && !algebra->work)
        status = armilla_take(context, algebra->work_size, sizeof(double), &algebra->work);
    if (status == ARMILLA_OK) status = armilla_take(context, algebra->integer_size, sizeof(int), &algebra->integers);
    return status;
}

armilla_status armilla_algebra_new(armilla_context *context, int64_t m, int64_t r, armilla_algebra **algebra)
{
    armilla_algebra *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    made->context = context;
    made->m = m;
    made->r = r;
    if (!armilla_is_small(m, r)) status = armilla_algebra_need_lapack(made);
    const bool large = r >= ARMILLA_LARGE;
    const int64_t buffer = large ? m : armilla_tall_buffer(m);
    if (status == ARMILLA_OK) status = armilla_take(context, buffer * r, sizeof(double), &made->blocks);
    for (int i = 0; i < (large ? ALGEBRA_SQUARES : ALGEBRA_FEW_SQUARES) && status == ARMILLA_OK; i++)
        status = armilla_take(context, r * r, sizeof(double), &made->square[i]);
    for (int i = 0; large && i < ALGEBRA_VECTORS && status == ARMILLA_OK; i++)
        status = armilla_take(context, r, sizeof(double), &made->vectors[i]);
    if (status == ARMILLA_OK) status = armilla_take(context, r, sizeof(double), &made->values);
    if (status == ARMILLA_OK) status = armilla_take(context, r, sizeof(double), &made->tau);
    if (status == ARMILLA_OK && !large)
        status = armilla_take(context, armilla_tall_parts(m) * r * r, sizeof(double), &made->grams);
    if (status != ARMILLA_OK) {
        armilla_algebra_free(made);
        return status;
    }
    *algebra = made;
    return ARMILLA_OK;
}

/* What dsyevd documents. It is not cleared, because few eigenproblems are of the full size. */
static armilla_status take_eigen_work(armilla_algebra *algebra)
{
    const int64_t r = algebra->r, doubles = 1 + 6 * r + 2 * r * r, integers = 3 + 5 * r;
    armilla_status status = armilla_blas_load(algebra->context, 1);
    if (status == ARMILLA_OK) status = armilla_grow(algebra->context, doubles, sizeof(double), &algebra->work);
    if (status == ARMILLA_OK) status = armilla_take(algebra->context, integers, sizeof(int), &algebra->integers);
    algebra->work_size = (int)doubles;
    algebra->integer_size = (int)integers;
    return status;
}

armilla_status armilla_algebra_new_eigen(armilla_context *context, int64_t r, armilla_algebra **algebra)
{
    armilla_algebra *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    made->context = context;
    made->m = made->r = r;
    if (!armilla_is_small(r, r)) status = take_eigen_work(made);
    if (status == ARMILLA_OK)
        *algebra = made;
    else
        armilla_algebra_free(made);
    return status;
}

void armilla_algebra_free(armilla_algebra *algebra)
{
    if (!algebra) return;
    armilla_context *context = algebra->context;
    for (int i = 0; i < ALGEBRA_SQUARES; i++) armilla_release(context, algebra->square[i]);
    for (int i = 0; i < ALGEBRA_VECTORS; i++) armilla_release(context, algebra->vectors[i]);
    armilla_release(context, algebra->work);
    armilla_release(context, algebra->integers);
    armilla_release(context, algebra->blocks);
    armilla_release(context, algebra->values);
    armilla_release(context, algebra->tau);
    armilla_release(context, algebra->grams);
    armilla_release(context, algebra);
}

void armilla_reflect(int64_t k, double *S)
{
    for (int64_t j = 1; j < k; j++)
        for (int64_t i = 0; i < j; i++) S[j * k + i] = S[i * k + j];
}

/* Beyond it squares come near the ends of the range, and not every BLAS guards its norms there. */
enum { FAR_EXPONENT = 300 };

/* Divides the upper half of S by two to the power that is returned, which is not 0 only where S is far from 1. */
static int bring_near_one(int64_t k, double *S)
{
    double largest = 0;
    int exponent = 0;
    for (int64_t j = 0; j < k; j++)
        for (int64_t i = 0; i <= j; i++) largest = fmax(largest, fabs(S[j * k + i]));
    if (isfinite(largest)) (void)frexp(largest, &exponent);
    if (abs(exponent) < FAR_EXPONENT) return 0;
    for (int64_t j = 0; j < k; j++)
        for (int64_t i = 0; i <= j; i++) S[j * k + i] = ldexp(S[j * k + i], -exponent);
    return exponent;
}

/* S becomes its eigenvectors where these are wanted. */
static armilla_status decompose(armilla_algebra *algebra, int64_t k, bool wanted, double *values, double *S)
{
    const bool small = k <= ARMILLA_SMALL || armilla_is_small(algebra->m, algebra->r);
    if (small && armilla_small_eigen(k, wanted, values, S)) return ARMILLA_OK;
    if (small)
        return armilla_fail(algebra->context, ARMILLA_BAD_DATA,
                            "sums over the data are not finite: products of entries leave the range of numbers; scale "
                            "the data nearer to 1");
    const int exponent = bring_near_one(k, S);
    const int info = armilla_dsyevd(wanted ? 'V' : 'N', 'U', (int)k, S, (int)k, values, algebra->work,
                                    algebra->work_size, algebra->integers, algebra->integer_size);
    if (info != 0) return armilla_fail(algebra->context, ARMILLA_INTERNAL, "LAPACK dsyevd failed with info %d", info);
    for (int64_t i = 0; i < k && exponent != 0; i++) values[i] = ldexp(values[i], exponent);
    return ARMILLA_OK;
}

armilla_status armilla_eigen(armilla_algebra *algebra, int64_t k, const double *S, double *values, double *vectors)
{
    if (vectors != S) memcpy(vectors, S, (size_t)(k * k) * sizeof *vectors);
    return decompose(algebra, k, true, values, vectors);
}

armilla_status armilla_eigenvalues(armilla_algebra *algebra, int64_t k, double *S, double *values)
{
    return decompose(algebra, k, false, values, S);
}

armilla_status armilla_largest_eigenvalue(armilla_algebra *algebra, int64_t r, const double *S, double *largest)
{
    double *scratch = algebra->square[0];
    if (r >= ARMILLA_LARGE && r == algebra->r && armilla_lanczos_bound(algebra, S, largest)) return ARMILLA_OK;
    memcpy(scratch, S, (size_t)(r * r) * sizeof *scratch);
    const armilla_status status = armilla_eigenvalues(algebra, r, scratch, algebra->values);
    if (status == ARMILLA_OK) *largest = algebra->values[r - 1];
    return status;
}

/* Sparse storage: compressed columns, one sample each, f32 or f64 with indices of 32 or 64 bits, in borrowed or owned
 * memory. Within a column features rise, each at most once: what is not so is sorted when the object is made.
 *
 * Basis and sums lie by feature, see linalg/sparse_kernels.h. Behind the packed basis stands U'mean, for forms that are
 * centred (data/prepare_sparse.c). */
#include "data/sparse.h"

#include "base/size.h"
#include "data/transposed.h"

#include <stdint.h>
#include <string.h>

typedef struct sparse {
    armilla_sparse_data form;
    armilla_sparse_matrix matrix; /* its arrays are not changed */
    bool owned;
} sparse;

enum { BLOCK = 64 };

static int64_t before(const armilla_data *X, int64_t j)
{
    const armilla_sparse_matrix *matrix = &((const sparse *)X)->matrix;
    return armilla_index_at(matrix->index64, matrix->starts, j);
}

int64_t armilla_sparse_before(const armilla_data *X, int64_t j)
{
    return X->ops->sparse->before(X, j);
}

int64_t armilla_sparse_most(const armilla_data *X, int64_t columns)
{
    int64_t most = 0;
    for (int64_t j = 0; j < X->n; j++)
        most = armilla_max64(most,
                             armilla_sparse_before(X, armilla_min64(j + columns, X->n)) - armilla_sparse_before(X, j));
    return most;
}

/* The cursors that kernels work with, then values where they are converted. */
static size_t kernel_bytes(int64_t columns)
{
    return armilla_padded((size_t)columns * sizeof(int64_t));
}

static size_t workspace(const armilla_data *X, armilla_type work, int64_t width)
{
    const size_t values = X->type == work ? 0 : (size_t)armilla_sparse_most(X, width) * armilla_type_size(work);
    return kernel_bytes(width) + values;
}

/* A view; only values of another type are converted. */
static armilla_status load(armilla_panel *panel, void *space)
{
    const sparse *X = (const sparse *)panel->data;
    const armilla_sparse_matrix *matrix = &X->matrix;
    const armilla_type work = panel->kernels->type;
    const int64_t first = before(panel->data, panel->first), last = before(panel->data, panel->first + panel->count);
    const int64_t index = matrix->index64 ? sizeof(int64_t) : sizeof(int32_t);
    const char *values = (const char *)matrix->values + (size_t)first * armilla_type_size(X->form.data.type);
    if (X->form.data.type != work && first < last) {
        char *converted = (char *)space + kernel_bytes(panel->count);
        panel->kernels->convert[X->form.data.type](last - first, values, converted);
        values = converted;
    }
    panel->sparse = (armilla_sparse_panel){
        .columns = {panel->count, values, (const char *)matrix->rows + first * index,
                    (const char *)matrix->starts + panel->first * index, matrix->m, space},
        .kernels = armilla_sparse_kernels_like(panel->kernels),
        .index64 = matrix->index64,
    };
    return ARMILLA_OK;
}

static int64_t numbers(const armilla_data *X, armilla_type work, int64_t r)
{
    return armilla_sparse_stride(work, r) * X->m;
}

/* The offset of U'mean in the packed basis. */
static size_t mean_offset(const armilla_data *X, armilla_type work, int64_t r)
{
    return (size_t)numbers(X, work, r) * armilla_type_size(work);
}

/* The basis by feature, and U'mean. */
static int64_t basis_bytes(const armilla_data *X, armilla_type work, int64_t r)
{
    return ARMILLA_LINE + (int64_t)mean_offset(X, work, r) + r * (int64_t)sizeof(double);
}

/* A basis on its way to or from its packed form. */
typedef struct packing {
    const armilla_data *X;
    armilla_type work;
    int64_t r;
    const void *U;
    char *packed;
    const double *mean; /* or NULL */
    double *products;   /* of it with each atom */
} packing;

static void pack_block(const packing *p, int64_t first, int64_t last)
{
    const armilla_type work = p->work;
    const int64_t m = p->X->m, r = p->r, stride = armilla_sparse_stride(work, r);
    const void *U = p->U;
    void *packed = p->packed;
    for (int64_t k = 0; k < r; k++)
        for (int64_t i = first; i < last; i++) {
            if (work == ARMILLA_F32)
                ((float *)packed)[i * stride + k] = ((const float *)U)[k * m + i];
            else
                ((double *)packed)[i * stride + k] = ((const double *)U)[k * m + i];
        }
    for (int64_t i = first; i < last && stride > r; i++) {
        const size_t size = armilla_type_size(work);
        memset((char *)packed + (size_t)(i * stride + r) * size, 0, (size_t)(stride - r) * size);
    }
}

static void pack_features(void *self, int64_t first, int64_t last)
{
    const packing *p = self;
    for (int64_t at = first; at < last; at += BLOCK) pack_block(p, at, armilla_min64(at + BLOCK, last));
}

static void multiply_mean(void *self, int64_t first, int64_t last)
{
    const packing *p = self;
    const int64_t m = p->X->m;
    for (int64_t k = first; k < last; k++) {
        const char *u = (const char *)p->U + (size_t)(k * m) * armilla_type_size(p->work);
        double sum = 0;
        for (int64_t i = 0; i < m; i++)
            sum += p->mean[i] * (p->work == ARMILLA_F32 ? (double)((const float *)(const void *)u)[i]
                                                        : ((const double *)(const void *)u)[i]);
        p->products[k] = sum;
    }
}

static void pack(const armilla_data *X, armilla_type work, int64_t r, const armilla_team *team, const void *U,
                 void *buffer)
{
    packing p = {
        .X = X, .work = work, .r = r, .U = U, .packed = armilla_align(buffer), .mean = armilla_sparse_of(X)->mean};
    armilla_team_share(team, X->m, pack_features, &p);
    if (!p.mean) return;
    p.products = (double *)(void *)(p.packed + mean_offset(X, work, r));
    armilla_team_share(team, r, multiply_mean, &p);
}

/* (D^-1 W 1), which unpack multiplies by the mean */
static void add_shifts(const armilla_panel *panel, int64_t r, const void *W, const armilla_memberships *memberships,
                       double *shifted)
{
    const double *shifts = panel->sparse.shifts;
    const armilla_type work = panel->sparse.kernels->type;
    for (int64_t p = 0; !W && shifts && p < memberships->partitions; p++)
        for (int64_t j = 0; j < panel->count; j++)
            shifted[memberships->atoms[p * memberships->stride + j]] += shifts[j];
    for (int64_t j = 0; j < panel->count && shifts && W; j++)
        for (int64_t k = 0; k < r; k++) {
            const int64_t i = j * r + k;
            shifted[k] += shifts[j] * (work == ARMILLA_F32 ? (double)((const float *)W)[i] : ((const double *)W)[i]);
        }
}

/* Some numbers of the features of a block: `length` from number k on, of features at ... end-1. */
typedef struct window {
    int64_t at, end, k, length;
} window;

enum { WINDOW = 32 }; /* numbers of a feature */

typedef struct unpacking {
    const armilla_parts *parts;
    double *A;
} unpacking;

/* A there. */
static void unpack_window(const unpacking *u, const window *where)
{
    const armilla_parts *parts = u->parts;
    const int64_t m = parts->X->m, k = where->k, stride = armilla_sparse_stride(parts->work, parts->r);
    const double *mean = armilla_sparse_of(parts->X)->mean;
    double sum[ARMILLA_WINDOW_BUFFER];
    armilla_reduced(parts->sums, parts->segment,
                    &(armilla_window){where->at * stride + k, where->length, where->end - where->at, stride}, sum);
    for (int64_t c = 0; c < where->length && k + c < parts->r; c++)
        for (int64_t i = where->at; i < where->end; i++)
            u->A[(k + c) * m + i] =
                sum[(i - where->at) * where->length + c] - (mean ? mean[i] * parts->shifted[k + c] : 0);
}

/* Block by block: all numbers of a block's features are used while they are in the cache. */
static void unpack_features(void *self, int64_t first, int64_t last)
{
    const unpacking *u = self;
    const int64_t r = u->parts->r, stride = armilla_sparse_stride(u->parts->work, r);
    for (int64_t block = first; block < last; block += BLOCK)
        for (int64_t k = 0; k < r; k += WINDOW) {
            const int64_t length = armilla_min64(WINDOW, stride - k), features = ARMILLA_WINDOW / length;
            const int64_t end = armilla_min64(block + BLOCK, last);
            for (int64_t at = block; at < end; at += features)
                unpack_window(u, &(window){at, armilla_min64(at + features, end), k, length});
        }
}

enum { CUTS = 4096 };

/* Features weigh as much work as they have entries. */
static void unpack_cuts(void *self, int64_t first, int64_t last)
{
    const unpacking *u = self;
    const armilla_transposed *transposed = u->parts->transposed;
    unpack_features(self, armilla_transposed_cut(transposed, first, CUTS),
                    armilla_transposed_cut(transposed, last, CUTS));
}

static void unpack(const armilla_parts *parts, const armilla_team *team, double *A)
{
    unpacking u = {parts, A};
    if (parts->transposed)
        armilla_team_share(team, CUTS, unpack_cuts, &u);
    else
        armilla_team_share(team, parts->X->m, unpack_features, &u);
}

const armilla_layout armilla_layout_by_feature = {basis_bytes, pack, numbers, add_shifts, unpack};

void armilla_sparse_products(const armilla_panel *panel, int64_t r, const void *buffer, double *C)
{
    const armilla_sparse_panel *s = &panel->sparse;
    const armilla_type work = s->kernels->type;
    const char *packed = armilla_align((void *)(uintptr_t)buffer);
    s->kernels->products[s->index64](&s->columns, r, armilla_sparse_stride(work, r), packed, C);
    if (!s->shifts) return;
    /* C = U'x - shift * U'mean */
    const double *mean = (const double *)(const void *)(packed + mean_offset(panel->data, work, r));
    for (int64_t j = 0; j < panel->count; j++)
        for (int64_t k = 0; k < r; k++) C[j * r + k] -= s->shifts[j] * mean[k];
}

void armilla_sparse_accumulate(const armilla_panel *panel, int64_t r, const void *W, void *part)
{
    const armilla_sparse_panel *s = &panel->sparse;
    s->kernels->accumulate[s->index64](&s->columns, r, armilla_sparse_stride(s->kernels->type, r), W, part);
}

void armilla_sparse_gather(const armilla_panel *panel, int64_t r, const armilla_memberships *memberships, void *part)
{
    const armilla_sparse_panel *s = &panel->sparse;
    s->kernels->gather[s->index64](&s->columns, armilla_sparse_stride(s->kernels->type, r), memberships, part);
}

int64_t armilla_sparse_entries_at(const armilla_panel *panel, int64_t j, int64_t *rows, double *values, double *shift)
{
    const armilla_sparse_panel *s = &panel->sparse;
    const int64_t origin = armilla_index_at(s->index64, s->columns.starts, 0);
    const int64_t first = armilla_index_at(s->index64, s->columns.starts, j) - origin;
    const int64_t count = armilla_index_at(s->index64, s->columns.starts, j + 1) - origin - first;
    const size_t size = armilla_type_size(s->kernels->type);
    for (int64_t i = 0; i < count; i++) rows[i] = armilla_index_at(s->index64, s->columns.rows, first + i);
    if (count > 0) /* without any entry the arrays may be NULL */
        armilla_fetch(s->kernels->type, count, (const char *)s->columns.values + (size_t)first * size, values);
    *shift = s->shifts ? s->shifts[j] : 0;
    return count;
}

void armilla_sparse_expand(const armilla_panel *panel, int64_t j, double *column)
{
    const armilla_sparse_panel *s = &panel->sparse;
    const int64_t m = panel->data->m, origin = armilla_index_at(s->index64, s->columns.starts, 0);
    const int64_t last = armilla_index_at(s->index64, s->columns.starts, j + 1) - origin;
    const size_t size = armilla_type_size(s->kernels->type);
    const double *mean = armilla_sparse_of(panel->data)->mean;
    for (int64_t i = 0; i < m; i++) column[i] = s->shifts ? -s->shifts[j] * mean[i] : 0;
    for (int64_t i = armilla_index_at(s->index64, s->columns.starts, j) - origin; i < last; i++) {
        double value = 0;
        armilla_fetch(s->kernels->type, 1, (const char *)s->columns.values + (size_t)i * size, &value);
        column[armilla_index_at(s->index64, s->columns.rows, i)] += value;
    }
}

static void free_sparse(armilla_data *data)
{
    sparse *X = (sparse *)data;
    if (X->owned) armilla_sparse_release(data->context, &X->matrix);
    armilla_release(data->context, X);
}

static const armilla_data_ops sparse_ops = {
    .storage = {[ARMILLA_F32] = "sparse f32", [ARMILLA_F64] = "sparse f64"},
    .workspace = workspace,
    .load = load,
    ARMILLA_SPARSE_PANELS,
    .sparse = &(const armilla_sparse_ops){before},
    .free = free_sparse,
};

static armilla_status new_sparse(armilla_context *context, const armilla_sparse_matrix *matrix, bool owned,
                                 armilla_data **data)
{
    sparse *made = NULL;
    const armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    made->form.data =
        (armilla_data){.ops = &sparse_ops, .context = context, .type = matrix->type, .m = matrix->m, .n = matrix->n};
    made->matrix = *matrix;
    made->owned = owned;
    *data = &made->form.data;
    return ARMILLA_OK;
}

armilla_status armilla_data_own_sparse(armilla_context *context, const armilla_sparse_matrix *matrix,
                                       armilla_data **data)
{
    return new_sparse(context, matrix, true, data);
}

static armilla_status check_arguments(armilla_context *context, const armilla_sparse_matrix *matrix,
                                      armilla_index index)
{
    const size_t width = matrix->index64 ? sizeof(int64_t) : sizeof(int32_t);
    const armilla_status status = armilla_data_check_shape(context, "", matrix->m, matrix->n);
    if (status != ARMILLA_OK) return status;
    if ((unsigned)matrix->type >= ARMILLA_PRECISION_COUNT)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT, "sparse data: values are f32 or f64, not type %d",
                            (int)matrix->type);
    if ((unsigned)index >= ARMILLA_INDEX_COUNT)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT, "sparse data: the index type %d is unknown", (int)index);
    if ((uintptr_t)matrix->values % armilla_type_size(matrix->type) || (uintptr_t)matrix->rows % width ||
        (uintptr_t)matrix->starts % width)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT, "sparse data: an array is not aligned to its type");
    if (armilla_sparse_entries(matrix) > 0 && (!matrix->values || !matrix->rows))
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT, "sparse data: the values or their features are NULL");
    return ARMILLA_OK;
}

armilla_status armilla_data_wrap_sparse(armilla_context *context, armilla_type type, armilla_index index,
                                        const void *values, const void *features, const void *starts, int64_t m,
                                        int64_t n, armilla_data **data)
{
    /* The arrays are only read: nothing of this object is writable or freed where it does not own. */
    const armilla_sparse_matrix matrix = {type,
                                          index == ARMILLA_I64,
                                          m,
                                          n,
                                          (void *)(uintptr_t)values,
                                          (void *)(uintptr_t)features,
                                          (void *)(uintptr_t)starts};
    armilla_sparse_matrix made;
    bool sorted = false;
    armilla_status status = ARMILLA_NOT_NULL(context, starts, data);
    if (status == ARMILLA_OK) status = check_arguments(context, &matrix, index);
    if (status == ARMILLA_OK)
        status = armilla_sparse_check(context, "", &matrix, armilla_sparse_entries(&matrix), &sorted);
    if (status == ARMILLA_OK)
        armilla_memory_add_input(context, armilla_sparse_entries(&matrix) * (int64_t)armilla_type_size(type));
    if (status != ARMILLA_OK || sorted)
        return status == ARMILLA_OK ? new_sparse(context, &matrix, false, data) : status;
    if ((status = armilla_sparse_sort(context, &matrix, &made)) != ARMILLA_OK) return status;
    status = new_sparse(context, &made, true, data);
    if (status != ARMILLA_OK) armilla_sparse_release(context, &made);
    return status;
}

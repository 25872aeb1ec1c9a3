/* MATLAB's .mat, version 4, 5 and 7.3, through matio: one real matrix, dense or sparse. MATLAB's arrays lie by column.
 * Names of features and samples are not kept in such files. */
#include "convert.h"

#include <inttypes.h>
#include <matio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MATLAB's classes of numbers, how matio holds them, and what they become. */
#define FETCH(name, stored)                                                                                            \
    static double fetch_##name(const void *from, int64_t i)                                                            \
    {                                                                                                                  \
        return (double)((const stored *)from)[i];                                                                      \
    }
FETCH(double, double)
FETCH(single, float)
FETCH(int8, int8_t)
FETCH(uint8, uint8_t)
FETCH(int16, int16_t)
FETCH(uint16, uint16_t)
FETCH(int32, int32_t)
FETCH(uint32, uint32_t)
FETCH(int64, int64_t)
FETCH(uint64, uint64_t)

static const struct number {
    enum matio_types type;
    size_t size;
    armilla_type becomes;
    double (*fetch)(const void *from, int64_t i);
} numbers[] = {
    {MAT_T_DOUBLE, 8, ARMILLA_F64, fetch_double}, {MAT_T_SINGLE, 4, ARMILLA_F32, fetch_single},
    {MAT_T_INT8, 1, ARMILLA_F32, fetch_int8},     {MAT_T_UINT8, 1, ARMILLA_U8, fetch_uint8},
    {MAT_T_INT16, 2, ARMILLA_F64, fetch_int16},   {MAT_T_UINT16, 2, ARMILLA_F64, fetch_uint16},
    {MAT_T_INT32, 4, ARMILLA_F64, fetch_int32},   {MAT_T_UINT32, 4, ARMILLA_F64, fetch_uint32},
    {MAT_T_INT64, 8, ARMILLA_F64, fetch_int64},   {MAT_T_UINT64, 8, ARMILLA_F64, fetch_uint64},
};

static const struct number *find_number(enum matio_types type)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].type == type) return &numbers[i];
    return NULL;
}

static void put_number(armilla_type type, void *to, int64_t i, double value)
{
    if (type == ARMILLA_U8)
        ((uint8_t *)to)[i] = (uint8_t)value;
    else if (type == ARMILLA_F32)
        ((float *)to)[i] = (float)value;
    else
        ((double *)to)[i] = value;
}

static armilla_status bad(conversion *c, const char *name, const char *what)
{
    return refuse(c, ARMILLA_BAD_DATA, "%s: variable %s: %s", c->path, name, what);
}

/* A vector is a matrix too there; single numbers and what is no number are no data. */
static bool is_matrix(const matvar_t *v)
{
    const bool numeric =
        v->class_type == MAT_C_SPARSE || (v->class_type >= MAT_C_DOUBLE && v->class_type <= MAT_C_UINT64);
    return numeric && v->rank == 2 && !v->isComplex && v->dims[0] * v->dims[1] > 1;
}

/* The name of the variable that is wanted, or of the only matrix. */
static armilla_status choose(conversion *c, mat_t *file, char *name, size_t size)
{
    char list[512] = "";
    int64_t found = 0;
    for (matvar_t *v = Mat_VarReadNextInfo(file); v; v = Mat_VarReadNextInfo(file)) {
        const size_t used = strlen(list);
        if (v->name && is_matrix(v)) {
            if (found++ == 0) snprintf(name, size, "%s", v->name);
            snprintf(list + used, sizeof list - used, "%s%s (%zu x %zu)", used ? ", " : "", v->name, v->dims[0],
                     v->dims[1]);
        }
        Mat_VarFree(v);
    }
    if (c->array) {
        snprintf(name, size, "%s", c->array);
        return ARMILLA_OK;
    }
    if (found == 1) return ARMILLA_OK;
    if (found == 0) return refuse(c, ARMILLA_BAD_DATA, "%s: holds no real matrix; save one", c->path);
    return refuse(c, ARMILLA_BAD_DATA, "%s: holds several matrices; choose one by --array NAME among: %s", c->path,
                  list);
}

/* MATLAB's column-major array: a sample's numbers are to lie together. */
static armilla_status copy_dense(conversion *c, const matvar_t *v, matrix *made)
{
    const struct number *number = find_number(v->data_type);
    const int64_t rows = (int64_t)v->dims[0], cols = (int64_t)v->dims[1];
    int64_t area = 0;
    if (!number || !v->data || (size_t)v->data_size != number->size || __builtin_mul_overflow(rows, cols, &area) ||
        v->nbytes / number->size < (size_t)area)
        return bad(c, v->name, "cannot be read; save it again as double");
    made->type = number->becomes;
    made->m = c->sample_columns ? rows : cols;
    made->n = c->sample_columns ? cols : rows;
    const armilla_status status = take(c, area, armilla_type_size(made->type), &made->values);
    for (int64_t j = 0; j < cols && status == ARMILLA_OK; j++)
        for (int64_t i = 0; i < rows; i++)
            put_number(made->type, made->values, c->sample_columns ? j * rows + i : i * cols + j,
                       number->fetch(v->data, j * rows + i));
    return status;
}

/* Compressed columns: the samples, or the features. */
static armilla_status copy_sparse(conversion *c, const matvar_t *v, matrix *made)
{
    const mat_sparse_t *from = v->data;
    const struct number *number = find_number(v->data_type);
    const int64_t rows = (int64_t)v->dims[0], cols = (int64_t)v->dims[1];
    if (!from || !number || !from->jc || (int64_t)from->njc != cols + 1)
        return bad(c, v->name, "is a damaged sparse matrix; save it again");
    const int64_t entries = (int64_t)from->jc[cols];
    if (entries > (int64_t)from->nir || entries > (int64_t)from->ndata || (entries > 0 && (!from->ir || !from->data)))
        return bad(c, v->name, "is a damaged sparse matrix: it has fewer entries than it declares; save it again");
    *made = (matrix){.sparse = true, .stored = entries, .index = ARMILLA_I64};
    made->type = number->becomes == ARMILLA_U8 ? ARMILLA_F32 : number->becomes;
    made->m = c->sample_columns ? rows : cols;
    made->n = c->sample_columns ? cols : rows;
    armilla_status status = take(c, entries, armilla_type_size(made->type), &made->values);
    if (status == ARMILLA_OK) status = take(c, entries, sizeof(int64_t), &made->places);
    if (status == ARMILLA_OK) status = take(c, cols + 1, sizeof(int64_t), &made->starts);
    if (status != ARMILLA_OK) return status;
    for (int64_t e = 0; e < entries; e++) {
        put_number(made->type, made->values, e, number->fetch(from->data, e));
        ((int64_t *)made->places)[e] = (int64_t)from->ir[e];
    }
    for (int64_t j = 0; j <= cols; j++) ((int64_t *)made->starts)[j] = (int64_t)from->jc[j];
    return c->sample_columns ? ARMILLA_OK : matrix_turn(c, made);
}

armilla_status read_mat(conversion *c, matrix *made)
{
    char name[256] = "";
    matvar_t *v = NULL;
    armilla_status status = mat_check(c);
    if (status != ARMILLA_OK) return status;
    hdf5_prepare();
    mat_t *file = Mat_Open(c->path, MAT_ACC_RDONLY);
    if (!file) return refuse(c, ARMILLA_BAD_DATA, "%s: is not a whole file of MATLAB's; save it again", c->path);
    status = choose(c, file, name, sizeof name);
    if (status == ARMILLA_OK) {
        Mat_Rewind(file);
        v = Mat_VarRead(file, name);
        if (!v)
            status = bad(c, name, "is not there, or cannot be read");
        else if (!is_matrix(v))
            status = bad(c, name, "is no matrix of real numbers");
        else
            status = v->class_type == MAT_C_SPARSE ? copy_sparse(c, v, made) : copy_dense(c, v, made);
    }
    Mat_VarFree(v);
    Mat_Close(file);
    return status;
}

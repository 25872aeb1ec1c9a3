/* Nearest neighbours as a sparse matrix, in an .npz as SciPy writes them. */
#include "files/npz.h"
#include "graph/neighbors_api.h"

/* The arrays of scipy.sparse.save_npz. */
static armilla_status add_arrays(armilla_npz_writer *writer, const armilla_graph *graph)
{
    const int64_t entries = armilla_graph_entries(graph), sizes[2] = {graph->rows, graph->columns};
    const int64_t scalar[2] = {-1, -1}, pair[2] = {2, -1}, starts[2] = {graph->rows + 1, -1}, places[2] = {entries, -1};
    (void)armilla_npz_writer_add_raw(writer, "indices", "i8", places, graph->targets,
                                     (size_t)entries * sizeof *graph->targets);
    (void)armilla_npz_writer_add_raw(writer, "indptr", "i8", starts, graph->starts,
                                     (size_t)(graph->rows + 1) * sizeof *graph->starts);
    (void)armilla_npz_writer_add_raw(writer, "format", "S3", scalar, "csr", 3);
    (void)armilla_npz_writer_add_raw(writer, "shape", "i8", pair, sizes, sizeof sizes);
    return armilla_npz_writer_add(writer, "data", ARMILLA_F32, places, false, graph->weights);
}

armilla_status armilla_neighbors_write(armilla_context *context, const armilla_neighbors *neighbors, const char *path,
                                       bool overwrite)
{
    armilla_npz_writer *writer = NULL;
    armilla_status status = ARMILLA_NOT_NULL(context, neighbors, path);
    if (status == ARMILLA_OK) status = armilla_npz_writer_new(context, path, overwrite, &writer);
    if (status == ARMILLA_OK) status = add_arrays(writer, &neighbors->graph);
    if (status == ARMILLA_OK) status = armilla_npz_writer_commit(writer);
    armilla_npz_writer_free(writer);
    return status;
}

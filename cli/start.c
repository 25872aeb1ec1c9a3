/* Starting points from files. U0 is m x r with an atom per column, as in a model; so the array is read as the paper's
 * X, whatever --samples says about the data. */
#include "start.h"

#include "guess.h"
#include "reading.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_row(const char *name)
{
    armilla_table_row row;
    for (size_t i = 0; armilla_table_get(ARMILLA_TABLE_STARTS, i, &row); i++)
        if (strcmp(row.name, name) == 0) return true;
    return false;
}

bool start_is_file(const cli_session *session)
{
    const char *name = settings_fit(session)->start;
    return name && !is_row(name);
}

armilla_status start_check(cli_session *session)
{
    const char *name = settings_fit(session)->start;
    armilla_table_row row;
    cli_guess guess;
    if (!name || is_row(name) || access(name, F_OK) == 0) return ARMILLA_OK;
    const int why = errno;
    guess_begin(&guess, name);
    for (size_t i = 0; armilla_table_get(ARMILLA_TABLE_STARTS, i, &row); i++) guess_offer(&guess, "", row.name);
    if (guess.best)
        return fail(session, ARMILLA_BAD_ARGUMENT, "--start: '%s' is neither a start nor a file%s", name, guess.hint);
    return fail(session, ARMILLA_CANNOT_OPEN,
                "%s: cannot be opened: %s; --start takes a file or one of armilla list starts", name, strerror(why));
}

static armilla_status check_shape(cli_session *session, const char *path, int64_t rows, int64_t columns,
                                  const armilla_data *X)
{
    const int64_t m = armilla_data_features(X), r = settings_fit(session)->rank;
    if (rows == m && columns == r) return ARMILLA_OK;
    return fail(session, ARMILLA_BAD_DATA,
                "%s: the start's basis is %" PRId64 " x %" PRId64 ", but the data have %" PRId64
                " features and --rank is %" PRId64 "; give a %" PRId64 " x %" PRId64 " one, an atom per column",
                path, rows, columns, m, r, m, r);
}

static armilla_status read_basis(cli_session *session, const char *path, const armilla_data *array, double *basis)
{
    const int64_t m = armilla_data_features(array), r = armilla_data_samples(array);
    for (int64_t k = 0; k < r; k++) {
        const armilla_status status = armilla_data_sample(session->context, array, k, basis + k * m);
        if (status != ARMILLA_OK) return status;
        for (int64_t i = 0; i < m; i++)
            if (!isfinite(basis[k * m + i]))
                return fail(session, ARMILLA_BAD_DATA, "%s: row %" PRId64 ", column %" PRId64 " is not a finite number",
                            path, i + 1, k + 1);
    }
    return ARMILLA_OK;
}

static armilla_status open_basis(cli_session *session, const char *path, const armilla_data *X, double **basis)
{
    const armilla_read_options options = {.size = sizeof(armilla_read_options), .sample_columns = true};
    armilla_data *array = NULL;
    double *made = NULL;
    armilla_status status = armilla_data_open(session->context, path, &options, &array);
    if (status == ARMILLA_OK)
        status = check_shape(session, path, armilla_data_features(array), armilla_data_samples(array), X);
    if (status != ARMILLA_OK) goto done;
    status = armilla_take(session->context, armilla_data_samples(array),
                          (size_t)armilla_data_features(array) * sizeof *made, &made);
    if (status == ARMILLA_OK) status = read_basis(session, path, array, made);
    if (status != ARMILLA_OK) goto done;
    *basis = made;
    made = NULL;
done:
    armilla_release(session->context, made);
    armilla_data_free(array);
    return status;
}

/* The data get the model's features in the model's order, where both have names. */
static armilla_status open_start(cli_session *session, const char *path, armilla_data **X, armilla_model **model)
{
    armilla_model_summary summary;
    armilla_status status = *model ? ARMILLA_OK : armilla_model_open(session->context, path, model);
    if (status != ARMILLA_OK) return status;
    armilla_model_summarize(*model, &summary);
    status = match_features(session, *model, session->settings->operands[0], X);
    return status == ARMILLA_OK ? check_shape(session, path, summary.m, summary.rank, *X) : status;
}

armilla_status start_open(cli_session *session, armilla_data **X, start_file *start)
{
    armilla_options *options = settings_fit(session);
    bool model = false;
    if (!options->start || is_row(options->start)) return ARMILLA_OK;
    armilla_status status = armilla_model_recognize(session->context, options->start, &model);
    if (status == ARMILLA_OK)
        status = model ? open_start(session, options->start, X, &start->model)
                       : open_basis(session, options->start, *X, &start->basis);
    options->start_model = start->model;
    options->start_basis = start->basis;
    return status;
}

void start_free(cli_session *session, start_file *start)
{
    armilla_model_free(start->model);
    json_decref(start->options);
    armilla_release(session->context, start->basis);
}

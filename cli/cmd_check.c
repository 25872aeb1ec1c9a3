/* armilla check: what a model states against what plain loops over the data find. */
#include "announcing.h"
#include "json.h"
#include "reading.h"

static const armilla_option options[] = {
    OPTION_MISSING_FEATURES(reader_settings),
    OPTION_JSON,
    OPTION_END,
};

static json_t *facts(const armilla_check *check, const armilla_model_summary *summary)
{
    json_t *object = json_object();
    json_put_flag(object, "passed", check->passed);
    json_put_number(object, "objective_stated", check->objective_stated);
    json_put_number(object, "objective_found", check->objective_found);
    json_put_number(object, "objective_tolerance", check->objective_tolerance);
    json_put_number(object, "radius_stated", check->radius_stated);
    json_put_number(object, "radius_violation", check->radius_violation);
    json_put_number(object, "orthonormal_violation", check->orthonormal_violation);
    json_put_number(object, "unit_violation", check->unit_violation);
    json_put_count(object, "row_nonzeros", check->row_nonzeros);
    json_put_number(object, "basis_negative", check->basis_negative);
    json_put_number(object, "codes_negative", check->codes_negative);
    json_put_count(object, "not_one_hot", check->not_one_hot);
    json_put_count(object, "sparsity", summary->sparsity > 0 ? summary->sparsity : -1);
    json_put_count(object, "most_nonzeros", check->most_nonzeros);
    json_put_flag(object, "fingerprint_matches", check->fingerprint_matches);
    json_put_count(object, "rises", check->rises);
    json_put_flag(object, "rises_expected", check->rises_expected);
    json_put_text(object, "finding", check->finding[0] ? check->finding : NULL);
    return object;
}

static void expect(cli_session *session, const cli_shape *shape)
{
    armilla_workload own = announce_on(session, ARMILLA_WORK_CHECK, shape);
    own.rank = session->rank;
    announce(session, &own);
}

static armilla_status run(cli_session *session)
{
    const char *const *operands = session->settings->operands;
    armilla_model *model = NULL;
    armilla_data *X = NULL;
    armilla_model_summary summary;
    armilla_check check;
    armilla_status status = open_model_and_data(session, &model, &summary, &X);
    if (status == ARMILLA_OK)
        status = about(session, operands[1], armilla_model_check(session->context, model, X, &check));
    if (status != ARMILLA_OK) goto done;
    status = json_print(session, facts(&check, &summary));
    if (status != ARMILLA_OK || check.passed) goto done;
    message_error(&session->messages, "%s: %s", operands[0], check.finding);
    session->exit = 1;
done:
    armilla_data_free(X);
    armilla_model_free(model);
    return status;
}

const cli_command command_check = {
    .name = "check",
    .synopsis = "MODEL DATA [options]",
    .meaning = "recompute a model's objective and constraints from the data; exit status 1 where they differ",
    .operands = {"MODEL", "DATA"},
    .required = 2,
    .settings_size = sizeof(reader_settings),
    .options = options,
    .groups = {{&group_reading, offsetof(reader_settings, reading)}},
    .notes =
        "Violations are of the model's own constraints: 0 where it has no such constraint. Features are matched by\n"
        "name where the model and DATA have names.\n\n"
        "example:\n"
        "  armilla check model.npz data.csv\n",
    .together = true,
    .run = run,
    .expect = expect,
};

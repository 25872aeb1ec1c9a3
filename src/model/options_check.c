/* Whether options are right in themselves, go together, and fit data. */
#include "model/model.h"

#include "base/size.h"
#include "solve/problem.h"
#include "start/start.h"

#include <armilla/fit.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Programs fill the struct by hand: every field goes through the same parser as a flag would. Fields that are 0 or
 * NULL and have no preset are unset. */
static armilla_status check_row(armilla_context *context, const armilla_option *row, const armilla_options *options)
{
    armilla_options scratch = *options;
    const void *field = (const char *)options + row->offset;
    char number[64];
    switch (row->kind) {
    case ARMILLA_OPTION_FLAG:
        return ARMILLA_OK;
    case ARMILLA_OPTION_SIZE:
    case ARMILLA_OPTION_INTEGER:
        if (*(const int64_t *)field == 0 && !row->preset) return ARMILLA_OK;
        return armilla_option_set(context, row, &scratch, armilla_option_show(row, options, number, sizeof number));
    case ARMILLA_OPTION_REAL:
    case ARMILLA_OPTION_POSITIVE:
        return armilla_option_set(context, row, &scratch, armilla_option_show(row, options, number, sizeof number));
    case ARMILLA_OPTION_MULTIPLE:
    case ARMILLA_OPTION_WORD:
    case ARMILLA_OPTION_TEXT:
        if (!*(const char *const *)field) return ARMILLA_OK;
        return armilla_option_set(context, row, &scratch, *(const char *const *)field);
    }
    return ARMILLA_OK;
}

static bool is_conic(const armilla_code_set *codes)
{
    return codes->conic;
}

static bool is_sparse(const armilla_code_set *codes)
{
    return codes->sparse;
}

typedef struct sets_text {
    char text[256];
} sets_text;

/* "a, b or c": the code sets that could be used instead. */
static sets_text list_codes(bool (*could)(const armilla_code_set *codes))
{
    const char *names[16] = {NULL};
    size_t count = 0, length = 0;
    sets_text list = {""};
    for (size_t i = 0; armilla_codes_row(i) && count < sizeof names / sizeof *names; i++)
        if (could(armilla_codes_row(i))) names[count++] = armilla_codes_row(i)->name;
    for (size_t i = 0; i < count && length < sizeof list.text; i++)
        length += (size_t)snprintf(list.text + length, sizeof list.text - length, "%s%s",
                                   i == 0          ? ""
                                   : i + 1 < count ? ", "
                                                   : " or ",
                                   names[i]);
    return list;
}

/* What goes together, as the tables tell it. */
static armilla_status check_pair(armilla_context *context, const armilla_options *options,
                                 const armilla_resolved *resolved)
{
    const armilla_named_model *named = options->model ? armilla_models_find(options->model) : NULL;
    const armilla_solver *solver = armilla_solvers_find(options->solver);
    const char *basis = resolved->basis->name, *codes = resolved->codes->name;
    if (named && named->sparsity > 0 && options->sparsity != named->sparsity)
        return armilla_fail(
            context, ARMILLA_BAD_ARGUMENT,
            ARMILLA_FIELD("model %s") " stands for " ARMILLA_FIELD("sparsity %" PRId64) ", not %" PRId64, named->name,
            named->sparsity, options->sparsity);
    if (named && named->normalize && strcmp(options->normalize, named->normalize) != 0)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            ARMILLA_FIELD("model %s") " stands for " ARMILLA_FIELD(
                                "normalize %s") ", not %s: by angle lengths do not count; leave the "
                                                "option out, or use " ARMILLA_FIELD("model kmeans"),
                            named->name, named->normalize, options->normalize);
    if (!armilla_pair_allowed(resolved->basis, resolved->codes))
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            ARMILLA_FIELD("basis %s") " does not go with " ARMILLA_FIELD(
                                "codes %s") ": its steps scale the codes; use " ARMILLA_FIELD("codes") " %s",
                            basis, codes, list_codes(is_conic).text);
    if (solver->takes && !solver->takes(resolved->basis, resolved->codes))
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            ARMILLA_FIELD("solver %s") " does not go with " ARMILLA_FIELD("basis %s") " " ARMILLA_FIELD(
                                "codes %s") "; it needs %s",
                            solver->name, basis, codes, solver->needs);
    return ARMILLA_OK;
}

/* Weights that no step would use. */
static armilla_status check_weights(armilla_context *context, const armilla_options *options)
{
    armilla_options usual;
    armilla_options_default(&usual);
    if (armilla_solvers_find(options->solver)->weighs) return ARMILLA_OK;
    const bool lambda = options->lambda && strcmp(options->lambda, usual.lambda) != 0;
    const bool mu = options->mu && strcmp(options->mu, usual.mu) != 0;
    if (!lambda && !mu) return ARMILLA_OK;
    return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                        "%s does not go with " ARMILLA_FIELD(
                            "solver %s") ", whose steps have no weights; use " ARMILLA_FIELD("solver palm"),
                        lambda ? ARMILLA_FIELD("lambda") : ARMILLA_FIELD("mu"), options->solver);
}

static armilla_status check_together(armilla_context *context, const armilla_options *options,
                                     const armilla_resolved *resolved)
{
    const armilla_code_set *codes = resolved->codes;
    if (options->rank < 1)
        return armilla_fail(
            context, ARMILLA_BAD_ARGUMENT,
            ARMILLA_FIELD("rank") " is missing; give the number of atoms, e.g. " ARMILLA_FIELD("rank 10"));
    if (codes->sparse && options->sparsity == 0)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            ARMILLA_FIELD("codes %s") " needs " ARMILLA_FIELD(
                                "sparsity") ", the most nonzeros of a code (1 to %" PRId64 ")",
                            codes->name, options->rank);
    if (!codes->sparse && options->sparsity != 0)
        return armilla_fail(
            context, ARMILLA_BAD_ARGUMENT,
            ARMILLA_FIELD("sparsity") " does not go with " ARMILLA_FIELD("codes %s") ", which is not sparse; use %s",
            codes->name, list_codes(is_sparse).text);
    if (options->sparsity > options->rank)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            ARMILLA_FIELD("sparsity %" PRId64) " is more than " ARMILLA_FIELD("rank %" PRId64),
                            options->sparsity, options->rank);
    if (!codes->spherical && options->radius > 0)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            ARMILLA_FIELD("radius") " does not go with " ARMILLA_FIELD(
                                "codes %s") ", which are not on a sphere and have no radius",
                            codes->name);
    if (options->batch > 0 && !armilla_solvers_find(options->solver)->blocks)
        return armilla_fail(
            context, ARMILLA_BAD_ARGUMENT,
            ARMILLA_FIELD("batch") " does not go with " ARMILLA_FIELD(
                "solver %s") ", which reads all data in every iteration; use " ARMILLA_FIELD("solver online"),
            options->solver);
    const armilla_status status = check_weights(context, options);
    return status == ARMILLA_OK ? check_pair(context, options, resolved) : status;
}

static armilla_status resolve_pair(armilla_context *context, const armilla_options *options, armilla_resolved *resolved)
{
    const armilla_named_model *named = options->model ? armilla_models_find(options->model) : NULL;
    if (named && (options->basis || options->codes))
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            ARMILLA_FIELD("model %s") " stands for " ARMILLA_FIELD("basis %s") " " ARMILLA_FIELD(
                                "codes %s") "; give either the model or the pair",
                            named->name, named->basis, named->codes);
    resolved->basis = armilla_basis_find(named ? named->basis : options->basis ? options->basis : "orthonormal");
    resolved->codes = armilla_codes_find(named ? named->codes : options->codes ? options->codes : "sphere");
    if (!named)
        named =
            armilla_models_of_pair(resolved->basis->name, resolved->codes->name, options->sparsity, options->normalize);
    resolved->model = named ? named->name : NULL;
    return ARMILLA_OK;
}

static armilla_status resolve_kernel(armilla_context *context, const armilla_options *options,
                                     armilla_resolved *resolved)
{
    resolved->kernel = armilla_kernels_choose(resolved->type)->name;
    for (size_t i = 1; options->kernel && armilla_kernel_choice(i); i++)
        if (strcmp(options->kernel, armilla_kernel_choice(i)) == 0) resolved->kernel = armilla_kernel_choice(i);
    if (armilla_kernels_available(resolved->kernel)) return ARMILLA_OK;
    return armilla_fail(
        context, ARMILLA_NOT_BUILT,
        ARMILLA_FIELD("kernel %s") ": this build or this processor does not have it; use " ARMILLA_FIELD(
            "kernel auto") " or portable",
        resolved->kernel);
}

static armilla_status check_total(armilla_context *context, const char *text)
{
    bool taken = false;
    double total = 0;
    if (armilla_total_read(text, &taken, &total)) return ARMILLA_OK;
    return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                        ARMILLA_FIELD("total '%s'") ": give what samples are to add up to, a number above 0 or median",
                        text);
}

/* Forms of steps that are not taken. */
static armilla_status check_forms(armilla_context *context, const armilla_options *options)
{
    const armilla_preparation asked = armilla_preparation_asked(options);
    for (int step = 0; step < ARMILLA_STEP_COUNT; step++) {
        const armilla_step_row *row = &armilla_steps[step];
        if (asked.form[step] > 0 && !asked.taken[step])
            return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                                ARMILLA_FIELD("%s %s") " is a form of %s; give " ARMILLA_FIELD("%s") " too", row->form,
                                row->forms[asked.form[step]], row->shown, row->name);
    }
    return ARMILLA_OK;
}

static armilla_status check_rows(armilla_context *context, const armilla_options *options, bool words_only)
{
    armilla_status status = ARMILLA_OK;
    for (const armilla_option *row = armilla_option_table(); row->name && status == ARMILLA_OK;
         row = armilla_option_next(row))
        if (!words_only || row->kind == ARMILLA_OPTION_WORD) status = check_row(context, row, options);
    if (status == ARMILLA_OK) status = check_total(context, options->total);
    return status == ARMILLA_OK ? check_forms(context, options) : status;
}

armilla_status armilla_options_check_words(armilla_context *context, const armilla_options *options)
{
    return check_rows(context, options, true);
}

armilla_status armilla_options_resolve(armilla_context *context, const armilla_options *options, const armilla_data *X,
                                       armilla_resolved *resolved)
{
    armilla_resolved made = {0};
    armilla_status status = check_rows(context, options, false);
    const armilla_options filled = armilla_options_fill(options);
    if (status == ARMILLA_OK) status = resolve_pair(context, &filled, &made);
    if (status == ARMILLA_OK) status = check_together(context, &filled, &made);
    if (status != ARMILLA_OK) return status;
    made.type = X ? armilla_type_precision(X->type) : ARMILLA_F64;
    for (int type = 0; options->precision && type < ARMILLA_PRECISION_COUNT; type++)
        if (strcmp(options->precision, armilla_type_word((armilla_type)type)) == 0) made.type = (armilla_type)type;
    status = resolve_kernel(context, options, &made);
    if (status == ARMILLA_OK) *resolved = made;
    return status;
}

armilla_status armilla_options_check(armilla_context *context, const armilla_options *options)
{
    armilla_options whole;
    armilla_resolved resolved;
    armilla_status status = ARMILLA_NOT_NULL(context, options);
    if (status == ARMILLA_OK) status = armilla_options_read(context, options, &whole);
    return status == ARMILLA_OK ? armilla_options_resolve(context, &whole, NULL, &resolved) : status;
}

static armilla_status check_start(armilla_context *context, const armilla_data *X, const armilla_options *options)
{
    armilla_model_summary start;
    if (!options->start_model) return ARMILLA_OK;
    armilla_model_summarize(options->start_model, &start);
    if (start.m == X->m && start.n == X->n && start.rank == options->rank) return ARMILLA_OK;
    return armilla_fail(context, ARMILLA_BAD_DATA,
                        "the model given as " ARMILLA_FIELD("start") " has %" PRId64 " features, %" PRId64
                                                                     " samples and rank %" PRId64 ", but %" PRId64
                                                                     ", %" PRId64 " and %" PRId64
                                                                     " are needed; to start from its basis alone give "
                                                                     "its U as an .npy",
                        start.m, start.n, start.rank, X->m, X->n, options->rank);
}

/* Refused here rather than in the middle: what the system promises and then does not have ends the process. Counted is
 * what every fit takes: U three times and its sums twice in double or the type, codes, the squares of the rank. What
 * else it takes (starts, sums of slots, scratch memory) is refused by the context when it is taken. */
static armilla_status check_memory(armilla_context *context, const armilla_data *X, const armilla_options *options,
                                   armilla_type type)
{
    const double r = (double)options->rank, m = (double)X->m, n = (double)X->n, gigabyte = 1e9;
    const double number = sizeof(double), typed = (double)armilla_type_size(type);
    const double codes = context->temporary ? 0 : r * n * typed; /* may be in a file */
    const double needed = r * m * (3 * number + 2 * typed) + codes + 3 * r * r * number;
    const double there = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (there > 0 && needed > there)
        return armilla_fail(
            context, ARMILLA_NO_MEMORY,
            "out of memory: " ARMILLA_FIELD(
                "rank %" PRId64) " needs about %.1f GB, this machine has %.1f GB; use a smaller rank or " ARMILLA_FIELD("precision f32"),
            options->rank, needed / gigabyte, there / gigabyte);
    const int64_t outer = armilla_memory_enter(context, options->memory);
    const armilla_status status = armilla_memory_afford(context, "the fit needs at least", needed);
    armilla_memory_leave(context, outer);
    return status;
}

armilla_status armilla_fit_check_whole(armilla_context *context, const armilla_data *X, const armilla_options *options)
{
    armilla_resolved resolved;
    int64_t area = 0;
    const armilla_status status = armilla_options_resolve(context, options, X, &resolved);
    if (status != ARMILLA_OK) return status;
    armilla_memory_add_rank(context, options->rank);
    if (resolved.basis->gram_is_identity && options->rank > X->m)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            ARMILLA_FIELD("rank %" PRId64) " is more than the %" PRId64
                                                           " features: an orthonormal basis has at most "
                                                           "as many atoms as features; use a smaller " ARMILLA_FIELD(
                                                               "rank") " or " ARMILLA_FIELD("basis nonnegative"),
                            options->rank, X->m);
    if (options->rank > ARMILLA_MOST_RANK || !armilla_size_area(X->m, options->rank, &area) ||
        area > (int64_t)1 << 46 || !armilla_size_area(X->n, options->rank, &area) || area > (int64_t)1 << 46)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            ARMILLA_FIELD("rank %" PRId64) " is too large for data of %" PRId64 " x %" PRId64,
                            options->rank, X->m, X->n);
    const armilla_status memory = check_memory(context, X, options, resolved.type);
    return memory == ARMILLA_OK ? check_start(context, X, options) : memory;
}

armilla_status armilla_fit_check(armilla_context *context, const armilla_data *X, const armilla_options *options)
{
    armilla_options whole;
    armilla_status status = ARMILLA_NOT_NULL(context, X, options);
    if (status == ARMILLA_OK) status = armilla_options_read(context, options, &whole);
    return status == ARMILLA_OK ? armilla_fit_check_whole(context, X, &whole) : status;
}

armilla_status armilla_fit(armilla_context *context, const armilla_data *X, const armilla_options *options,
                           armilla_model **model)
{
    armilla_options whole;
    armilla_status status = ARMILLA_NOT_NULL(context, X, options, model);
    if (status == ARMILLA_OK) status = armilla_options_read(context, options, &whole);
    return status == ARMILLA_OK ? armilla_fit_whole(context, X, &whole, model) : status;
}

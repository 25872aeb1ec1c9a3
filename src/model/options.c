/* The option table of a fit: defaults, validation, flags, --help and the model's record all come from these rows. */
#include "model/model.h"
#include "model/record.h"

#include "base/size.h"
#include "solve/problem.h"
#include "start/start.h"

#include <armilla/fit.h>

#include <jansson.h>

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *basis_choice(size_t index)
{
    return armilla_basis_row(index) ? armilla_basis_row(index)->name : NULL;
}

static const char *basis_resolve(const char *spoken)
{
    return armilla_basis_find(spoken) ? armilla_basis_find(spoken)->name : NULL;
}

static const char *codes_choice(size_t index)
{
    return armilla_codes_row(index) ? armilla_codes_row(index)->name : NULL;
}

static const char *codes_resolve(const char *spoken)
{
    return armilla_codes_find(spoken) ? armilla_codes_find(spoken)->name : NULL;
}

static const char *model_choice(size_t index)
{
    return armilla_models_row(index) ? armilla_models_row(index)->name : NULL;
}

static const char *solver_choice(size_t index)
{
    return armilla_solvers_row(index) ? armilla_solvers_row(index)->name : NULL;
}

static const char *start_choice(size_t index)
{
    return armilla_starts_row(index) ? armilla_starts_row(index)->name : NULL;
}

static const char *precision_choice(size_t index)
{
    return index < ARMILLA_PRECISION_COUNT ? armilla_type_word((armilla_type)index) : NULL;
}

static const char *kernel_choice(size_t index)
{
    static const char *const words[] = {"auto", "portable", "avx2"};
    return index < sizeof words / sizeof words[0] ? words[index] : NULL;
}

static const char *normalize_choice(size_t index)
{
    return index < 2 ? armilla_step_word(ARMILLA_STEP_NORMALIZE, index) : NULL;
}

#define AT(field) offsetof(armilla_options, field)
#define UNBOUNDED 9.2e18

static const armilla_option table[] = {
    {.name = "rank",
     .kind = ARMILLA_OPTION_INTEGER,
     .offset = AT(rank),
     .low = 1,
     .high = UNBOUNDED,
     .value = "R",
     .help = "number of atoms (columns of U, length of a code); fit needs it"},
    {.name = "model",
     .kind = ARMILLA_OPTION_WORD,
     .offset = AT(model),
     .choice = model_choice,
     .value = "NAME",
     .help = "a named pair instead of --basis and --codes"},
    {.name = "basis",
     .kind = ARMILLA_OPTION_WORD,
     .offset = AT(basis),
     .choice = basis_choice,
     .resolve = basis_resolve,
     .value = "SET",
     .help = "what U may be (default: orthonormal)"},
    {.name = "codes",
     .kind = ARMILLA_OPTION_WORD,
     .offset = AT(codes),
     .choice = codes_choice,
     .resolve = codes_resolve,
     .value = "SET",
     .help = "what a column of V may be (default: sphere)"},
    {.name = "sparsity",
     .kind = ARMILLA_OPTION_INTEGER,
     .offset = AT(sparsity),
     .low = 1,
     .high = UNBOUNDED,
     .value = "S",
     .help = "most nonzeros of a code, 1 to R; for the sparse code sets"},
    {.name = "radius",
     .kind = ARMILLA_OPTION_POSITIVE,
     .offset = AT(radius),
     .preset = "auto",
     .automatic = "auto",
     .value = "auto|L",
     .help = "radius of the sphere: learned, or kept at L"},
    {.name = "solver",
     .kind = ARMILLA_OPTION_WORD,
     .offset = AT(solver),
     .preset = "fast",
     .choice = solver_choice,
     .value = "NAME",
     .help = "the algorithm"},
    {.name = "lambda",
     .kind = ARMILLA_OPTION_MULTIPLE,
     .offset = AT(lambda),
     .preset = "1x",
     .value = "NUMBER|Nx",
     .help = "weight of the code step (palm), or a multiple of the safe value such as 0.3x"},
    {.name = "mu",
     .kind = ARMILLA_OPTION_MULTIPLE,
     .offset = AT(mu),
     .preset = "1x",
     .value = "NUMBER|Nx",
     .help = "weight of the basis step (palm), or a multiple of the safe value"},
    {.name = "start",
     .kind = ARMILLA_OPTION_WORD,
     .offset = AT(start),
     .choice = start_choice,
     .open = true,
     .value = "NAME|FILE",
     .help = "starting point, a model to go on from, or an .npy with U (default: by the pair)"},
    {.name = "seed",
     .kind = ARMILLA_OPTION_INTEGER,
     .offset = AT(seed),
     .preset = "0",
     .low = 0,
     .high = UNBOUNDED,
     .value = "N",
     .help = "of all random numbers"},
    {.name = "restarts",
     .kind = ARMILLA_OPTION_INTEGER,
     .offset = AT(restarts),
     .preset = "1",
     .low = 1,
     .high = 1e9,
     .value = "N",
     .help = "take the best of N starts by objective; of many samples a sketch tells which are fitted"},
    {.name = "max-iter",
     .kind = ARMILLA_OPTION_INTEGER,
     .offset = AT(max_iter),
     .preset = "500",
     .low = 0,
     .high = 1e15,
     .value = "K",
     .help = "most iterations"},
    {.name = "tol",
     .kind = ARMILLA_OPTION_REAL,
     .offset = AT(tol),
     .preset = "1e-6",
     .low = 0,
     .high = 1,
     .value = "T",
     .help = "stop when the objective falls by less than this fraction; 0: never"},
    {.name = "time-limit",
     .kind = ARMILLA_OPTION_POSITIVE,
     .offset = AT(time_limit),
     .preset = "none",
     .automatic = "none",
     .value = "SECONDS",
     .help = "end within about two passes over the data after so many seconds, with the best model so far"},
    {.name = "precision",
     .kind = ARMILLA_OPTION_WORD,
     .offset = AT(precision),
     .choice = precision_choice,
     .value = "f32|f64",
     .help = "working precision (default: f32 where the data are f32 or u8, else f64)"},
    {.name = "threads",
     .kind = ARMILLA_OPTION_INTEGER,
     .offset = AT(threads),
     .low = 1,
     .high = 1024,
     .value = "N",
     .help = "threads; the result does not depend on it (default: the cores this process may use)"},
    {.name = "kernel",
     .kind = ARMILLA_OPTION_WORD,
     .offset = AT(kernel),
     .preset = "auto",
     .choice = kernel_choice,
     .value = "auto|NAME",
     .help = "instruction set of the products, on which the last bits of a result depend"},
    {.name = "normalize",
     .kind = ARMILLA_OPTION_WORD,
     .offset = AT(normalize),
     .choice = normalize_choice,
     .value = "none|l2",
     .help = "scale every sample to length 1, on the fly (default: none, but for spherical-kmeans, which is l2)"},
    {.name = "center",
     .kind = ARMILLA_OPTION_FLAG,
     .offset = AT(center),
     .help = "subtract the mean sample, on the fly"},
    {.name = "tfidf",
     .kind = ARMILLA_OPTION_FLAG,
     .offset = AT(tfidf),
     .help = "weight features by inverse document frequency, on the fly (for counts)"},
    {.name = "log1p",
     .kind = ARMILLA_OPTION_FLAG,
     .offset = AT(log1p),
     .help = "replace every entry x by ln(1+x), on the fly, before everything else"},
    {.name = "scale",
     .kind = ARMILLA_OPTION_FLAG,
     .offset = AT(scale),
     .help = "divide every feature by its standard deviation, on the fly; centres only with --center"},
    {.name = NULL},
};

const armilla_option *armilla_option_table(void)
{
    return table;
}

void armilla_options_default(armilla_options *options)
{
    memset(options, 0, sizeof *options);
    armilla_option_presets(table, options);
}

armilla_options armilla_options_fill(const armilla_options *options)
{
    armilla_options filled = *options;
    const armilla_named_model *named = options->model ? armilla_models_find(options->model) : NULL;
    for (const armilla_option *row = table; row->name; row++) {
        const bool text = row->kind == ARMILLA_OPTION_WORD || row->kind == ARMILLA_OPTION_MULTIPLE;
        const char **field = (const char **)(void *)((char *)&filled + row->offset);
        if (text && !*field) *field = row->preset;
    }
    if (named && named->sparsity > 0 && filled.sparsity == 0) filled.sparsity = named->sparsity;
    if (!filled.normalize)
        filled.normalize =
            named && named->normalize ? named->normalize : armilla_step_word(ARMILLA_STEP_NORMALIZE, false);
    return filled;
}

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

/* What goes together, as the tables tell it. */
static armilla_status check_pair(armilla_context *context, const armilla_options *options,
                                 const armilla_resolved *resolved)
{
    const armilla_named_model *named = options->model ? armilla_models_find(options->model) : NULL;
    const armilla_solver *solver = armilla_solvers_find(options->solver);
    const char *basis = resolved->basis->name, *codes = resolved->codes->name;
    if (named && named->sparsity > 0 && options->sparsity != named->sparsity)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT, "--model %s stands for --sparsity %" PRId64 ", not %" PRId64,
                            named->name, named->sparsity, options->sparsity);
    if (named && named->normalize && strcmp(options->normalize, named->normalize) != 0)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            "--model %s stands for --normalize %s, not %s: by angle lengths do not count; leave the "
                            "option out, or use --model kmeans",
                            named->name, named->normalize, options->normalize);
    if (!armilla_pair_allowed(resolved->basis, resolved->codes))
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            "--basis %s does not go with --codes %s: its steps scale the codes; use --codes nonneg, "
                            "free or sparse",
                            basis, codes);
    if (solver->takes && !solver->takes(resolved->basis, resolved->codes))
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            "--solver %s does not go with --basis %s --codes %s; it needs %s", solver->name, basis,
                            codes, solver->needs);
    return ARMILLA_OK;
}

static armilla_status check_together(armilla_context *context, const armilla_options *options,
                                     const armilla_resolved *resolved)
{
    const armilla_code_set *codes = resolved->codes;
    if (options->rank < 1)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            "--rank is missing; give the number of atoms, e.g. --rank 10");
    if (codes->sparse && options->sparsity == 0)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            "--codes %s needs --sparsity, the most nonzeros of a code (1 to %" PRId64 ")", codes->name,
                            options->rank);
    if (!codes->sparse && options->sparsity != 0)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            "--sparsity does not go with --codes %s, which is not sparse; use sparse, sparse-sphere or "
                            "nonneg-sparse-sphere",
                            codes->name);
    if (options->sparsity > options->rank)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT, "--sparsity %" PRId64 " is more than --rank %" PRId64,
                            options->sparsity, options->rank);
    if (!codes->spherical && options->radius > 0)
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            "--radius does not go with --codes %s, which are not on a sphere and have no radius",
                            codes->name);
    return check_pair(context, options, resolved);
}

static armilla_status resolve_pair(armilla_context *context, const armilla_options *options, armilla_resolved *resolved)
{
    const armilla_named_model *named = options->model ? armilla_models_find(options->model) : NULL;
    if (named && (options->basis || options->codes))
        return armilla_fail(context, ARMILLA_BAD_ARGUMENT,
                            "--model %s stands for --basis %s --codes %s; give either the model or the pair",
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
    for (size_t i = 1; options->kernel && kernel_choice(i); i++)
        if (strcmp(options->kernel, kernel_choice(i)) == 0) resolved->kernel = kernel_choice(i);
    if (armilla_kernels_available(resolved->kernel)) return ARMILLA_OK;
    return armilla_fail(context, ARMILLA_NOT_BUILT,
                        "--kernel %s: this build or this processor does not have it; use --kernel auto or portable",
                        resolved->kernel);
}

armilla_status armilla_options_resolve(armilla_context *context, const armilla_options *options, const armilla_data *X,
                                       armilla_resolved *resolved)
{
    armilla_resolved made = {0};
    armilla_status status = ARMILLA_OK;
    for (const armilla_option *row = table; row->name && status == ARMILLA_OK; row++)
        status = check_row(context, row, options);
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

const char *armilla_options_kernel(const char *text)
{
    json_t *record = text ? json_loads(text, 0, NULL) : NULL;
    const char *recorded = json_string_value(json_object_get(record, "kernel")), *found = NULL;
    for (size_t i = 1; recorded && kernel_choice(i); i++)
        if (strcmp(recorded, kernel_choice(i)) == 0 && armilla_kernels_available(recorded)) found = kernel_choice(i);
    json_decref(record);
    return found;
}

armilla_status armilla_options_check(armilla_context *context, const armilla_options *options)
{
    armilla_resolved resolved;
    return armilla_options_resolve(context, options, NULL, &resolved);
}

static armilla_status check_start(armilla_context *context, const armilla_data *X, const armilla_options *options)
{
    armilla_model_summary start;
    if (!options->start_model) return ARMILLA_OK;
    armilla_model_summarize(options->start_model, &start);
    if (start.m == X->m && start.n == X->n && start.rank == options->rank) return ARMILLA_OK;
    return armilla_fail(context, ARMILLA_BAD_DATA,
                        "the model given as --start has %" PRId64 " features, %" PRId64 " samples and rank %" PRId64
                        ", but %" PRId64 ", %" PRId64 " and %" PRId64 " are needed; to start from its basis alone give "
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
    const double needed = r * m * (3 * number + 2 * typed) + r * n * typed + 3 * r * r * number;
    const double there = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (there > 0 && needed > there)
        return armilla_fail(context, ARMILLA_NO_MEMORY,
                            "out of memory: --rank %" PRId64
                            " needs about %.1f GB, this machine has %.1f GB; use a smaller rank or --precision f32",
                            options->rank, needed / gigabyte, there / gigabyte);
    const int64_t outer = armilla_memory_enter(context, options->memory);
    const armilla_status status = armilla_memory_afford(context, "the fit needs at least", needed);
    armilla_memory_leave(context, outer);
    return status;
}

armilla_status armilla_fit_check(armilla_context *context, const armilla_data *X, const armilla_options *options)
{
    armilla_resolved resolved;
    int64_t area = 0;
    const armilla_status status = armilla_options_resolve(context, options, X, &resolved);
    if (status != ARMILLA_OK) return status;
    armilla_memory_add_rank(context, options->rank);
    if (resolved.basis->gram_is_identity && options->rank > X->m)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "--rank %" PRId64 " is more than the %" PRId64
                            " features: an orthonormal basis has at most "
                            "as many atoms as features; use a smaller --rank or --basis nonnegative",
                            options->rank, X->m);
    if (options->rank > ARMILLA_MOST_RANK || !armilla_size_area(X->m, options->rank, &area) ||
        area > (int64_t)1 << 46 || !armilla_size_area(X->n, options->rank, &area) || area > (int64_t)1 << 46)
        return armilla_fail(context, ARMILLA_BAD_DATA,
                            "--rank %" PRId64 " is too large for data of %" PRId64 " x %" PRId64, options->rank, X->m,
                            X->n);
    const armilla_status memory = check_memory(context, X, options, resolved.type);
    return memory == ARMILLA_OK ? check_start(context, X, options) : memory;
}

bool armilla_weights_unsafe(const char *lambda, const char *mu)
{
    const char *const texts[] = {lambda, mu};
    for (int i = 0; i < 2; i++) {
        armilla_weight weight;
        if (texts[i] && armilla_weight_read(texts[i], &weight) && (!weight.relative || weight.value < 1)) return true;
    }
    return false;
}

json_t *armilla_json_text(const char *text)
{
    char plain[4096];
    json_t *made = json_string(text);
    if (made) return made;
    snprintf(plain, sizeof plain, "%s", text);
    for (char *c = plain; *c; c++)
        if ((unsigned char)*c > 126) *c = '?';
    return json_string(plain);
}

armilla_status armilla_options_describe(armilla_context *context, const armilla_options *options,
                                        const armilla_resolved *resolved, char **text)
{
    json_t *object = json_object();
    char *dumped = NULL;
    armilla_options shown = *options;
    bool fine = object != NULL;
    shown.basis = resolved->basis->name;
    shown.codes = resolved->codes->name;
    shown.precision = armilla_type_word(resolved->type);
    shown.kernel = resolved->kernel;
    for (const armilla_option *row = table; row->name && fine; row++) {
        char value[4096];
        armilla_option_show(row, &shown, value, sizeof value);
        fine = json_object_set_new(object, row->name, *value ? armilla_json_text(value) : json_null()) == 0;
    }
    if (fine) dumped = json_dumps(object, JSON_COMPACT);
    armilla_status status =
        dumped ? armilla_copy_text(context, dumped, text)
               : armilla_fail(context, ARMILLA_NO_MEMORY, "out of memory for the record of the options");
    free(dumped);
    json_decref(object);
    return status;
}

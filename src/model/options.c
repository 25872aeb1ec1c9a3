/* The option table of a fit: defaults, validation, flags, --help and the model's record all come from these rows. */
#include "model/model.h"

#include "base/sized.h"
#include "solve/problem.h"
#include "start/start.h"

#include <armilla/fit.h>

#include <stddef.h>

/* The names of the rows of a table, and the name that a word stands for there. */
#define CHOICE(of, table)                                                                                              \
    static const char *of##_choice(size_t index)                                                                       \
    {                                                                                                                  \
        return armilla_##table##_row(index) ? armilla_##table##_row(index)->name : NULL;                               \
    }
#define RESOLVE(of)                                                                                                    \
    static const char *of##_resolve(const char *word)                                                                  \
    {                                                                                                                  \
        return armilla_##of##_find(word) ? armilla_##of##_find(word)->name : NULL;                                     \
    }
CHOICE(basis, basis)
CHOICE(codes, codes)
CHOICE(model, models)
CHOICE(solver, solvers)
CHOICE(start, starts)
RESOLVE(basis)
RESOLVE(codes)

static const char *precision_choice(size_t index)
{
    return index < ARMILLA_PRECISION_COUNT ? armilla_type_word((armilla_type)index) : NULL;
}

const char *armilla_kernel_choice(size_t index)
{
    static const char *const words[] = {"auto", "portable", "avx2", "avx512"};
    return index < sizeof words / sizeof words[0] ? words[index] : NULL;
}

static const char *total_choice(size_t index)
{
    static const char *const words[] = {"none", "median"};
    return index < sizeof words / sizeof words[0] ? words[index] : NULL;
}

static const char *normalize_choice(size_t index)
{
    return index < 2 ? armilla_steps[ARMILLA_STEP_NORMALIZE].words[index] : NULL;
}

static const char *idf_choice(size_t index)
{
    return armilla_step_form(ARMILLA_STEP_TFIDF, index);
}

#define AT(field) offsetof(armilla_options, field)
#define UNBOUNDED 9.2e18
#define ROW(word) ARMILLA_OPTION_ROW(word), .sized = true

static const armilla_option table[] = {
    {ROW("rank"), .kind = ARMILLA_OPTION_INTEGER, .offset = AT(rank), .low = 1, .high = UNBOUNDED, .value = "R",
     .help = "number of atoms (columns of U, length of a code); fit needs it"},
    {ROW("model"), .kind = ARMILLA_OPTION_WORD, .offset = AT(model), .choice = model_choice, .value = "NAME",
     .help = "a named pair instead of " ARMILLA_FIELD("basis") " and " ARMILLA_FIELD("codes")},
    {ROW("basis"), .kind = ARMILLA_OPTION_WORD, .offset = AT(basis), .choice = basis_choice, .resolve = basis_resolve,
     .value = "SET", .help = "what U may be (default: orthonormal)"},
    {ROW("codes"), .kind = ARMILLA_OPTION_WORD, .offset = AT(codes), .choice = codes_choice, .resolve = codes_resolve,
     .value = "SET", .help = "what a column of V may be (default: sphere)"},
    {ROW("sparsity"), .kind = ARMILLA_OPTION_INTEGER, .offset = AT(sparsity), .low = 1, .high = UNBOUNDED, .value = "S",
     .help = "most nonzeros of a code, 1 to R; for the sparse code sets"},
    {ROW("radius"), .kind = ARMILLA_OPTION_POSITIVE, .offset = AT(radius), .preset = "auto", .automatic = "auto",
     .value = "auto|L", .help = "radius of the sphere: learned, or kept at L"},
    {ROW("solver"), .kind = ARMILLA_OPTION_WORD, .offset = AT(solver), .preset = "fast", .choice = solver_choice,
     .value = "NAME", .help = "the algorithm"},
    {ROW("lambda"), .kind = ARMILLA_OPTION_MULTIPLE, .offset = AT(lambda), .preset = "1x", .value = "NUMBER|Nx",
     .help = "weight of the code step (palm), or a multiple of the safe value such as 0.3x"},
    {ROW("mu"), .kind = ARMILLA_OPTION_MULTIPLE, .offset = AT(mu), .preset = "1x", .value = "NUMBER|Nx",
     .help = "weight of the basis step (palm), or a multiple of the safe value"},
    {ROW("batch"), .kind = ARMILLA_OPTION_INTEGER, .offset = AT(batch), .low = 1, .high = UNBOUNDED, .value = "B",
     .help = "samples of a block (online); the default depends on the data and the rank"},
    {ROW("start"), .kind = ARMILLA_OPTION_WORD, .offset = AT(start), .choice = start_choice, .open = true,
     .value = "NAME|FILE", .help = "starting point, a model to go on from, or an .npy with U (default: by the pair)"},
    {ROW("seed"), .kind = ARMILLA_OPTION_INTEGER, .offset = AT(seed), .preset = "0", .low = 0, .high = UNBOUNDED,
     .value = "N", .help = "of all random numbers"},
    {ROW("restarts"), .kind = ARMILLA_OPTION_INTEGER, .offset = AT(restarts), .preset = "1", .low = 1, .high = 1e9,
     .value = "N",
     .help = "take the best of N starts by objective; of many samples a sketch tells which are fitted, and k-means of "
             "few compares eight or sixteen at least"},
    {ROW("max-iter"), .kind = ARMILLA_OPTION_INTEGER, .offset = AT(max_iter), .preset = "500", .low = 0, .high = 1e15,
     .value = "K", .help = "most iterations"},
    {ROW("tol"), .kind = ARMILLA_OPTION_REAL, .offset = AT(tol), .preset = "auto", .automatic = "auto", .low = 0,
     .high = 1, .value = "auto|T",
     .help =
         "stop when an iteration lowers the objective by less than this fraction; 0: never; auto: 1e-6, or when the "
         "last fifth of the iterations (fast) has gained, or the rest of the start (pca) would gain, less than a "
         "thousandth"},
    {ROW("time-limit"), .kind = ARMILLA_OPTION_POSITIVE, .offset = AT(time_limit), .preset = "none",
     .automatic = "none", .value = "SECONDS",
     .help = "end within about two passes over the data after so many seconds, with the best model so far"},
    {ROW("precision"), .kind = ARMILLA_OPTION_WORD, .offset = AT(precision), .choice = precision_choice,
     .value = "f32|f64", .help = "working precision (default: f64 where the data are f64, else f32)"},
    {ROW("threads"), .kind = ARMILLA_OPTION_INTEGER, .offset = AT(threads), .low = 1, .high = 1024, .value = "N",
     .help = "threads; the result does not depend on it (default: the cores this process may use)"},
    {ROW("kernel"), .kind = ARMILLA_OPTION_WORD, .offset = AT(kernel), .preset = "auto",
     .choice = armilla_kernel_choice, .value = "auto|NAME",
     .help = "instruction set of the products, on which the last bits of a result depend"},
    {ROW("normalize"), .group = ARMILLA_PREPARATION, .kind = ARMILLA_OPTION_WORD, .offset = AT(normalize),
     .choice = normalize_choice, .value = "none|l2",
     .help = "scale every sample to length 1, on the fly (default: none, but for spherical-kmeans, which is l2)"},
    {ROW("center"), .group = ARMILLA_PREPARATION, .kind = ARMILLA_OPTION_FLAG, .offset = AT(center),
     .help = "subtract the mean sample, on the fly"},
    {ROW("tfidf"), .group = ARMILLA_PREPARATION, .kind = ARMILLA_OPTION_FLAG, .offset = AT(tfidf),
     .help = "weight features by inverse document frequency, on the fly (for counts)"},
    {ROW("idf"), .group = ARMILLA_PREPARATION, .kind = ARMILLA_OPTION_WORD, .offset = AT(idf), .preset = "smooth",
     .choice = idf_choice, .value = "smooth|plain",
     .help = "of " ARMILLA_FIELD(
         "tfidf") ": smooth: ln((1+n)/(1+n_i)) + 1; plain: ln(n/n_i), 0 for a feature of all samples"},
    {ROW("total"), .group = ARMILLA_PREPARATION, .kind = ARMILLA_OPTION_WORD, .offset = AT(total),
     .choice = total_choice, .open = true, .value = "none|median|S",
     .help = "scale every sample so that its entries add up to S, or to the median of the samples' sums, on the fly, "
             "before everything else"},
    {ROW("log1p"), .group = ARMILLA_PREPARATION, .kind = ARMILLA_OPTION_FLAG, .offset = AT(log1p),
     .help = "replace every entry x by ln(1+x), on the fly, before all steps but " ARMILLA_FIELD("total")},
    {ROW("top-features"), .group = ARMILLA_PREPARATION, .kind = ARMILLA_OPTION_INTEGER, .offset = AT(top_features),
     .low = 1, .high = UNBOUNDED, .value = "N",
     .help = "use the N features that vary most for their mean, after " ARMILLA_FIELD("total") " and " ARMILLA_FIELD(
         "log1p") "; the others become 0"},
    {ROW("scale"), .group = ARMILLA_PREPARATION, .kind = ARMILLA_OPTION_FLAG, .offset = AT(scale),
     .help = "divide every feature by its standard deviation, on the fly; centres only with " ARMILLA_FIELD("center")},
    {.name = NULL},
};

const armilla_option *armilla_option_table(void)
{
    return table;
}

void armilla_options_default_sized(armilla_options *options, size_t size)
{
    armilla_options whole = {.size = sizeof whole};
    armilla_option_presets(table, &whole);
    armilla_sized_begin(&whole, sizeof whole, options, size);
}

armilla_status armilla_options_read(armilla_context *context, const armilla_options *options, armilla_options *whole)
{
    armilla_options_default(whole);
    return armilla_sized_read(context, "armilla_options", options, whole, sizeof *whole);
}

const char *armilla_preparation_given(const armilla_options *options)
{
    armilla_options whole, plain;
    armilla_context scratch = {.error = ""};
    if (!options || armilla_options_read(&scratch, options, &whole) != ARMILLA_OK) return NULL;
    armilla_options_default(&plain);
    for (const armilla_option *row = table; row->name; row++) {
        char given[64], usual[64];
        if (armilla_option_is_of(row, ARMILLA_PREPARATION) &&
            strcmp(armilla_option_show(row, &whole, given, sizeof given),
                   armilla_option_show(row, &plain, usual, sizeof usual)) != 0)
            return row->name;
    }
    return NULL;
}

const char *armilla_preparation_show(const armilla_options *options, char *buffer, size_t size)
{
    armilla_options whole;
    armilla_context scratch = {.error = ""};
    if (!buffer || size == 0) return "";
    buffer[0] = '\0';
    if (!options || armilla_options_read(&scratch, options, &whole) != ARMILLA_OK) return buffer;
    const armilla_preparation asked = armilla_preparation_asked(&whole);
    armilla_preparation_print(&asked, buffer, size);
    return buffer;
}

armilla_options armilla_options_fill(const armilla_options *options)
{
    armilla_options filled = *options;
    const armilla_named_model *named = options->model ? armilla_models_find(options->model) : NULL;
    for (const armilla_option *row = table; row->name; row = armilla_option_next(row)) {
        const bool text = row->kind == ARMILLA_OPTION_WORD || row->kind == ARMILLA_OPTION_MULTIPLE;
        const char **field = (const char **)(void *)((char *)&filled + row->offset);
        if (text && !*field) *field = row->preset;
    }
    if (named && named->sparsity > 0 && filled.sparsity == 0) filled.sparsity = named->sparsity;
    if (!filled.normalize)
        filled.normalize =
            named && named->normalize ? named->normalize : armilla_steps[ARMILLA_STEP_NORMALIZE].words[0];
    return filled;
}

/* armilla plot: a model as a picture. The kinds are rows of a table; each writes a gnuplot script and its data. */
#include "labelling.h"
#include "plot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const plot_kind kinds[] = {
    {.name = "convergence", .draw = plot_convergence},
    {.name = "sphere", .draw = plot_sphere, .classes = true},
    {.name = "scatter", .draw = plot_scatter, .classes = true},
    {.name = "graph", .draw = plot_graph, .classes = true},
    {.name = "atoms", .draw = plot_atoms},
    {.name = "features", .draw = plot_features},
    {.name = "codes", .draw = plot_codes},
    {.name = "clusters", .draw = plot_clusters, .classes = true},
    {.name = "confusion", .draw = plot_confusion, .classes = true},
    {.name = "numbers", .draw = plot_numbers, .of_text = true},
};

static const char *kind_choice(size_t index)
{
    return index < sizeof kinds / sizeof *kinds ? kinds[index].name : NULL;
}

static const armilla_option options[] = {
    {OPTION("kind", WORD, plot_settings, kind), .preset = "convergence", .choice = kind_choice, .value = "KIND",
     .help = "what is drawn"},
    OPTION_OUT("FILE.svg", "write the picture there: .svg, .png or .pdf (required)"),
    OPTION_PATH("title", plot_settings, title, "TEXT", "title of the picture; '' for none"),
    OPTION_PATH("images", plot_settings, images, "HxW",
                "rows and columns of the images that samples are, such as 28x28; 28x28,column-major where pixels come "
                "column by column, as MATLAB writes them; otherwise as the model's data had them"),
    OPTION_PATH("components", plot_settings, components, "A,B[,C]",
                "sphere, scatter: the entries of the codes to draw, counted from 0 as atoms are"),
    OPTION_FLAG("globe", plot_settings, globe, "graph: the map on a globe"),
    OPTION_PATH("labels", plot_settings, labels, "FILE",
                "a label per sample: text, IDX or .npy; otherwise the model's, the clusters that it "
                "keeps, or the atom that contributes most"),
    OPTION_PATH("truth", plot_settings, truth, "FILE",
                "confusion: the class of each sample, likewise; otherwise the model's labels"),
    OPTION_MEMORY,
    OPTION_QUIET,
    OPTION_FORCE,
    OPTION_END,
};

static const plot_kind *find_kind(const char *name)
{
    const plot_kind *found = kinds;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0) found = &kinds[i];
    return found;
}

/* --images, or what the model knows of its data. */
static armilla_status settle_images(plot_job *job)
{
    static const char order[] = ",column-major";
    const char *text = job->settings->images;
    long long rows = 0, columns = 0;
    int length = 0;
    job->rows = job->summary.image_rows;
    job->columns = job->summary.image_columns;
    if (!text) return ARMILLA_OK;
    const bool sizes = sscanf(text, "%9lldx%9lld%n", &rows, &columns, &length) == 2 && rows >= 1 && columns >= 1;
    job->column_major = sizes && strcmp(text + length, order) == 0;
    if (!sizes || (text[length] && !job->column_major))
        return fail(job->session, ARMILLA_BAD_ARGUMENT,
                    "--images '%s': give rows x columns, such as 28x28 or 28x28,column-major", text);
    job->rows = rows;
    job->columns = columns;
    return ARMILLA_OK;
}

/* *doubles = values as doubles. */
static armilla_status widen(const plot_job *job, const void *values, int64_t count, double **doubles)
{
    const armilla_status status = armilla_take(job->session->context, count, sizeof **doubles, doubles);
    for (int64_t i = 0; i < count && status == ARMILLA_OK; i++)
        (*doubles)[i] =
            job->summary.precision == ARMILLA_F32 ? (double)((const float *)values)[i] : ((const double *)values)[i];
    return status;
}

static void measure_atoms(plot_job *job)
{
    for (int64_t k = 0; k < job->summary.rank; k++) {
        double sum = 0;
        for (int64_t i = 0; i < job->summary.m; i++)
            sum += job->U[k * job->summary.m + i] * job->U[k * job->summary.m + i];
        job->lengths[k] = sqrt(sum);
    }
}

/* Pictures square what they show. */
static armilla_status check_sizes(plot_job *job)
{
    const double most = 1e150;
    const int64_t r = job->summary.rank;
    bool fine = true;
    for (int64_t i = 0; i < job->summary.m * r; i++) fine = fine && fabs(job->U[i]) < most;
    for (int64_t i = 0; i < job->summary.n * r; i++)
        fine = fine && fabs(job->V[i]) < most && fabs(job->V[i]) * job->lengths[i % r] < most;
    if (fine) return ARMILLA_OK;
    return fail(job->session, ARMILLA_BAD_DATA,
                "%s: its numbers are too large to be drawn; divide the data by a power of ten and fit again",
                job->session->settings->operands[0]);
}

static armilla_status prepare(plot_job *job)
{
    const armilla_model_summary *of = &job->summary;
    armilla_status status = widen(job, armilla_model_basis(job->model), of->m * of->rank, &job->U);
    if (status == ARMILLA_OK) status = widen(job, armilla_model_codes(job->model), of->rank * of->n, &job->V);
    if (status == ARMILLA_OK)
        status = armilla_take(job->session->context, of->rank, sizeof *job->lengths, &job->lengths);
    if (status == ARMILLA_OK) measure_atoms(job);
    if (status == ARMILLA_OK) status = check_sizes(job);
    return status == ARMILLA_OK ? plot_classify(job) : status;
}

/* The script and the data are made in memory: nothing is written before gnuplot has drawn. */
armilla_status plot_draw(plot_job *job, const plot_kind *kind)
{
    char *script = NULL, *data = NULL;
    size_t script_size = 0, data_size = 0;
    armilla_status status = ARMILLA_OK;
    job->script = open_memstream(&script, &script_size);
    job->data = open_memstream(&data, &data_size);
    if (job->script && job->data)
        status = kind->draw(job);
    else
        status = fail(job->session, ARMILLA_NO_MEMORY, "plot: out of memory");
    const bool script_lost = job->script && fclose(job->script) != 0;
    const bool lost = (job->data && fclose(job->data) != 0) || script_lost;
    if (status == ARMILLA_OK && lost) status = fail(job->session, ARMILLA_NO_MEMORY, "plot: out of memory");
    if (status == ARMILLA_OK) status = plot_render(job, script, data, data_size);
    free(script);
    free(data);
    return status;
}

static armilla_status open_job(plot_job *job, armilla_model **model)
{
    armilla_status status = open_model(job->session, job->session->settings->operands[0], model);
    if (status != ARMILLA_OK) return status;
    job->model = *model;
    armilla_model_summarize(*model, &job->summary);
    status = settle_images(job);
    return status == ARMILLA_OK ? prepare(job) : status;
}

static armilla_status run(cli_session *session)
{
    const plot_settings *settings = (const plot_settings *)session->settings;
    const plot_kind *kind = find_kind(settings->kind);
    armilla_model *model = NULL;
    plot_job job = {.session = session, .settings = settings};
    armilla_status status = plot_check_outputs(session, "--out");
    if (status == ARMILLA_OK && !kind->of_text) status = open_job(&job, &model);
    if (status == ARMILLA_OK) status = plot_draw(&job, kind);
    if (status == ARMILLA_OK && kind->classes) labelling_say_missing(session, job.labels.missing, job.summary.n);
    armilla_release(session->context, job.U);
    armilla_release(session->context, job.V);
    armilla_release(session->context, job.lengths);
    plot_labels_free(&job, &job.labels);
    armilla_model_free(model);
    return status;
}

const cli_command command_plot = {
    .name = "plot",
    .synopsis = "MODEL|NUMBERS.json --kind KIND --out FILE.svg [options]",
    .meaning = "draw a model: its convergence, codes, atoms or clusters; or numbers of clusters",
    .operands = {"MODEL|NUMBERS.json"},
    .required = 1,
    .settings_size = sizeof(plot_settings),
    .options = options,
    .notes =
        "kinds:\n"
        "  convergence  relative error and change of the basis over the iterations\n"
        "  sphere       codes on their circle (rank 2) or globe (rank 3, --components, or principal components);\n"
        "               as directions where the model has no radius\n"
        "  scatter      two entries of the codes (--components), or the two directions in which they vary most\n"
        "  graph        a map of the samples by the nearest of their codes, in the plane or with --globe on a globe:\n"
        "               neighbours stay near, groups are apart; sizes of groups and the space between them mean little\n"
        "  atoms        columns of the basis as images; --images HxW where the data were no images\n"
        "  features     the ten largest entries of each atom, with the names of their features\n"
        "  codes        all codes as a heat map, samples ordered by the component that contributes most\n"
        "  clusters     sizes of the clusters (--labels, kept ones, the model's labels, or the atom that contributes\n"
        "               most), and the angles within and between them\n"
        "  confusion    clusters (--labels, kept ones, or the atom that contributes most) against classes\n"
        "               (--truth, or the model's labels), with accuracy and NMI\n"
        "  numbers      of what `armilla cluster DATA --json` prints where --k is left out: stability, modularity and\n"
        "               score over the numbers of clusters, and the one that was taken\n"
        "Of more than 4000 samples, sphere, scatter and graph draw 4000 that are spread over all, and say so. From\n"
        "the eighth class on, classes differ by shape too.\n"
        "gnuplot draws; its script, FILE.gp, and the numbers, FILE.dat, are left beside the picture, and\n"
        "`gnuplot FILE.gp` draws it again. In a script of your own give --force for the second format of a\n"
        "picture, because the script and data are replaced.\n\n"
        "example:\n"
        "  armilla plot model.npz --kind sphere --out codes.svg\n"
        "  armilla cluster cells.csv --json | armilla plot - --kind numbers --out numbers.svg\n",
    .run = run,
};

/* Some features and samples of data in every form: the same as the numbers picked by hand, to the bit; what a model
 * keeps of them and of their names, through its file; and what is refused. */
#include "reference/reference.h"

#include "data/data.h"
#include "unit/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { M = 13, N = 150, R = 3, FORMS = 4 };

typedef struct forms {
    double X[M * N];
    float singles[M * N];
    uint8_t bytes[M * N];
    reference_sparse sparse;
    armilla_data *data[FORMS];
} forms;

static void name_all(armilla_data *data)
{
    const struct {
        armilla_naming kind;
        const char *format;
        int64_t count, modulus;
    } lists[] = {{ARMILLA_FEATURE_NAMES, "gene %d", M, 1000},
                 {ARMILLA_SAMPLE_NAMES, "cell\xc3\xa9 %d", N, 1000},
                 {ARMILLA_SAMPLE_LABELS, "%d", N, 4}};
    for (size_t l = 0; l < 3; l++) {
        armilla_names names = {0};
        for (int64_t i = 0; i < lists[l].count; i++) {
            char text[32];
            const int length = snprintf(text, sizeof text, lists[l].format, (int)(i % lists[l].modulus));
            REFERENCE_OK(armilla_names_add(reference_context, &names, text, (size_t)length));
        }
        REFERENCE_OK(armilla_data_adopt_names(data, lists[l].kind, "", &names));
    }
}

static void make_forms(forms *f)
{
    uint64_t random = 31;
    for (int64_t i = 0; i < M * N; i++) {
        const int64_t die = reference_below(&random, 12);
        f->X[i] = die < 5 ? 0 : (double)die;
        f->singles[i] = (float)f->X[i];
        f->bytes[i] = (uint8_t)f->X[i];
    }
    reference_sparse_new(&f->sparse, ARMILLA_F64, ARMILLA_I32, false, M, N, f->X);
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F64, f->X, M, N, M, &f->data[0]));
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F32, f->singles, M, N, M, &f->data[1]));
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_U8, f->bytes, M, N, M, &f->data[2]));
    f->data[3] = reference_sparse_wrap(&f->sparse);
    for (int i = 0; i < FORMS; i++) name_all(f->data[i]);
}

static void free_forms(forms *f)
{
    for (int i = 0; i < FORMS; i++) armilla_data_free(f->data[i]);
    reference_sparse_free(&f->sparse);
}

/* A selection, and what it should keep. */
typedef struct scenario {
    armilla_selection selection;
    bool (*feature)(int64_t i);
    bool (*sample)(int64_t j);
} scenario;

static bool all_of(int64_t i)
{
    (void)i;
    return true;
}

static bool some_features(int64_t i)
{
    return i == 0 || i == 3 || (i >= 5 && i <= 11);
}

static bool one_label(int64_t j)
{
    return j % 4 == 3;
}

static bool two_labels_early(int64_t j)
{
    return (j % 4 == 3 || j % 4 == 0) && j < 100;
}

static bool a_block(int64_t j)
{
    return j >= 20 && j < 140;
}

static const scenario scenarios[] = {
    {{.size = sizeof(armilla_selection), .labels = "3"}, all_of, one_label},
    {{.size = sizeof(armilla_selection), .labels = "3, 0", .samples = "1-100"}, all_of, two_labels_early},
    {{.size = sizeof(armilla_selection), .samples = "21-120,101-139,cell\xc3\xa9 139"}, all_of, a_block},
    {{.size = sizeof(armilla_selection), .features = "gene 3,1,6-11,gene 11,6-7"}, some_features, all_of},
    {{.size = sizeof(armilla_selection), .features = "gene 3,1,6-11,gene 11,6-7", .labels = "3"},
     some_features,
     one_label},
};

enum { SCENARIOS = sizeof scenarios / sizeof scenarios[0] };

/* The same numbers picked by hand, m x n; released by free(). */
static double *pick(const double *X, const scenario *s, int64_t *m, int64_t *n)
{
    double *picked = malloc(M * N * sizeof *picked);
    int64_t used = 0;
    assert_non_null(picked);
    *n = 0;
    for (int64_t j = 0; j < N; j++) {
        if (!s->sample(j)) continue;
        (*n)++;
        for (int64_t i = 0; i < M; i++)
            if (s->feature(i)) picked[used++] = X[i + j * M];
    }
    *m = used / *n;
    return picked;
}

static armilla_model *fit(const armilla_data *data, int64_t threads)
{
    armilla_options options;
    armilla_model *model = NULL;
    armilla_options_default(&options);
    options.rank = R;
    options.threads = threads;
    options.max_iter = 8;
    options.center = true;
    options.log1p = true;
    REFERENCE_OK(armilla_fit(reference_context, data, &options, &model));
    return model;
}

static void same_model(const armilla_model *a, const armilla_model *b)
{
    armilla_model_summary left, right;
    armilla_model_summarize(a, &left);
    armilla_model_summarize(b, &right);
    const size_t size = armilla_type_size(left.precision);
    REFERENCE_HOLDS(left.m == right.m && left.n == right.n && left.fingerprint == right.fingerprint);
    assert_memory_equal(armilla_model_basis(a), armilla_model_basis(b), (size_t)(left.m * R) * size);
    assert_memory_equal(armilla_model_codes(a), armilla_model_codes(b), (size_t)(left.n * R) * size);
    REFERENCE_HOLDS(left.objective == right.objective && left.radius == right.radius);
}

/* By hand, in the form that the data have. */
static armilla_model *fit_picked(const forms *f, int form, const scenario *s)
{
    int64_t m = 0, n = 0;
    double *picked = pick(f->X, s, &m, &n);
    float *singles = reference_floats(m * n, picked);
    uint8_t *bytes = malloc((size_t)(m * n));
    const void *const values[] = {picked, singles, bytes};
    reference_sparse sparse;
    armilla_data *data = NULL;
    assert_non_null(bytes);
    for (int64_t i = 0; i < m * n; i++) bytes[i] = (uint8_t)picked[i];
    reference_sparse_new(&sparse, ARMILLA_F64, ARMILLA_I32, false, m, n, picked);
    if (form == 3)
        data = reference_sparse_wrap(&sparse);
    else
        REFERENCE_OK(
            armilla_data_wrap_dense(reference_context, armilla_data_type(f->data[form]), values[form], m, n, m, &data));
    armilla_model *model = fit(data, 1);
    armilla_data_free(data);
    reference_sparse_free(&sparse);
    free(bytes);
    free(singles);
    free(picked);
    return model;
}

static void check_names(const armilla_model *model, const scenario *s)
{
    char text[32];
    int64_t feature = 0, sample = 0;
    for (int64_t i = 0; i < M; i++) {
        if (!s->feature(i)) continue;
        snprintf(text, sizeof text, "gene %d", (int)i);
        assert_string_equal(armilla_model_name(model, ARMILLA_FEATURE_NAMES, feature++), text);
    }
    for (int64_t j = 0; j < N; j++) {
        if (!s->sample(j)) continue;
        snprintf(text, sizeof text, "cell\xc3\xa9 %d", (int)j);
        assert_string_equal(armilla_model_name(model, ARMILLA_SAMPLE_NAMES, sample), text);
        snprintf(text, sizeof text, "%d", (int)(j % 4));
        assert_string_equal(armilla_model_name(model, ARMILLA_SAMPLE_LABELS, sample++), text);
    }
    assert_null(armilla_model_name(model, ARMILLA_FEATURE_NAMES, feature));
    assert_null(armilla_model_name(model, ARMILLA_SAMPLE_LABELS, -1));
}

/* What an opened model does with all of the data: it picks its features, and check its samples too. */
static void check_whole(const armilla_model *model, const armilla_data *whole, const scenario *s)
{
    armilla_model_summary summary;
    armilla_check check;
    const int64_t *kept = NULL;
    int64_t of = -1, used = 0;
    armilla_model_summarize(model, &summary);
    const size_t size = armilla_type_size(summary.precision) * R;
    char *codes = malloc(N * size);
    assert_non_null(codes);
    REFERENCE_OK(armilla_model_transform(reference_context, model, whole, 1, codes));
    for (int64_t j = 0; j < N; j++)
        if (s->sample(j)) {
            const char *own = armilla_model_codes(model);
            assert_memory_equal(codes + (size_t)j * size, own + (size_t)used++ * size, size);
        }
    REFERENCE_OK(armilla_model_check(reference_context, model, whole, &check));
    REFERENCE_HOLDS(check.passed);
    if (!strcmp(armilla_data_storage(whole), "dense f64") && s->selection.samples == NULL && s->selection.labels) {
        kept = armilla_model_kept_samples(model, &of);
        REFERENCE_HOLDS(kept != NULL && of == N && kept[0] == 3 && kept[1] == 7);
    }
    REFERENCE_HOLDS((armilla_model_kept_features(model, &of) != NULL) == (s->selection.features != NULL));
    free(codes);
}

static void test_every_form_and_selection(void **state)
{
    forms f;
    char path[256];
    (void)state;
    make_forms(&f);
    support_path(path, sizeof path, "model.npz");
    for (int form = 0; form < FORMS; form++)
        for (int i = 0; i < SCENARIOS; i++) {
            const scenario *s = &scenarios[i];
            armilla_data *view = NULL;
            armilla_model *opened = NULL;
            reference_scene("%s, selection %d", armilla_data_storage(f.data[form]), i);
            REFERENCE_OK(armilla_data_select(reference_context, f.data[form], &s->selection, &view));
            REFERENCE_HOLDS(armilla_data_type(view) == armilla_data_type(f.data[form]));
            armilla_model *model = fit(view, 1), *threads = fit(view, 3), *by_hand = fit_picked(&f, form, s);
            same_model(model, by_hand);
            same_model(model, threads);
            REFERENCE_OK(armilla_model_save(reference_context, model, path, true));
            REFERENCE_OK(armilla_model_open(reference_context, path, &opened));
            same_model(model, opened);
            check_names(opened, s);
            check_whole(opened, f.data[form], s);
            armilla_model_free(opened);
            armilla_model_free(by_hand);
            armilla_model_free(threads);
            armilla_model_free(model);
            armilla_data_free(view);
        }
    free_forms(&f);
}

/* A choice of a choice knows what the first one was made of. */
static void test_choice_of_a_choice(void **state)
{
    const armilla_selection first = {.size = sizeof(armilla_selection), .features = "3-12", .labels = "1"},
                            second = {.size = sizeof(armilla_selection), .features = "2,gene 9", .samples = "4-6"};
    forms f;
    (void)state;
    make_forms(&f);
    for (int form = 0; form < FORMS; form++) {
        armilla_data *once = NULL, *twice = NULL;
        double sample[2];
        REFERENCE_OK(armilla_data_select(reference_context, f.data[form], &first, &once));
        REFERENCE_OK(armilla_data_select(reference_context, once, &second, &twice));
        REFERENCE_HOLDS(armilla_data_features(twice) == 2 && armilla_data_samples(twice) == 3);
        REFERENCE_OK(armilla_data_sample(reference_context, twice, 2, sample));
        REFERENCE_HOLDS(sample[0] == f.X[3 + 21 * M] && sample[1] == f.X[9 + 21 * M]);
        assert_string_equal(armilla_data_name(twice, ARMILLA_SAMPLE_NAMES, 2), "cell\xc3\xa9 21");
        REFERENCE_HOLDS(twice->kept[ARMILLA_KEPT_FEATURES].of == M && twice->kept[ARMILLA_KEPT_FEATURES].at[1] == 9);
        REFERENCE_HOLDS(twice->kept[ARMILLA_KEPT_SAMPLES].of == N && twice->kept[ARMILLA_KEPT_SAMPLES].at[2] == 21);
        armilla_data_free(twice);
        armilla_data_free(once);
    }
    free_forms(&f);
}

static void test_lists_in_files(void **state)
{
    static const char lines[] = "gene 4\r\n\n  2 \n9-10\ngene 4\n";
    forms f;
    char path[256];
    armilla_selection selection = {.size = sizeof(armilla_selection),
                                   .features = support_path(path, sizeof path, "genes.txt")};
    armilla_data *view = NULL;
    (void)state;
    make_forms(&f);
    support_write_file(path, lines, sizeof lines - 1);
    REFERENCE_OK(armilla_data_select(reference_context, f.data[0], &selection, &view));
    REFERENCE_HOLDS(armilla_data_features(view) == 4);
    assert_string_equal(armilla_data_name(view, ARMILLA_FEATURE_NAMES, 0), "gene 1");
    assert_string_equal(armilla_data_name(view, ARMILLA_FEATURE_NAMES, 3), "gene 9");
    armilla_data_free(view);
    free_forms(&f);
}

static void test_refusals(void **state)
{
    static const struct {
        armilla_selection selection;
        armilla_status status;
        const char *part;
    } cases[] = {
        {{.size = sizeof(armilla_selection), .labels = "7"}, ARMILLA_BAD_DATA, "no sample has the label '7'"},
        {{.size = sizeof(armilla_selection), .features = "gene 99"},
         ARMILLA_BAD_DATA,
         "'gene 99' is neither the name of a feature"},
        {{.size = sizeof(armilla_selection), .features = "0"}, ARMILLA_BAD_DATA, "'0' is neither"},
        {{.size = sizeof(armilla_selection), .features = "5-2"}, ARMILLA_BAD_DATA, "'5-2' is neither"},
        {{.size = sizeof(armilla_selection), .features = "1-14"},
         ARMILLA_BAD_DATA,
         "there is no feature 14: the data have 13"},
        {{.size = sizeof(armilla_selection), .samples = "99999999999999999999"}, ARMILLA_BAD_DATA, "is neither"},
        {{.size = sizeof(armilla_selection), .samples = ""}, ARMILLA_BAD_ARGUMENT, "names nothing"},
        {{.size = sizeof(armilla_selection), .samples = " , "}, ARMILLA_BAD_ARGUMENT, "names nothing"},
        {{.size = sizeof(armilla_selection), .samples = "1", .labels = "3"}, ARMILLA_BAD_DATA, "leave no sample"},
    };
    const double values[2] = {1, 2};
    const armilla_selection by_label = {.size = sizeof(armilla_selection), .labels = "1"};
    armilla_data *view = NULL, *bare = NULL;
    forms f;
    (void)state;
    make_forms(&f);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        support_fails(reference_context, armilla_data_select(reference_context, f.data[0], &cases[i].selection, &view),
                      cases[i].status, cases[i].part);
    assert_null(view);
    free_forms(&f);
    REFERENCE_OK(armilla_data_wrap_dense(reference_context, ARMILLA_F64, values, 1, 2, 1, &bare));
    support_fails(reference_context, armilla_data_select(reference_context, bare, &by_label, &view), ARMILLA_BAD_DATA,
                  "the data have no labels");
    armilla_data_free(bare);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_form_and_selection),
        cmocka_unit_test(test_choice_of_a_choice),
        cmocka_unit_test(test_lists_in_files),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}

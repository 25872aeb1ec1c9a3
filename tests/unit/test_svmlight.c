/* svmlight: labels, both bases, comments, mistakes, files of many parts, damage. */
#include "fixture.h"

#include "base/number.h"
#include "data/data.h"
#include "files/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static armilla_status read_bytes(const char *text, size_t count, int threads, armilla_data **data)
{
    const armilla_read_options options = {.size = sizeof(armilla_read_options), .threads = threads};
    return support_read(context, &armilla_format_svmlight, text, count, &options, data);
}

/* Three samples of three features. */
static void reads(const char *text, const double wanted[9], const char *const labels[3])
{
    armilla_data *data = NULL;
    double sample[3];
    support_ok(context, read_bytes(text, strlen(text), 0, &data));
    assert_int_equal(armilla_data_samples(data), 3);
    assert_int_equal(armilla_data_features(data), 3);
    assert_string_equal(armilla_data_storage(data), "sparse f64");
    for (int j = 0; j < 3; j++) {
        support_ok(context, armilla_data_sample(context, data, j, sample));
        for (int i = 0; i < 3; i++) assert_true(sample[i] == wanted[3 * j + i]);
        assert_string_equal(armilla_data_name(data, ARMILLA_SAMPLE_LABELS, j), labels[j]);
    }
    armilla_data_free(data);
}

static void reads_what_is_usual(void **state)
{
    (void)state;
    static const double wanted[] = {1.5, 0, -2, 0, 0, 0, 0, 4, 0};
    static const char *const labels[] = {"1", "-1", "2.5"}, *const several[] = {"1,2", "0", "3"};
    reads("+1 1:1.5 3:-2\n-1\n2.5 2:4e0\n", wanted, labels);
    reads("# made by hand 1:1\r\n1 qid:7 1:1.5 3:-2 # note 9:9\r\n\r\n-1 qid:8\r\n2.5 2:4", wanted, labels);
    reads("1 0:1.5 2:-2\n-1\n2.5 1:4\n", wanted, labels);
    reads("1,2\t3:-2  1:1.5\n0 \n3 2:3 2:1\n", wanted, several);
}

static void refuses(const char *text, const char *part)
{
    armilla_data *data = NULL;
    support_fails(context, read_bytes(text, strlen(text), 0, &data), ARMILLA_BAD_DATA, part);
    assert_null(data);
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    refuses("1 1:1\nx 1:1\n", "a.svm: line 2: 'x' is no label");
    refuses("1, 1:1\n", "'1,' is no label");
    refuses("1 1:1 2\n", "line 1: '2' is no index:value");
    refuses("1 -1:1\n", "'-1:1' is no index:value");
    refuses("1 99999999999:1\n", "'99999999999:1' is no index:value");
    refuses("1 18446744073709551617:1\n", "is no index:value");
    refuses("1 1:\n", "'1:' has no finite number behind its index");
    refuses("1 1: 2\n", "'1:' has no finite number");
    refuses("1 1:nan\n", "'1:nan' has no finite number");
    refuses("1 1:2x\n", "'1:2x' has no finite number");
    refuses("1\n2\n", "holds no index:value pairs");
    refuses("# nothing\n\n", "holds no index:value pairs");
}

static void is_known_by_its_content(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool known;
    } cases[] = {{"1 1:2\n", true},    {"# x\n\n-1.5 qid:3 1:2\n", true},
                 {"1 2 3\n", false},   {"a 1:2\n", false},
                 {"1,2:3\n", false},   {"", false},
                 {"1 12:30 x\n", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(armilla_format_svmlight.recognize((const unsigned char *)cases[i].text, strlen(cases[i].text)),
                         cases[i].known);
}

static void does_not_depend_on_threads(void **state)
{
    (void)state;
    enum { ROWS = 60000, LINE = 64 };
    char *text = malloc((size_t)ROWS * LINE);
    uint64_t first = 0;
    size_t used = 0;
    for (int k = 0; k < ROWS; k++)
        used += (size_t)armilla_plain_print(text + used, LINE, "%d 1:%d %d:%.17g 9000:1e-3\n%s", k % 7, k, 2 + k % 8997,
                                            k / 3.0, k % 100 ? "" : "# c\n\n");
    assert_true(used > 2u << 20);
    for (int threads = 1; threads < 4; threads++) {
        armilla_data *data = NULL;
        armilla_data_facts facts;
        support_ok(context, read_bytes(text, used, threads, &data));
        assert_int_equal(armilla_data_samples(data), ROWS);
        assert_int_equal(armilla_data_stored(data), 3 * ROWS);
        assert_string_equal(armilla_data_name(data, ARMILLA_SAMPLE_LABELS, 59999), "2");
        support_ok(context, armilla_data_survey(context, data, 1, &facts));
        if (threads == 1) first = facts.fingerprint;
        assert_true(facts.fingerprint == first);
        armilla_data_free(data);
    }
    free(text);
}

static const char small[] = "1 qid:1 1:1.5 3:-2 # c\n-1 2:1\n\n2.5 2:4 1:3\n";

static void survives_damage(void **state)
{
    (void)state;
    for (size_t at = 0; at < sizeof small - 1; at++)
        for (int byte = 0; byte < 256; byte++) {
            char changed[sizeof small];
            armilla_data *data = NULL;
            memcpy(changed, small, sizeof small);
            changed[at] = (char)byte;
            const armilla_status status = read_bytes(changed, sizeof small - 1, 1, &data);
            assert_true(status == ARMILLA_OK || (status == ARMILLA_BAD_DATA && !data));
            armilla_data_free(data);
        }
    for (size_t cut = 0; cut < sizeof small; cut++) {
        armilla_data *data = NULL;
        const armilla_status status = read_bytes(small, cut, 1, &data);
        assert_true(status == ARMILLA_OK || (status == ARMILLA_BAD_DATA && !data));
        armilla_data_free(data);
    }
}

static void survives_refused_allocations(void **state)
{
    (void)state;
    bool refused = true;
    for (int64_t k = 0; refused; k++) {
        armilla_data *data = NULL;
        allocator.countdown = allocator.taken + k;
        const armilla_status status = read_bytes(small, sizeof small - 1, 1, &data);
        refused = status != ARMILLA_OK;
        if (refused) support_fails(context, status, ARMILLA_NO_MEMORY, "out of memory");
        armilla_data_free(data);
        assert_true(refused || k > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reads_what_is_usual),        TEST(says_what_is_wrong), TEST(is_known_by_its_content),
        TEST(does_not_depend_on_threads), TEST(survives_damage),    TEST(survives_refused_allocations),
    };
    return cmocka_run_group_tests_name("svmlight", tests, NULL, NULL);
}

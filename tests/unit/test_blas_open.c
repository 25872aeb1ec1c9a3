/* BLAS and LAPACK where no library has one of the usual names, and a host program has OpenBLAS in its process as wheels of
 * SciPy carry it: under another file name, with a prefix before each function. The source under test is compiled here
 * with libraries that nobody has; the copy of OpenBLAS is a library of the tests (scipy_openblas.c). */
#undef ARMILLA_LINK_BLAS
#undef ARMILLA_BLAS_LIBRARIES
#define ARMILLA_BLAS_LIBRARIES "libnobody-has-this.so.9", "libnobody-has-that.so.9"
#include "../../src/linalg/blas_open.c"

#include "unit/support.h"

static void test_what_is_missing_is_named(void **state)
{
    armilla_context *context = support_context();
    (void)state;
    support_fails(context, armilla_blas_open(context), ARMILLA_NOT_BUILT, "libnobody-has-this.so.9: ");
    support_fails(context, armilla_blas_open(context), ARMILLA_NOT_BUILT, "install the package libopenblas0 ");
    assert_null(armilla_blas_symbol("dgemm_"));
    armilla_context_free(context);
}

static void test_the_copy_of_the_process_is_used(void **state)
{
    armilla_context *context = support_context();
    void *host = dlopen(ARMILLA_SCIPY_OPENBLAS, RTLD_NOW | RTLD_LOCAL);
    void *table[FUNCTIONS];
    char name[LONGEST_NAME];
    (void)state;
    assert_non_null(host);
    support_ok(context, armilla_blas_open(context));
    memcpy(table, &armilla_blas, sizeof table);
    for (int i = 0; i < FUNCTIONS; i++) {
        (void)snprintf(name, sizeof name, "scipy_%s", names[i]);
        assert_non_null(table[i]);
        assert_ptr_equal(table[i], dlsym(host, name));
    }
    assert_ptr_equal(armilla_blas_symbol("openblas_set_num_threads"), dlsym(host, "scipy_openblas_set_num_threads"));
    assert_null(armilla_blas_symbol("bli_thread_get_num_threads"));
    armilla_context_free(context);
    dlclose(host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_missing_is_named),
        cmocka_unit_test(test_the_copy_of_the_process_is_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

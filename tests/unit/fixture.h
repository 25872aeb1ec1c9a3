/* The usual fixture: before each test an empty DIR and a context whose blocks are counted, after it neither (support.h). */
#ifndef ARMILLA_TESTS_FIXTURE_H
#define ARMILLA_TESTS_FIXTURE_H

#include "unit/support.h"

#include <armilla/armilla.h> /* before `context` is the name of a variable */

static armilla_context *context;
static support_allocator allocator;

static inline int set_up(void **state)
{
    (void)state;
    support_begin(&allocator, &context);
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    support_end(&allocator, context);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif

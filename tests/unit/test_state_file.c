/* States in files: what was written comes back, whatever is not as it was written is refused, and the file is replaced
 * whole or not at all, whichever call to the system or to the allocator fails, and whenever the power does. */
#include "fixture.h"

#include "faults.h"
#include "files/state_file.h"
#include "reference/ranks.h"
#include "reference/reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BIG = 50000, SMALL = 5, ROWS = 3, PLACES = 3, MESSAGE = 400 };

typedef struct entry {
    int64_t number;
    bool flag;
    double value;
} entry;

/* A state with everything that a list can have. */
typedef struct odd_state {
    int64_t length; /* of what follows, and listed before it */
    double one;
    float single;
    int32_t word;
    bool flag;
    entry places[PLACES]; /* columns with a stride */
    double *values;       /* ROWS x length */
    int32_t *samples;     /* with a column for each sample */
    double *none;         /* without columns */
    armilla_samples share;
    const char *name; /* of the last item */
} odd_state;

static void list_odd(void *self, armilla_state_list *list)
{
    odd_state *s = self;
    const size_t outer = armilla_state_enter(list, "a-part-with-a-rather-long-name");
    armilla_state_number(list, "length", ARMILLA_STATE_I64, &s->length);
    if (!armilla_state_require(list, "length", s->length >= 0 && s->length <= BIG)) return;
    armilla_state_number(list, "one", ARMILLA_STATE_F64, &s->one);
    armilla_state_report(list, "single", ARMILLA_STATE_F32, &s->single);
    armilla_state_number(list, "word", ARMILLA_STATE_I32, &s->word);
    armilla_state_number(list, "flag", ARMILLA_STATE_U8, &s->flag);
    armilla_state_item item = {.name = "number",
                               .type = ARMILLA_STATE_I64,
                               .rows = 1,
                               .columns = PLACES,
                               .stride = sizeof(entry),
                               .values = &s->places->number};
    armilla_state_visit(list, &item);
    item.name = "flags";
    item.type = ARMILLA_STATE_U8;
    item.values = &s->places->flag;
    armilla_state_visit(list, &item);
    armilla_state_leave(list, outer);
    armilla_state_array(list, "values", ARMILLA_STATE_F64, ROWS, s->length, &s->values);
    armilla_state_array(list, "none", ARMILLA_STATE_F64, 4, 0, &s->none);
    s->share.count = s->length;
    if (s->share.last == 0) s->share = armilla_samples_whole(s->length);
    armilla_state_samples(list, s->name ? s->name : "samples", ARMILLA_STATE_I32, 1, &s->share, &s->samples);
}

static odd_state make_state(int64_t length, int seed)
{
    odd_state s = {.length = length, .one = seed + 0.1, .single = 2.5F, .word = -seed, .flag = true};
    s.values = calloc((size_t)(ROWS * BIG), sizeof *s.values);
    s.samples = calloc(BIG, sizeof *s.samples);
    for (int64_t i = 0; i < ROWS * length; i++) s.values[i] = (double)(i * 7919 % 1013) / (seed + 1);
    for (int64_t i = 0; i < length; i++) s.samples[i] = (int32_t)(i + seed);
    for (int i = 0; i < PLACES; i++) s.places[i] = (entry){.number = seed - i, .flag = i == 1, .value = -1};
    return s;
}

static odd_state make_empty(void)
{
    odd_state s = make_state(0, 0);
    s.flag = false;
    memset(s.places, 0, sizeof s.places);
    return s;
}

static void free_state(odd_state *s)
{
    free(s->values);
    free(s->samples);
}

static bool is_same(const odd_state *a, const odd_state *b)
{
    bool same = a->length == b->length && a->one == b->one && a->single == b->single && a->word == b->word &&
                a->flag == b->flag;
    for (int i = 0; i < PLACES && same; i++)
        same = a->places[i].number == b->places[i].number && a->places[i].flag == b->places[i].flag;
    return same && memcmp(a->values, b->values, (size_t)(ROWS * a->length) * sizeof *a->values) == 0 &&
           memcmp(a->samples, b->samples, (size_t)a->length * sizeof *a->samples) == 0;
}

static armilla_status write_state(const char *path, odd_state *s)
{
    return armilla_state_file_write(context, path, "{\"what\":\"odd\"}", list_odd, s);
}

static armilla_status read_state(const char *path, odd_state *s)
{
    armilla_state_file *file = NULL;
    armilla_status status = armilla_state_file_open(context, path, &file);
    if (status == ARMILLA_OK) assert_string_equal(armilla_state_file_text(file), "{\"what\":\"odd\"}");
    if (status == ARMILLA_OK) status = armilla_state_file_restore(file, list_odd, s);
    armilla_state_file_close(file);
    return status;
}

static char target[256];

static int name_target(void **state)
{
    (void)state;
    support_path(target, sizeof target, "target.checkpoint");
    return 0;
}

static ssize_t short_pread(int file, void *bytes, size_t count, off_t offset)
{
    const size_t most = (size_t)(1 + offset % 1000);
    return pread(file, bytes, count < most ? count : most, offset);
}

static void comes_back(void **state)
{
    const int64_t lengths[] = {0, 1, SMALL, BIG};
    armilla_io io = armilla_io_system;
    (void)state;
    io.pread = short_pread;
    for (size_t i = 0; i < 8; i++) {
        odd_state s = make_state(lengths[i % 4], (int)i), back = make_empty();
        context->io = i < 4 ? &armilla_io_system : &io;
        support_ok(context, write_state(target, &s));
        support_ok(context, read_state(target, &back));
        assert_true(is_same(&s, &back));
        assert_int_equal(support_entries(), 1);
        free_state(&s);
        free_state(&back);
    }
}

static void refuses(const char *path, const char *part)
{
    odd_state back = make_empty();
    const armilla_status status = read_state(path, &back);
    support_fails(context, status, ARMILLA_BAD_DATA, part);
    assert_null(strchr(armilla_context_error(context), '\n'));
    assert_int_equal(strncmp(armilla_context_error(context), path, strlen(path)), 0);
    free_state(&back);
}

/* Every bit, every length shorter, and some that are longer. */
static void refuses_what_is_not_as_it_was_written(void **state)
{
    odd_state s = make_state(SMALL, 3);
    size_t count = 0;
    char other[256];
    (void)state;
    support_path(other, sizeof other, "other");
    support_ok(context, write_state(target, &s));
    char *bytes = support_read_file(target, &count);
    for (size_t at = 0; at < count; at++) {
        for (int bit = 0; bit < 8; bit += (int)reference_effort(1, 5)) {
            bytes[at] ^= (char)(1 << bit);
            support_write_file(other, bytes, count);
            refuses(other, "");
            bytes[at] ^= (char)(1 << bit);
        }
        support_write_file(other, bytes, at);
        refuses(other, at == 0 ? "is not a checkpoint" : "");
    }
    char *longer = calloc(count + 600, 1);
    memcpy(longer, bytes, count);
    for (size_t more = 1; more < 600; more += 7) {
        support_write_file(other, longer, count + more);
        refuses(other, "");
    }
    bytes[8] = 2; /* the format, which is looked at before the checksum */
    support_write_file(other, bytes, count);
    refuses(other, "is a checkpoint of format 2, and this library reads 1");
    free(longer);
    free(bytes);
    free_state(&s);
}

/* Files that are whole, of states that are not such states. */
static void refuses_other_states(void **state)
{
    odd_state s = make_state(SMALL, 3);
    unsigned char *flag = (unsigned char *)&s.places[2].flag;
    (void)state;
    s.name = "specimens";
    support_ok(context, write_state(target, &s));
    refuses(target, "is of another fit: samples (1 x 5) is not where it should be");
    s.name = NULL;
    s.length = SMALL - 1;
    s.share = (armilla_samples){0, 0, 0};
    support_ok(context, write_state(target, &s));
    s.length = -1;
    support_ok(context, write_state(target, &s));
    support_fails(context, read_state(target, &s), ARMILLA_BAD_DATA, "");
    s.length = SMALL;
    s.share = (armilla_samples){0, 0, 0};
    *flag = 7;
    support_ok(context, write_state(target, &s));
    *flag = 1;
    refuses(target, "true or false is neither");
    support_fails(context, read_state("/nowhere", &s), ARMILLA_CANNOT_OPEN, "/nowhere: cannot be opened");
    support_fails(context, read_state("/", &s), ARMILLA_CANNOT_OPEN, "/: is not a regular file");
    free_state(&s);
}

/* With call k failing the file is the old one or the new one, and nothing is beside it. */
static void survives_every_fault(void **state)
{
    const int errors[] = {ENOSPC, EIO};
    odd_state old = make_state(SMALL, 1), fresh = make_state(SMALL, 2);
    const int before = fault_next_descriptor();
    (void)state;
    fault.only_interruptible = false;
    for (size_t i = 0; i < 2; i++) {
        int k = 0, failed = 0;
        do {
            odd_state back = make_empty();
            context->io = &armilla_io_system;
            support_ok(context, write_state(target, &old));
            context->io = &fault_io;
            fault_set(k++, errors[i]);
            const armilla_status status = write_state(target, &fresh);
            const bool hit = fault.hit;
            const bool placed = status == ARMILLA_OK || strstr(armilla_context_error(context), "is written whole");
            failed += status != ARMILLA_OK;
            fault_set(-1, 0);
            support_ok(context, read_state(target, &back));
            assert_true(is_same(placed ? &fresh : &old, &back));
            assert_int_equal(support_entries(), 1);
            free_state(&back);
            fault.hit = hit;
        } while (fault.hit);
        assert_true(failed >= 5); /* open, write, fsync, close, rename ... */
    }
    assert_int_equal(fault_next_descriptor(), before);
    context->io = &armilla_io_system;
    free_state(&old);
    free_state(&fresh);
}

static void reading_survives_every_fault(void **state)
{
    odd_state s = make_state(SMALL, 1);
    int k = 0, failed = 0;
    const int before = fault_next_descriptor();
    (void)state;
    support_ok(context, write_state(target, &s));
    context->io = &fault_io;
    do {
        odd_state back = make_empty();
        fault_set(k++, EIO);
        const armilla_status status = read_state(target, &back);
        failed += status != ARMILLA_OK;
        assert_true(status == ARMILLA_OK ? is_same(&s, &back)
                                         : status == ARMILLA_IO_ERROR || status == ARMILLA_CANNOT_OPEN);
        free_state(&back);
    } while (fault.hit);
    assert_true(failed >= 4);
    assert_int_equal(fault_next_descriptor(), before);
    context->io = &armilla_io_system;
    free_state(&s);
}

static void survives_every_allocation(void **state)
{
    odd_state old = make_state(SMALL, 1), fresh = make_state(SMALL, 2);
    const int64_t live = allocator.live;
    int failed = 0;
    (void)state;
    support_ok(context, write_state(target, &old));
    for (int64_t k = 0; k < 40; k++) {
        odd_state back = make_empty();
        allocator.countdown = allocator.taken + k;
        const armilla_status written = write_state(target, &fresh);
        allocator.countdown = -1;
        assert_true(written == ARMILLA_OK || written == ARMILLA_NO_MEMORY);
        assert_int_equal(allocator.live, live);
        support_ok(context, read_state(target, &back));
        assert_true(is_same(written == ARMILLA_OK ? &fresh : &old, &back));
        if (written == ARMILLA_OK) support_ok(context, write_state(target, &old));
        allocator.countdown = allocator.taken + k;
        const armilla_status status = read_state(target, &back);
        allocator.countdown = -1;
        failed += written != ARMILLA_OK && status != ARMILLA_OK;
        assert_true(status == ARMILLA_OK || status == ARMILLA_NO_MEMORY);
        assert_int_equal(allocator.live, live);
        free_state(&back);
    }
    assert_true(failed >= 2);
    free_state(&old);
    free_state(&fresh);
}

/* Rank 0 writes the columns of all, in their order: the bytes that one rank writes. Each reads its own. */
enum { RANKS = 5 };

typedef struct together {
    char path[256];
    armilla_status written[RANKS], read[RANKS];
    bool same[RANKS];
} together;

static void work_as_rank(void *self, int rank, armilla_context *own)
{
    together *t = self;
    odd_state s = make_state(BIG, 4), back = make_empty();
    armilla_state_file *file = NULL;
    s.share = back.share = (armilla_samples){BIG, (int64_t)rank * BIG / RANKS, (int64_t)(rank + 1) * BIG / RANKS};
    for (int64_t i = 0; i < BIG; i++) /* those of others are not there */
        if (i < s.share.first || i >= s.share.last) s.samples[i] = -1;
    t->written[rank] = armilla_call_enter_together(own, 1); /* ranks are ranks within a call */
    if (t->written[rank] == ARMILLA_OK) t->written[rank] = armilla_state_file_write(own, t->path, "{}", list_odd, &s);
    char done = 0;
    if (own->ranks->rank > 0)
        (void)own->ranks->receive(own->ranks->self, 0, &done, 1);
    else
        for (int other = 1; other < RANKS; other++) (void)own->ranks->send(own->ranks->self, other, &done, 1);
    t->read[rank] = armilla_state_file_open(own, t->path, &file);
    if (t->read[rank] == ARMILLA_OK) t->read[rank] = armilla_state_file_restore(file, list_odd, &back);
    armilla_state_file_close(file);
    (void)armilla_call_leave_together(own, ARMILLA_OK);
    t->same[rank] =
        back.length == BIG && back.word == s.word && memcmp(back.values, s.values, sizeof(double) * ROWS * BIG) == 0;
    for (int64_t i = 0; i < BIG && t->same[rank]; i++)
        t->same[rank] = back.samples[i] == (i >= s.share.first && i < s.share.last ? s.samples[i] : 0);
    free_state(&s);
    free_state(&back);
}

static void ranks_write_what_one_writes(void **state)
{
    together t;
    odd_state s = make_state(BIG, 4);
    size_t count = 0, together_count = 0;
    (void)state;
    support_path(t.path, sizeof t.path, "together");
    reference_run_ranks(RANKS, -1, work_as_rank, &t);
    for (int rank = 0; rank < RANKS; rank++) {
        assert_int_equal(t.written[rank], rank == 0 ? ARMILLA_OK : ARMILLA_STOPPED);
        assert_int_equal(t.read[rank], ARMILLA_OK);
        assert_true(t.same[rank]);
    }
    support_ok(context, armilla_state_file_write(context, target, "{}", list_odd, &s));
    char *alone = support_read_file(target, &count), *shared = support_read_file(t.path, &together_count);
    assert_int_equal(count, together_count);
    assert_memory_equal(alone, shared, count);
    free(alone);
    free(shared);
    free_state(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(comes_back),
        TEST(refuses_what_is_not_as_it_was_written),
        TEST(refuses_other_states),
        TEST(survives_every_fault),
        TEST(reading_survives_every_fault),
        TEST(survives_every_allocation),
        TEST(ranks_write_what_one_writes),
    };
    return cmocka_run_group_tests(tests, name_target, NULL);
}

/* How near a sweep comes to what the machine allows (docs/performance.md).
 *
 * In one run, interleaved, the least time of each over all repetitions: reading a buffer larger than the caches, a
 * square product by BLAS, sweeps orthonormal x sphere through the library's own sweep, and, with --blas, the two full
 * products UᵀX and XVᵀ by BLAS as NumPy would call it. The roofline of a sweep is the longer of reading X once and of
 * 4mnr operations at the rate of the square product. */
#include "base/clock.h"
#include "base/team.h"
#include "data/data.h"
#include "linalg/fortran.h"
#include "sets/column.h"
#include "solve/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CASES = 128, GEMM_SIDE = 1536, BUFFER_BYTES = 1 << 28, LINE = 64, READ_BLOCK = 1024 };

typedef struct settings {
    int64_t m, n, threads, repetitions;
    const char *ranks, *types, *kernel;
    bool blas, processor, gram;
} settings;

/* One thing that is timed. */
typedef struct timed {
    void (*run)(struct timed *self);
    double least; /* seconds */
    armilla_type stored, work;
    int64_t r;
    const void *X;
    void *U, *W, *C, *previous;
    armilla_data *data;
    armilla_sweep *sweep;
    armilla_column_problem *columns;
} timed;

static settings chosen = {784, 60000, 0, 15, "1,7,10,16,20,32,33,64", "f32,f64,u8", NULL, false, false, false};
static armilla_context *context;
static armilla_team team;
static timed cases[MOST_CASES];
static int case_count;

/* Seconds: of the clock on the wall, or of a processor, which other programs disturb less. */
static double now(void)
{
    return chosen.processor ? (double)clock() / CLOCKS_PER_SEC / (double)chosen.threads : armilla_clock();
}

static void *take(size_t bytes)
{
    void *block = aligned_alloc(LINE, (bytes + LINE - 1) / LINE * LINE);
    if (!block) {
        fprintf(stderr, "roofline: out of memory\n");
        exit(1);
    }
    memset(block, 0, bytes);
    return block;
}

static void must(armilla_status status)
{
    if (status == ARMILLA_OK) return;
    fprintf(stderr, "roofline: %s\n", armilla_context_error(context));
    exit(1);
}

/* Uniform in [0, 127], whole numbers, so that every storage type holds the same matrix. */
static void fill(armilla_type type, int64_t count, void *values)
{
    uint64_t state = 1;
    for (int64_t i = 0; i < count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const unsigned char byte = (unsigned char)(state >> 57);
        const double value = byte;
        armilla_store(type, 1, &value, (char *)values + (size_t)i * armilla_type_size(type));
    }
}

/* Reads blocks first ... last-1 of the buffer. */
static void read_blocks(void *self, int64_t first, int64_t last)
{
    typedef int64_t vector __attribute__((vector_size(32)));
    const vector *values = ((const timed *)self)->X;
    int64_t sum = 0;
    for (int64_t block = first; block < last; block++) {
        vector part[4] = {{0}};
        for (int64_t i = block * READ_BLOCK; i < (block + 1) * READ_BLOCK; i += 4)
            for (int64_t k = 0; k < 4; k++) part[k] += values[i + k];
        sum += part[0][0] + part[1][1] + part[2][2] + part[3][3];
    }
    if (sum == 1) printf("\n");
}

static void run_read(timed *self)
{
    armilla_team_share(&team, BUFFER_BYTES / (32 * READ_BLOCK), read_blocks, self);
}

/* C = op(A) op(B), m x n, with k between them. */
typedef struct product {
    const char *left, *right;
    int m, n, k;
    const void *A, *B;
    void *C;
} product;

static void multiply(const timed *self, product p)
{
    const int *lda = p.left[0] == 'N' ? &p.m : &p.k, *ldb = p.right[0] == 'N' ? &p.k : &p.n;
    if (self->work == ARMILLA_F32)
        sgemm_(p.left, p.right, &p.m, &p.n, &p.k, &(float){1}, p.A, lda, p.B, ldb, &(float){0}, p.C, &p.m, 1, 1);
    else
        dgemm_(p.left, p.right, &p.m, &p.n, &p.k, &(double){1}, p.A, lda, p.B, ldb, &(double){0}, p.C, &p.m, 1, 1);
}

static void run_gemm(timed *self)
{
    multiply(self, (product){"N", "N", GEMM_SIDE, GEMM_SIDE, GEMM_SIDE, self->X, self->U, self->C});
}

/* C = UᵀX, A = XWᵀ */
static void run_products(timed *self)
{
    const int m = (int)chosen.m, n = (int)chosen.n, r = (int)self->r;
    multiply(self, (product){"T", "N", r, n, m, self->U, self->X, self->W});
    multiply(self, (product){"N", "T", m, r, n, self->X, self->W, self->C});
}

/* What `fast` does with a panel of orthonormal x sphere: w = Proj(c), exact, so that of G the diagonal is enough. */
static void step(void *self, const armilla_code_panel *panel)
{
    const timed *of = self;
    armilla_columns_solve(of->columns, &(armilla_column_batch){panel->count, panel->C, 1, panel->W}, panel->scratch);
}

static void run_sweep(timed *self)
{
    const armilla_sweep_plan plan = {.U = self->U,
                                     .previous = self->previous,
                                     .codes = self->W,
                                     .sums = true,
                                     .diagonal = !chosen.gram,
                                     .ignores_previous = true,
                                     .step = step,
                                     .scaled = armilla_codes_sphere.project,
                                     .self = self};
    must(armilla_sweep_run(self->sweep, &plan));
}

static timed *add_case(void (*run)(timed *self), armilla_type stored, armilla_type work, int64_t r, const void *X)
{
    if (case_count == MOST_CASES) exit(1);
    timed *made = &cases[case_count++];
    *made = (timed){.run = run, .least = INFINITY, .stored = stored, .work = work, .r = r, .X = X};
    return made;
}

static void add_gemm(armilla_type work)
{
    const size_t bytes = (size_t)GEMM_SIDE * GEMM_SIDE * armilla_type_size(work);
    timed *made = add_case(run_gemm, work, work, 0, take(bytes));
    made->U = take(bytes);
    made->C = take(bytes);
    fill(work, (int64_t)GEMM_SIDE * GEMM_SIDE, made->U);
}

static void add_factors(timed *made)
{
    const size_t size = armilla_type_size(made->work);
    made->U = take((size_t)(chosen.m * made->r) * size);
    made->W = take((size_t)(chosen.n * made->r) * size);
    made->C = take((size_t)(chosen.m * made->r) * size);
    fill(made->work, chosen.m * made->r, made->U);
}

static void add_type(armilla_type stored, armilla_type work)
{
    void *X = take((size_t)(chosen.m * chosen.n) * armilla_type_size(stored));
    fill(stored, chosen.m * chosen.n, X);
    for (const char *at = chosen.ranks; *at; at += *at == ',') {
        char *end = NULL;
        const int64_t r = strtoll(at, &end, 10);
        if (end == at || r < 1) exit(64);
        at = end;
        timed *made = add_case(run_sweep, stored, work, r, X);
        add_factors(made);
        made->previous = take((size_t)(chosen.n * r) * armilla_type_size(work));
        must(armilla_data_wrap_dense(context, stored, X, chosen.m, chosen.n, chosen.m, &made->data));
        must(armilla_column_problem_new(context, &armilla_codes_sphere, r, r, true, &made->columns));
        must(armilla_sweep_new_whole(context, made->data, work, r, 0, &made->sweep));
        if (chosen.blas && stored == work) add_factors(add_case(run_products, stored, work, r, X));
    }
}

/* Whether the list of types has the word. */
static bool is_wanted(const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = chosen.types; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == length && strncmp(at, word, length) == 0) return true;
    return false;
}

static double seconds_of(void (*run)(timed *self), armilla_type work, int64_t r)
{
    for (int i = 0; i < case_count; i++)
        if (cases[i].run == run && (cases[i].work == work || run == run_read) && cases[i].r == r) return cases[i].least;
    return NAN;
}

static void report(void)
{
    const double bandwidth = BUFFER_BYTES / seconds_of(run_read, ARMILLA_F32, 0);
    printf("%lld x %lld, %d threads, kernels %s; read %.1f GB/s", (long long)chosen.m, (long long)chosen.n,
           (int)chosen.threads, armilla_kernels_for(context, ARMILLA_F32)->name, 1e-9 * bandwidth);
    for (int i = 0; i < case_count; i++)
        if (cases[i].run == run_gemm)
            printf(", gemm %s %.0f GF/s", armilla_type_word(cases[i].work), 2e-9 * pow(GEMM_SIDE, 3) / cases[i].least);
    printf("\n%-6s %-5s %4s %10s %10s %9s%s\n", "stored", "work", "r", "sweep ms", "roof ms", "fraction",
           chosen.blas ? "    blas ms  ratio" : "");
    for (int i = 0; i < case_count; i++) {
        const timed *c = &cases[i];
        if (c->run != run_sweep) continue;
        const double area = (double)chosen.m * (double)chosen.n;
        const double rate = 2 * pow(GEMM_SIDE, 3) / seconds_of(run_gemm, c->work, 0);
        const double roof =
            fmax(area * (double)armilla_type_size(c->stored) / bandwidth, 4 * area * (double)c->r / rate);
        printf("%-6s %-5s %4lld %10.2f %10.2f %9.2f", armilla_type_word(c->stored), armilla_type_word(c->work),
               (long long)c->r, 1e3 * c->least, 1e3 * roof, roof / c->least);
        const double blas = seconds_of(run_products, c->work, c->r);
        if (!isnan(blas)) printf(" %10.2f %6.2f", 1e3 * blas, blas / c->least);
        printf("\n");
    }
}

static void usage(void)
{
    fprintf(stderr,
            "usage: bench_roofline [--features M] [--samples N] [--ranks R,R,...] [--types f32,f64,u8,f16,bf16,i8]\n"
            "                      [--kernel NAME] [--threads T] [--repetitions K] [--blas] [--processor] [--gram]\n");
    exit(64);
}

static void parse(int count, char **words)
{
    for (int i = 1; i < count; i++) {
        const char *value = i + 1 < count ? words[i + 1] : NULL;
        if (strcmp(words[i], "--blas") == 0) {
            chosen.blas = true;
            continue;
        }
        if (strcmp(words[i], "--gram") == 0) {
            chosen.gram = true;
            continue;
        }
        if (strcmp(words[i], "--processor") == 0) {
            chosen.processor = true;
            continue;
        }
        if (!value) usage();
        if (strcmp(words[i], "--features") == 0)
            chosen.m = strtoll(value, NULL, 10);
        else if (strcmp(words[i], "--samples") == 0)
            chosen.n = strtoll(value, NULL, 10);
        else if (strcmp(words[i], "--threads") == 0)
            chosen.threads = strtoll(value, NULL, 10);
        else if (strcmp(words[i], "--repetitions") == 0)
            chosen.repetitions = strtoll(value, NULL, 10);
        else if (strcmp(words[i], "--ranks") == 0)
            chosen.ranks = value;
        else if (strcmp(words[i], "--types") == 0)
            chosen.types = value;
        else if (strcmp(words[i], "--kernel") == 0)
            chosen.kernel = value;
        else
            usage();
        i++;
    }
    if (chosen.m < 1 || chosen.n < 1 || chosen.repetitions < 1) usage();
    chosen.threads = armilla_threads_choose(chosen.threads);
}

int main(int count, char **words)
{
    parse(count, words);
    must(armilla_context_new(NULL, &context));
    must(armilla_call_enter(context, chosen.threads));
    armilla_kernels_pin(context, chosen.kernel);
    team = armilla_team_of(context, chosen.threads);
    add_case(run_read, ARMILLA_F64, ARMILLA_F64, 0, take(BUFFER_BYTES));
    add_gemm(ARMILLA_F32);
    add_gemm(ARMILLA_F64);
    for (int type = 0; type < ARMILLA_TYPE_COUNT; type++)
        if (is_wanted(armilla_type_word((armilla_type)type)))
            add_type((armilla_type)type, armilla_type_precision((armilla_type)type));
    for (int64_t k = 0; k < chosen.repetitions; k++)
        for (int i = 0; i < case_count; i++) {
            const double start = now();
            cases[i].run(&cases[i]);
            cases[i].least = fmin(cases[i].least, now() - start);
        }
    report();
    return 0;
}

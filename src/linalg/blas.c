/* BLAS and LAPACK, loaded at the first use, and run on one thread. What a process has loaded and the thread count of its
 * BLAS belong to the process, so state of the same reach is unavoidable here: the table of functions, written once, and a
 * counter. The first to enter saves and lowers the thread count, the last to leave puts it back, and a host program's
 * NumPy is not throttled. */
#include "linalg/blas.h"

#include "base/size.h"
#include "base/team.h"
#include "linalg/blas_open.h"
#include "linalg/dense.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

typedef struct thread_control {
    const char *get_name, *set_name;
    long saved;
    bool counts_long;   /* counts in long (BLIS' dim_t) rather than int */
    bool waits_forever; /* where a calling thread cannot have its buffer */
} thread_control;

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int64_t entered;
static int most_entered; /* threads of a call that has entered, and may call BLAS */
static bool loaded;
static thread_control controls[] = {
    {"openblas_get_num_threads", "openblas_set_num_threads", 0, false, true},
    {"bli_thread_get_num_threads", "bli_thread_set_num_threads", 0, true, false},
    {"MKL_Get_Max_Threads", "MKL_Set_Num_Threads", 0, false, false},
};

enum { CONTROLS = sizeof controls / sizeof controls[0] };

typedef union symbol {
    void *address;
    int (*get)(void);
    long (*get_long)(void);
    void (*set)(int);
    void (*set_long)(long);
} symbol;

static bool find_control(const thread_control *control, symbol *get, symbol *set)
{
    get->address = armilla_blas_symbol(control->get_name);
    set->address = armilla_blas_symbol(control->set_name);
    return get->address && set->address;
}

/* Threads that OpenBLAS starts when it is loaded, by its own rule. */
static int64_t openblas_threads(void)
{
    static const char *const variables[] = {"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"};
    const int64_t cores = armilla_threads_available();
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *text = getenv(variables[i]);
        const int64_t wanted = text ? strtoll(text, NULL, 10) : 0;
        if (wanted > 0) return armilla_min64(wanted, cores);
    }
    return cores;
}

/* OpenBLAS asks again and again, for ever, where memory for a buffer is refused. So where the address space of the
 * process has a limit, what it will take is asked for beforehand. Measured with 0.3.21: 50 MB for the libraries; a
 * buffer of 128 MB for every thread of its own and every thread that calls it; and the stacks. */
static armilla_status ask_for(armilla_context *context, bool libraries_too, int64_t threads)
{
    const int64_t code = 64 << 20, buffer = 128 << 20, stack = 8 << 20;
    const int64_t bytes = (libraries_too ? code : 0) + threads * (buffer + stack);
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return ARMILLA_OK;
    void *block = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED)
        return armilla_fail(context, ARMILLA_NO_MEMORY,
                            "out of memory: BLAS may take %lld MB of address space, and the limit of this process "
                            "(ulimit -v) does not leave it; raise the limit, or use " ARMILLA_FIELD(
                                "threads 1") " with "
                                             "OPENBLAS_NUM_THREADS=1",
                            (long long)(bytes >> 20));
    munmap(block, (size_t)bytes);
    return ARMILLA_OK;
}

static void put(const thread_control *control, const symbol *set, long threads)
{
    if (control->counts_long)
        set->set_long(threads);
    else
        set->set((int)threads);
}

/* Saves the thread counts and lowers them to 1; puts them back. */
static void lower_threads(void)
{
    symbol get, set;
    for (size_t i = 0; i < CONTROLS; i++)
        if (find_control(&controls[i], &get, &set)) {
            controls[i].saved = controls[i].counts_long ? get.get_long() : get.get();
            put(&controls[i], &set, 1);
        }
}

static void raise_threads(void)
{
    symbol get, set;
    for (size_t i = 0; i < CONTROLS; i++)
        if (find_control(&controls[i], &get, &set)) put(&controls[i], &set, controls[i].saved);
}

/* Under the guard. Calling threads that buffers were asked for stay so: OpenBLAS keeps its buffers. */
static armilla_status load(armilla_context *context, int threads)
{
    static int64_t callers;
    symbol get, set;
    armilla_status status = ARMILLA_OK;
    threads = threads < most_entered ? most_entered : threads;
    if (!loaded) {
        status = ask_for(context, true, openblas_threads() - 1 + threads);
        if (status == ARMILLA_OK) status = armilla_blas_open(context);
        if (status == ARMILLA_OK) callers = threads;
        loaded = status == ARMILLA_OK;
        if (loaded && entered > 0) lower_threads();
    }
    if (status != ARMILLA_OK || threads <= callers) return status;
    for (int i = 0; i < CONTROLS && status == ARMILLA_OK; i++)
        if (controls[i].waits_forever && find_control(&controls[i], &get, &set))
            status = ask_for(context, false, threads - callers);
    if (status == ARMILLA_OK) callers = threads;
    return status;
}

armilla_status armilla_blas_load(armilla_context *context, int threads)
{
    pthread_mutex_lock(&guard);
    const armilla_status status = load(context, threads);
    pthread_mutex_unlock(&guard);
    return status;
}

static armilla_status enter(armilla_context *context, int threads, bool loads)
{
    pthread_mutex_lock(&guard);
    const armilla_status status = loads || loaded ? load(context, threads) : ARMILLA_OK;
    if (status == ARMILLA_OK) {
        most_entered = threads < most_entered ? most_entered : threads;
        if (entered++ == 0 && loaded) lower_threads();
    }
    pthread_mutex_unlock(&guard);
    return status;
}

armilla_status armilla_blas_enter(armilla_context *context, int threads)
{
    return enter(context, threads, true);
}

armilla_status armilla_blas_enter_idle(armilla_context *context, int threads)
{
    return enter(context, threads, false);
}

void armilla_blas_leave(void)
{
    pthread_mutex_lock(&guard);
    if (--entered == 0) {
        most_entered = 0;
        if (loaded) raise_threads();
    }
    pthread_mutex_unlock(&guard);
}

/* BLAS on one thread. Its thread count belongs to the process, so a counter of the same reach is unavoidable here:
 * the first to enter saves and lowers it, the last to leave puts it back, and a host program's NumPy is not throttled.
 * The controls are looked up at run time, because which BLAS is linked is decided by the system. */
#include "linalg/dense.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

typedef struct thread_control {
    const char *get_name, *set_name;
    long saved;
    bool wide; /* counts in long (BLIS' dim_t) rather than int */
} thread_control;

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int64_t entered;
static thread_control controls[] = {
    {"openblas_get_num_threads", "openblas_set_num_threads", 0, false},
    {"bli_thread_get_num_threads", "bli_thread_set_num_threads", 0, true},
    {"MKL_Get_Max_Threads", "MKL_Set_Num_Threads", 0, false},
};

enum { CONTROLS = sizeof controls / sizeof controls[0] };

typedef union symbol {
    void *address;
    int (*get)(void);
    long (*get_wide)(void);
    void (*set)(int);
    void (*set_wide)(long);
} symbol;

static bool look_up(const thread_control *control, symbol *get, symbol *set)
{
    get->address = dlsym(RTLD_DEFAULT, control->get_name);
    set->address = dlsym(RTLD_DEFAULT, control->set_name);
    return get->address && set->address;
}

static void put(const thread_control *control, const symbol *set, long threads)
{
    if (control->wide)
        set->set_wide(threads);
    else
        set->set((int)threads);
}

void armilla_blas_enter(void)
{
    symbol get, set;
    pthread_mutex_lock(&guard);
    if (entered++ == 0)
        for (size_t i = 0; i < CONTROLS; i++)
            if (look_up(&controls[i], &get, &set)) {
                controls[i].saved = controls[i].wide ? get.get_wide() : get.get();
                put(&controls[i], &set, 1);
            }
    pthread_mutex_unlock(&guard);
}

void armilla_blas_leave(void)
{
    symbol get, set;
    pthread_mutex_lock(&guard);
    if (--entered == 0)
        for (size_t i = 0; i < CONTROLS; i++)
            if (look_up(&controls[i], &get, &set)) put(&controls[i], &set, controls[i].saved);
    pthread_mutex_unlock(&guard);
}

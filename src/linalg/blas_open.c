/* BLAS and LAPACK as the run-time linker finds them: by the names that programs linked with them would have recorded, so
 * that the system's alternatives and library paths decide what they are; by the names that they have elsewhere; and
 * last, OpenBLAS as the wheels of SciPy carry it, where a host program has it in its process. Each is asked for what those
 * before it did not have. */
#include "linalg/blas_open.h"

#include "linalg/fortran.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#ifdef __linux__
#include <link.h>
#endif

enum { LONGEST_NAME = 128, LONGEST_PATH = 4096 };

/* What SciPy's copy has before every name. Copies that count in 64 bits have an ending as well, and are not taken. */
static const char *const prefixes[] = {"", "scipy_"};

static void *find(void *handle, const char *name)
{
    char whole[LONGEST_NAME];
    void *found = NULL;
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0] && !found; i++) {
        (void)snprintf(whole, sizeof whole, "%s%s", prefixes[i], name);
        found = dlsym(handle, whole);
    }
    return found;
}

#ifdef ARMILLA_LINK_BLAS

#define LINKED(name) name,
armilla_blas_table armilla_blas = {ARMILLA_BLAS_LIST(LINKED)};

armilla_status armilla_blas_open(armilla_context *context)
{
    (void)context;
    return ARMILLA_OK;
}

void *armilla_blas_symbol(const char *name)
{
    return find(RTLD_DEFAULT, name);
}

#else

armilla_blas_table armilla_blas;
/* From cmake/Dependencies.cmake. */
static const char *const libraries[] = {ARMILLA_BLAS_LIBRARIES};
enum { LIBRARIES = sizeof libraries / sizeof libraries[0], IN_PROCESS = 4 };

#define NAME(name) #name,
static const char *const names[] = {ARMILLA_BLAS_LIST(NAME)};
enum { FUNCTIONS = sizeof names / sizeof names[0] };
_Static_assert(sizeof armilla_blas == FUNCTIONS * sizeof(void *), "the table holds one pointer for each name");

/* Libraries stay open: a table that was given out is never taken back, and some have started threads. */
static void *handles[LIBRARIES + IN_PROCESS];
static int opened;

/* OpenBLAS of other names in this process. */
static char paths[IN_PROCESS][LONGEST_PATH];
static int paths_found;

#ifdef __linux__
static int note_path(struct dl_phdr_info *info, size_t size, void *self)
{
    const char *slash = strrchr(info->dlpi_name, '/');
    (void)size;
    (void)self;
    if (!slash || !strstr(slash, "openblas") || strlen(info->dlpi_name) >= LONGEST_PATH) return 0;
    (void)snprintf(paths[paths_found++], LONGEST_PATH, "%s", info->dlpi_name);
    return paths_found == IN_PROCESS;
}

/* The paths alone: under the lock of that list nothing may be opened. */
static void look_in_process(void)
{
    paths_found = 0;
    (void)dl_iterate_phdr(note_path, NULL);
}
#else
static void look_in_process(void)
{
}
#endif

/* Functions that are still missing, from one library. Returns whether all are there. */
static bool take_from(void *handle, void *found[FUNCTIONS])
{
    bool whole = true;
    handles[opened++] = handle;
    for (int i = 0; i < FUNCTIONS; i++) {
        if (!found[i]) found[i] = find(handle, names[i]);
        whole = whole && found[i];
    }
    return whole;
}

static bool take_from_all(void *found[FUNCTIONS], char why[LONGEST_PATH])
{
    for (int i = 0; i < LIBRARIES; i++) {
        void *handle = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
        if (handle && take_from(handle, found)) return true;
        if (!handle && !*why) (void)snprintf(why, LONGEST_PATH, "%s", dlerror());
    }
    look_in_process();
    for (int i = 0; i < paths_found; i++) {
        void *handle = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
        if (handle && take_from(handle, found)) return true;
    }
    return false;
}

armilla_status armilla_blas_open(armilla_context *context)
{
    void *found[FUNCTIONS] = {NULL};
    char why[LONGEST_PATH] = "";
    opened = 0;
    if (!take_from_all(found, why)) {
        int missing = 0;
        while (missing < FUNCTIONS - 1 && found[missing]) missing++;
        return armilla_fail(
            context, ARMILLA_NOT_BUILT,
            "BLAS and LAPACK cannot be loaded: %s%sno library here has %s; install the package "
            "libopenblas0 (Debian, Ubuntu; openblas elsewhere), or name the folder of such a library in "
            "LD_LIBRARY_PATH",
            why, *why ? "; " : "", names[missing]);
    }
    memcpy(&armilla_blas, found, sizeof armilla_blas); /* which POSIX promises for pointers of dlsym */
    return ARMILLA_OK;
}

void *armilla_blas_symbol(const char *name)
{
    void *found = NULL;
    for (int i = 0; i < opened && !found; i++) found = find(handles[i], name);
    return found;
}

#endif

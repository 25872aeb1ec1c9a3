/* For clang-tidy only, included before every source: it looks at one file at a time and so cannot know that
 * armilla_fail returns the status that it is given, and armilla_ranks_gather and armilla_ranks_agree a failure that they
 * are given. */
#include "base/ranks.h"

#define armilla_fail(context, status, ...) ((armilla_fail)((context), (status), __VA_ARGS__), (status))
#define armilla_ranks_gather(context, status, ...)                                                                     \
    ((status) == ARMILLA_OK ? (armilla_ranks_gather)((context), (status), __VA_ARGS__)                                 \
                            : ((void)(armilla_ranks_gather)((context), (status), __VA_ARGS__), (status)))
#define armilla_ranks_agree(context, slot, status)                                                                     \
    ((status) == ARMILLA_OK ? (armilla_ranks_agree)((context), (slot), (status))                                       \
                            : ((void)(armilla_ranks_agree)((context), (slot), (status)), (status)))

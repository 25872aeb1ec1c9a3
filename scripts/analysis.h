/* For clang-tidy only, included before every source: it looks at one file at a time and so cannot know that
 * armilla_fail returns the status that it is given. */
#include "base/context.h"

#define armilla_fail(context, status, ...) ((armilla_fail)((context), (status), __VA_ARGS__), (status))

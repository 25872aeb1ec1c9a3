/* For clang-tidy only, included before every source of the command: it looks at one file at a time and so cannot know
 * that fail returns the status that it is given. */
#include "command.h"

#define fail(session, status, ...) ((fail)((session), (status), __VA_ARGS__), (status))

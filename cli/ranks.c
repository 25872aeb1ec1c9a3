/* A command that several ranks run together. */
#include "ranks.h"

#include "signals.h"

#include <stdio.h>
#include <string.h>

void ranks_mute_output(cli_session *session)
{
    session->silent = session->messages.silent = true;
    if (!freopen("/dev/null", "w", stdout)) (void)fclose(stdout);
}

armilla_status ranks_agree(cli_session *session, armilla_status status)
{
    int code = session->exit ? session->exit : signals_exit();
    if (!session->ranks || !session->context) return status;
    (void)armilla_context_set_ranks(session->context, session->ranks);
    status = armilla_context_agree(session->context, status, session->error[0] ? session->error : NULL, &code);
    session->exit = code;
    if (status != ARMILLA_OK)
        snprintf(session->error, sizeof session->error, "%s", armilla_context_error(session->context));
    return status;
}

/* Options that may differ between ranks. */
static bool may_differ(const char *word, size_t length)
{
    static const char *const own[] = {"--threads", "--memory", "--quiet"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strlen(own[i]) == length && strncmp(word, own[i], length) == 0) return true;
    return false;
}

/* A hash of the command and its options in any order. Their values may differ, such as names of local files; those that
 * must not are compared by the library. */
static uint64_t token_of(char *const *arguments)
{
    uint64_t token = 0;
    for (int i = 0; arguments[i]; i++) {
        const size_t length = strcspn(arguments[i], "=");
        uint64_t word = 14695981039346656037U; /* FNV-1a */
        if (i > 0 && (strncmp(arguments[i], "--", 2) != 0 || may_differ(arguments[i], length))) continue;
        for (size_t k = 0; k < length; k++) word = (word ^ (unsigned char)arguments[i][k]) * 1099511628211U;
        token += word;
    }
    return token;
}

armilla_status ranks_compare(cli_session *session, char *const *arguments)
{
    const armilla_ranks *ranks = session->ranks;
    const uint64_t own = token_of(arguments);
    uint64_t first = own;
    armilla_status status = ARMILLA_OK;
    if (!ranks || !ranks->broadcast) return ARMILLA_OK;
    if (ranks->broadcast(ranks->self, &first, sizeof first) != 0)
        return fail(session, ARMILLA_IO_ERROR, "rank 0 cannot be reached; start all again");
    if (first != own)
        status = fail(session, ARMILLA_BAD_ARGUMENT,
                      "rank %d was given another command or other options than rank 0; give all ranks the same",
                      ranks->rank);
    return ranks_agree(session, status);
}

/* Signal handlers touch nothing but two flags: everything else happens in the callback of the fit. */
#include "signals.h"

#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t caught, deferred;

static void on_signal(int number)
{
    if (!deferred) _exit(128 + number);
    caught = number;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
}

/* Also where the shell started us with INT ignored, as it does for background jobs of scripts: a fit that is asked
 * to stop should save what it has. */
void signals_install(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL); /* a lost terminal asks for no less */
    /* Writing then fails with an error that can be told. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

void signals_defer(void)
{
    deferred = 1;
}

int signals_exit(void)
{
    return caught ? 128 + (int)caught : 0;
}

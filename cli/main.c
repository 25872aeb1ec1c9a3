/* The armilla command: a table of subcommands, and the way from arguments to an exit status. Standard output carries
 * data or JSON only; the one place that prints errors and exits is the end of this file. */
#include "command.h"
#include "guess.h"
#include "help.h"
#include "manual.h"
#include "outputs.h"
#include "parse.h"
#include "ranks.h"
#include "reading.h"
#include "settings.h"
#include "signals.h"
#include "streams.h"
#include "watch.h"
#include "wording.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { LEAST_STACK = 1 << 20 };

const cli_command *const cli_commands[] = {
    &command_fit,       &command_transform, &command_reconstruct, &command_cluster,
    &command_neighbors, &command_predict,   &command_score,       &command_top,
    &command_compare,   &command_check,     &command_info,        &command_list,
    &command_convert,   &command_plot,      &command_demo,        NULL,
};

static armilla_status show_help(cli_session *session, char *const *arguments);
static armilla_status show_version(cli_session *session, char *const *arguments);

/* Words that stand where a command does but are none. */
static const struct {
    const char *word;
    armilla_status (*run)(cli_session *session, char *const *arguments);
} words[] = {{"--help", show_help}, {"-h", show_help}, {"help", show_help}, {"--version", show_version}};

armilla_status fail(cli_session *session, armilla_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(session->error, sizeof session->error, format, arguments);
    va_end(arguments);
    return status;
}

armilla_status about(cli_session *session, const char *path, armilla_status status)
{
    const char *message = armilla_context_error(session->context);
    if ((status != ARMILLA_BAD_DATA && status != ARMILLA_NO_MEMORY) || strncmp(message, path, strlen(path)) == 0)
        return status;
    return fail(session, status, "%s: %s", path, message);
}

double now(void)
{
    struct timespec time = {0};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static armilla_status find_command(cli_session *session, const char *name, const cli_command **found)
{
    cli_guess guess;
    guess_begin(&guess, name);
    for (const cli_command *const *row = cli_commands; *row; row++) {
        if (strcmp((*row)->name, name) == 0) {
            *found = *row;
            return ARMILLA_OK;
        }
        guess_offer(&guess, "", (*row)->name);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) guess_offer(&guess, "", words[i].word);
    return fail(session, ARMILLA_BAD_ARGUMENT, "unknown %s '%s'%s (see armilla --help)",
                name[0] == '-' ? "option" : "command", name, guess.hint);
}

static armilla_status print_manual(cli_session *session, const char *name)
{
    const cli_command *found = NULL;
    if (!name) {
        manual_all(stdout, cli_commands);
        return ARMILLA_OK;
    }
    const armilla_status status = find_command(session, name, &found);
    if (status == ARMILLA_OK) manual_command(stdout, found);
    return status;
}

static armilla_status print_completion(cli_session *session, const char *shell)
{
    if (shell && completion_print(stdout, shell, cli_commands)) return ARMILLA_OK;
    return fail(session, ARMILLA_BAD_ARGUMENT, "help --completion: give one of bash, zsh, fish");
}

/* What is made for others than the reader: pages for man, words for shells. */
static const struct {
    const char *word;
    armilla_status (*print)(cli_session *session, const char *argument);
} forms[] = {{"--man", print_manual}, {"--completion", print_completion}};

static armilla_status show_help(cli_session *session, char *const *arguments)
{
    const cli_command *found = NULL;
    for (size_t i = 0; arguments[0] && i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i].word, arguments[0]) == 0) return forms[i].print(session, arguments[1]);
    if (!arguments[0]) {
        help_all(stdout, cli_commands);
        return ARMILLA_OK;
    }
    const armilla_status status = find_command(session, arguments[0], &found);
    if (status != ARMILLA_OK) return status;
    if (arguments[1])
        return fail(session, ARMILLA_BAD_ARGUMENT, "'%s' is one argument too many; usage: armilla help COMMAND",
                    arguments[1]);
    help_command(stdout, found);
    return ARMILLA_OK;
}

static armilla_status show_version(cli_session *session, char *const *arguments)
{
    if (arguments[0])
        return fail(session, ARMILLA_BAD_ARGUMENT, "'%s' is one argument too many; usage: armilla --version",
                    arguments[0]);
    printf("armilla %s\n", armilla_version());
    return ARMILLA_OK;
}

static armilla_status run_command(cli_session *session, char *const *arguments)
{
    const cli_command *found = NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, arguments[0]) == 0) return words[i].run(session, arguments + 1);
    if (session->ranks) (void)armilla_context_set_ranks(session->context, NULL);
    armilla_status status = find_command(session, arguments[0], &found);
    if (status != ARMILLA_OK) return status;
    if (parse_wants_help(arguments + 1)) {
        help_command(stdout, found);
        return ARMILLA_OK;
    }
    session->command = found;
    cli_settings *settings = session->settings = calloc(1, found->settings_size);
    if (!settings) return fail(session, ARMILLA_NO_MEMORY, "out of memory");
    status = parse_arguments(session, arguments + 1);
    session->messages.quiet = settings->quiet;
    if (!settings->quiet && !session->silent) signals_report();
    if (status != ARMILLA_OK) return status;
    armilla_context_set_memory(session->context, settings->memory > 0 ? settings->memory : ARMILLA_MEMORY_BY_INPUT);
    armilla_context_set_threads(session->context, (int)settings->threads);
    status = streams_open(session);
    if (status == ARMILLA_OK) status = outputs_choose_temporary(session, settings->out);
    if (status == ARMILLA_OK && session->ranks && !found->together && session->silent) return ARMILLA_OK;
    if (status == ARMILLA_OK && session->ranks && found->together)
        status = armilla_context_set_ranks(session->context, session->ranks);
    return status == ARMILLA_OK ? found->run(session) : status;
}

armilla_status run_inside(cli_session *outer, const cli_command *command, cli_settings *settings)
{
    cli_session inner = {.program = outer->program,
                         .command = command,
                         .context = outer->context,
                         .messages = outer->messages,
                         .settings = settings};
    settings_share(command, settings);
    (void)armilla_context_expect(outer->context, NULL);
    inner.messages.quiet = settings->quiet;
    armilla_context_set_log(outer->context, message_log, &inner.messages);
    armilla_context_set_watch(outer->context, watch_call, &inner.messages);
    const armilla_status status = command->run(&inner);
    armilla_context_set_log(outer->context, message_log, &outer->messages);
    armilla_context_set_watch(outer->context, watch_call, &outer->messages);
    memcpy(outer->error, inner.error, sizeof outer->error);
    outer->exit = inner.exit;
    armilla_data_free(inner.unmatched);
    armilla_data_free(inner.source);
    reading_forget(&inner);
    return status;
}

/* A standard stream that the caller closed would be the next file we open; the wrong mode makes its use an error. */
static void occupy_standard_streams(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (fcntl(stream, F_GETFD) == -1) (void)!open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* The exit status, after whatever went wrong has been reported. */
static int finish(cli_session *session, armilla_status status)
{
    message_erase(&session->messages);
    const int signalled = session->ranks ? session->exit : signals_exit();
    if (status == ARMILLA_STOPPED && signalled) {
        message_line(&session->messages, "stopped   before there was a result: nothing is written");
        return signalled;
    }
    if (status != ARMILLA_OK) {
        const char *message = session->error[0] ? session->error : armilla_context_error(session->context);
        message_error(&session->messages, "%s", *message ? message : armilla_status_text(status));
        return armilla_status_exit(status);
    }
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return session->exit ? session->exit : signals_exit();
    message_error(&session->messages, "standard output: %s; what was printed is incomplete",
                  errno ? strerror(errno) : "writing failed");
    return armilla_status_exit(ARMILLA_IO_ERROR);
}

static int run_program(int count, char **arguments, const armilla_ranks *ranks)
{
    cli_session session = {.program = count > 0 ? arguments[0] : "armilla", .arguments = arguments};
    if (ranks && ranks->count > 1) session.ranks = ranks;
    occupy_standard_streams();
    signals_install();
    message_begin(&session.messages);
    if (session.ranks && session.ranks->rank > 0) ranks_mute_output(&session);
    if (count < 2) {
        if (!session.silent) help_usage(stderr);
        return armilla_status_exit(ARMILLA_BAD_ARGUMENT);
    }
    armilla_status status = armilla_context_new(NULL, &session.context);
    if (status == ARMILLA_OK) {
        armilla_context_set_log(session.context, message_log, &session.messages);
        armilla_context_set_wording(session.context, wording_flag, NULL);
        armilla_context_set_watch(session.context, watch_call, &session.messages);
        status = ranks_compare(&session, arguments + 1);
        if (status == ARMILLA_OK) status = run_command(&session, arguments + 1);
    } else {
        (void)fail(&session, status, "out of memory");
    }
    const int code = finish(&session, ranks_agree(&session, status));
    if (session.ranks) signals_settle(code);
    armilla_data_free(session.unmatched);
    armilla_data_free(session.source);
    reading_forget(&session);
    free(session.settings);
    armilla_context_free(session.context);
    return code;
}

/* What a program is started with, and ends with. */
typedef struct start {
    int count;
    char **arguments;
    const armilla_ranks *ranks;
    int code;
} start;

static void *run_on_thread(void *argument)
{
    start *own = argument;
    own->code = run_program(own->count, own->arguments, own->ranks);
    return NULL;
}

/* OpenBLAS wants tens of kilobytes on the stack of its caller, which a small `ulimit -s` does not leave. */
static bool has_small_stack(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < LEAST_STACK;
}

/* Everything runs on a thread with enough stack where this one has too little. */
int cli_main(int count, char **arguments, const armilla_ranks *ranks)
{
    start own = {count, arguments, ranks, 0};
    pthread_attr_t attributes;
    pthread_t thread;
    if (!has_small_stack() || pthread_attr_init(&attributes) != 0) return run_program(count, arguments, ranks);
    const bool made = pthread_attr_setstacksize(&attributes, LEAST_STACK) == 0 &&
                      pthread_create(&thread, &attributes, run_on_thread, &own) == 0;
    pthread_attr_destroy(&attributes);
    if (!made) return run_program(count, arguments, ranks);
    pthread_join(thread, NULL);
    return own.code;
}

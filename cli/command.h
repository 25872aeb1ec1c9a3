/* What the commands share. A command is one file and one row: the row holds its words, its options and its function;
 * parsing, help and suggestions are driven by it. Functions return the library's status; the message about a
 * failure stands in the session (fail) or in the library's context, and main prints it. */
#ifndef ARMILLA_CLI_COMMAND_H
#define ARMILLA_CLI_COMMAND_H

#include "messages.h"

#include <armilla/armilla.h>

/* Tables that a command may take, its own among them. */
enum { OPTION_GROUPS = 3, OPTION_TABLES = OPTION_GROUPS + 1 };

/* What the command line of every command is parsed into. A command that takes more has a struct beside its table that
 * begins with this one. */
typedef struct cli_settings {
    const char *operands[2];
    const char *out;
    bool json, quiet, force;
    int64_t threads, memory;       /* 0: not given */
    uint64_t given[OPTION_TABLES]; /* which rows of its tables the command line has, a bit each in their order */
} cli_settings;

/* A table of options that several commands take: what it fills is a member of their settings. */
typedef struct cli_group {
    const char *title; /* of its options in help */
    const armilla_option *(*table)(void);
    void (*defaults)(void *options);
    void (*share)(const void *options, cli_settings *settings); /* what every command has under one name; or NULL */
} cli_group;

/* The shape of data: samples, features, and the stored entries of sparse ones, else 0. */
typedef struct cli_shape {
    int64_t samples, features, entries;
} cli_shape;

typedef struct cli_session {
    const char *program;               /* as it was called, */
    char *const *arguments;            /* and with what */
    const struct cli_command *command; /* that is run; NULL before */
    int64_t rank;                      /* of the model that it has opened; 0: none */
    armilla_context *context;
    cli_messages messages;
    cli_settings *settings;        /* the command's; NULL before */
    armilla_data *source;          /* what the data of a command were chosen from; freed at the end */
    armilla_data *unmatched;       /* what they were before their features were put into a model's order */
    const char *format;            /* of the data that were read last; NULL: none */
    int64_t columns;               /* of the table that they are; 0: they are none */
    struct cli_recalled *recalled; /* how a model's data were read (reading.h); NULL: nothing is known */
    const armilla_ranks *ranks;    /* that run the command together; NULL: this process alone */
    bool silent;                   /* and this is not the first of them */
    int exit; /* of a command that did not fail: 0, 1 where `check` differs, 130 or 143 after a signal */
    char error[1024];
} cli_session;

typedef struct cli_command {
    const char *name;
    const char *synopsis; /* what follows the name */
    const char *meaning;
    const char *operands[2];             /* their names, NULL past the last */
    size_t required;                     /* how many of them must be given */
    const char *(*choice)(size_t index); /* the first operand must be one of these; NULL: anything */
    /* What is said of a word that is none of them; NULL, or where it returns OK: the choices. */
    armilla_status (*refuse)(cli_session *session, const char *word);
    bool writes;                   /* its second operand is an output */
    bool together;                 /* ranks run it together; else the first one does */
    size_t settings_size;          /* of its settings, which begin with cli_settings */
    const armilla_option *options; /* for these; ends with a row whose name is NULL */
    struct {
        const cli_group *group; /* NULL past the last */
        size_t offset;          /* of what it fills, in the settings */
    } groups[OPTION_GROUPS];
    size_t input, output; /* offsets of paths beside the operands and --out that may be -; 0: none */
    void (*defaults)(cli_settings *settings); /* of what is not 0, nor in a table; NULL: nothing */
    const char *notes;                        /* shown below the options by --help */
    armilla_status (*run)(cli_session *session);
    /* Announces what follows when data of that shape have been read (announcing.h); NULL: nothing that takes long. */
    void (*expect)(cli_session *session, const cli_shape *shape);
} cli_command;

extern const cli_command command_fit, command_transform, command_reconstruct, command_check, command_info, command_list,
    command_demo, command_convert, command_cluster, command_score, command_plot, command_neighbors, command_top,
    command_predict, command_compare;

/* All of them, and a NULL behind. */
extern const cli_command *const cli_commands[];

/* The program: its arguments, and the ranks that run it together; NULL: this process alone. Returns the exit status. */
int cli_main(int count, char **arguments, const armilla_ranks *ranks);

/* Puts the message into the session and returns status. */
armilla_status fail(cli_session *session, armilla_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Runs another command with these settings, which settings_default began. Its message about a failure and its exit
 * status become those of the session. */
armilla_status run_inside(cli_session *outer, const cli_command *command, cli_settings *settings);

/* Names the file in front of the library's message where data are bad or too large: the library knows numbers, not where they came
 * from. Returns status. */
armilla_status about(cli_session *session, const char *path, armilla_status status);

/* A model; where the file is something else the message says what is to be given. */
armilla_status open_model(cli_session *session, const char *path, armilla_model **model);

/* Seconds of a clock that never goes back. */
double now(void);

/* A function, static or extern, of that name that has these words, as the choices of an option. */
#define OPTION_WORDS(linkage, called, ...)                                                                             \
    linkage const char *called(size_t index)                                                                           \
    {                                                                                                                  \
        static const char *const words[] = {__VA_ARGS__};                                                              \
        return index < sizeof words / sizeof *words ? words[index] : NULL;                                             \
    }

/* A row for a member of settings of that type. */
#define OPTION(word, what, type, member)                                                                               \
    ARMILLA_OPTION_ROW(word), .kind = ARMILLA_OPTION_##what, .offset = offsetof(type, member)
#define OPTION_FLAG(word, type, member, text)                                                                          \
    {                                                                                                                  \
        OPTION(word, FLAG, type, member), .help = (text)                                                               \
    }
#define OPTION_PATH(word, type, member, called, text)                                                                  \
    {                                                                                                                  \
        OPTION(word, TEXT, type, member), .value = (called), .help = (text)                                            \
    }
/* Rows that several commands have. */
#define OPTION_OUT(called, text) OPTION_PATH("out", cli_settings, out, called, text)
#define OPTION_JSON OPTION_FLAG("json", cli_settings, json, "print one JSON object on standard output")
#define OPTION_QUIET OPTION_FLAG("quiet", cli_settings, quiet, "print errors only: no progress, warnings or summary")
#define OPTION_FORCE OPTION_FLAG("force", cli_settings, force, "replace outputs that exist")
#define OPTION_THREADS                                                                                                 \
    {                                                                                                                  \
        OPTION("threads", INTEGER, cli_settings, threads), .low = 1, .high = 1024, .value = "N",                       \
                                                           .help = "threads (default: the cores this process may use)" \
    }
#define MEMORY_HELP                                                                                                     \
    "most memory for data, codes and all else, such as 512M or 16G; what does not fit is read piece by piece, or kept " \
    "in a temporary file; otherwise what is free"
#define OPTION_MEMORY                                                                                                  \
    {                                                                                                                  \
        OPTION("memory", SIZE, cli_settings, memory), .value = "LIMIT", .help = MEMORY_HELP                            \
    }
#define OPTION_END                                                                                                     \
    {                                                                                                                  \
        .name = NULL                                                                                                   \
    }

#endif

/* What the commands share. A command is one file and one row: the row holds its words, its options and its function;
 * parsing, help and suggestions are driven by it. Functions return the library's status; the message about a
 * failure stands in the session (fail) or in the library's context, and main prints it. */
#ifndef ARMILLA_CLI_COMMAND_H
#define ARMILLA_CLI_COMMAND_H

#include "messages.h"

#include <armilla/armilla.h>

/* What options and operands are parsed into: one struct for all commands, each fills what its table names. */
typedef struct cli_settings {
    armilla_options fit;
    /* Which rows of these tables the command line has, a bit each in their order. */
    uint64_t fit_given, reading_given, cluster_given;
    armilla_cluster_options cluster;
    armilla_neighbors_options neighbors;
    armilla_checkpoint checkpoint; /* of fit */
    const char *operands[2];
    const char *out, *trace, *format, *samples, *array, *labels, *label_column, *name_column, *separator, *header,
        *decimal, *to, *to_samples, *truth, *on, *prepare, *queries;
    const char *feature_names, *sample_names, *label_array, *missing_features, *ignore_columns;
    const char *model_out;                               /* of cluster */
    const char *data, *clusters, *atoms, *only_clusters; /* of top; data of compare too */
    int64_t count;
    const char *kind, *title, *images, *components;
    const char *folder; /* --data of the demos */
    int64_t seeds;
    bool no_pictures, globe;
    armilla_selection keep;
    bool json, quiet, force, dry_run, names;
    const char *spill; /* set by the command: text that does not fit in memory is read beside this output */
    bool keep_missing; /* set by the command: missing values are what it tells about */
} cli_settings;

/* Of data: samples, features, and what is stored of sparse ones, else 0. */
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
    cli_settings settings;
    armilla_data *source;          /* what the data of a command were chosen from; freed at the end */
    armilla_data *unmatched;       /* what they were before their features were put into a model's order */
    const char *format;            /* of the data that were read last; NULL: none */
    int64_t columns;               /* of the table that they are; 0: they are none */
    struct cli_recalled *recalled; /* how a model's data were read (reading.h); NULL: nothing is known */
    const armilla_ranks *ranks;    /* that run the command together; NULL: this process alone */
    bool silent;                   /* and this is not the first of them */
    int exit;              /* of a command that did not fail: 0, 1 where `check` differs, 130 or 143 after a signal */
    armilla_scores scores; /* of the last clustering whose classes are known */
    char error[1024];
} cli_session;

typedef struct cli_command {
    const char *name;
    const char *synopsis; /* what follows the name */
    const char *meaning;
    const char *operands[2];             /* their names, NULL past the last */
    size_t required;                     /* how many of them must be given */
    const char *(*choice)(size_t index); /* the first operand must be one of these; NULL: anything */
    bool clusters;                       /* takes the library's options of clustering too */
    bool compares;                       /* and those of neighbours */
    bool fits;                           /* takes the library's option table too */
    bool reads;                          /* takes the options of reading.h too */
    bool writes;                         /* its second operand is an output */
    bool together;                       /* ranks run it together; else the first one does */
    const armilla_option *options;       /* for settings; ends with a row whose name is NULL */
    const char *notes;                   /* shown below the options by --help */
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

/* Runs another command with these settings, which parse_defaults began. Its message about a failure, its exit status and
 * its scores become those of the session. */
armilla_status run_inside(cli_session *outer, const cli_command *command, const cli_settings *settings);

/* Names the file in front of the library's message where data are bad or too large: the library knows numbers, not where they came
 * from. Returns status. */
armilla_status about(cli_session *session, const char *path, armilla_status status);

/* A data file, read as --samples and the options of reading.h say; *seconds (may be NULL) is how long that took. */
armilla_status open_data(cli_session *session, const char *path, armilla_data **data, double *seconds);
/* The same of data that a model is applied to: read as those of its fit, and with its features in its order. */
armilla_status open_for_model(cli_session *session, const armilla_model *model, const char *path, armilla_data **data);

/* What the columns of a text table hold, read as the settings say. */
armilla_status open_table(cli_session *session, const char *path, armilla_table_facts **facts);
/* A model; where the file is something else the message says what is to be given. */
armilla_status open_model(cli_session *session, const char *path, armilla_model **model);

/* Puts *data's features into the model's order, by name, as --missing-features says; the session keeps what they were. */
armilla_status match_features(cli_session *session, const armilla_model *model, const char *path, armilla_data **data);

/* Whether --samples says that a sample is a column. */
bool samples_in_columns(const cli_session *session);

/* Seconds of a clock that never goes back. */
double now(void);

/* The formats that are written and the two orientations, as armilla_option's choice wants them. */
const char *written_choice(size_t index);
const char *samples_choice(size_t index);
const char *missing_choice(size_t index);

/* Rows that several commands have. */
#define OPTION_FLAG(word, member, text)                                                                                \
    {                                                                                                                  \
        ARMILLA_OPTION_ROW(word), .kind = ARMILLA_OPTION_FLAG, .offset = offsetof(cli_settings, member),               \
                                  .help = (text)                                                                       \
    }
#define OPTION_PATH(word, member, called, text)                                                                        \
    {                                                                                                                  \
        ARMILLA_OPTION_ROW(word), .kind = ARMILLA_OPTION_TEXT, .offset = offsetof(cli_settings, member),               \
                                  .value = (called), .help = (text)                                                    \
    }
#define OPTION_JSON OPTION_FLAG("json", json, "print one JSON object on standard output")
#define OPTION_QUIET OPTION_FLAG("quiet", quiet, "print errors only: no progress, warnings or summary")
#define OPTION_FORCE OPTION_FLAG("force", force, "replace outputs that exist")
#define OPTION_NAMES                                                                                                   \
    OPTION_FLAG("names", names,                                                                                        \
                "labels beside the names of the samples, in any file and on standard output (not in --json)")
#define OPTION_MISSING_FEATURES                                                                                        \
    {                                                                                                                  \
        ARMILLA_OPTION_ROW("missing-features"), .kind = ARMILLA_OPTION_WORD,                                           \
                                                .offset = offsetof(cli_settings, missing_features), .preset = "error", \
                                                .choice = missing_choice, .value = "error|zero",                       \
                                                .help = "what becomes of features that the model has and the data do " \
                                                        "not, by name: an error, or zeros"                             \
    }
#define OPTION_THREADS                                                                                                 \
    {                                                                                                                  \
        ARMILLA_OPTION_ROW("threads"), .kind = ARMILLA_OPTION_INTEGER, .offset = offsetof(cli_settings, fit.threads),  \
                                       .low = 1, .high = 1024, .value = "N",                                           \
                                       .help = "threads (default: the cores this process may use)"                     \
    }
#define MEMORY_HELP                                                                                                     \
    "most memory for data, codes and all else, such as 512M or 16G; what does not fit is read piece by piece, or kept " \
    "in a temporary file; otherwise what is free"
#define OPTION_MEMORY                                                                                                  \
    {                                                                                                                  \
        ARMILLA_OPTION_ROW("memory"), .kind = ARMILLA_OPTION_SIZE, .offset = offsetof(cli_settings, fit.memory),       \
                                      .value = "LIMIT", .help = MEMORY_HELP                                            \
    }
#define OPTION_END                                                                                                     \
    {                                                                                                                  \
        .name = NULL                                                                                                   \
    }

#endif

/* What people read: everything here goes to standard error. Errors are one line each, whatever is in them. */
#ifndef ARMILLA_CLI_MESSAGES_H
#define ARMILLA_CLI_MESSAGES_H

#include <armilla/armilla.h>

#include <stdio.h>

typedef struct cli_messages {
    bool quiet;
    bool silent;   /* nothing at all: another process reports */
    bool terminal; /* standard error is one that can erase a line */
    bool colour;
    bool progress_shown; /* a progress line stands on the terminal */
    bool stopping;       /* and says that the end is near */
    double shown;        /* clock of the last one */
    char described[256]; /* what iterations have to tell (watch.h) */
    char input[64];      /* the path of standard input, where that is an operand (streams.h); else "" */
    const char *reading; /* the file that is being read, or NULL */
    /* The converted file that is read, and the original file; NULL: none was converted. */
    const char *converted, *converted_from;
} cli_messages;

/* Looks at the terminal and at NO_COLOR. */
void message_begin(cli_messages *messages);

/* "armilla: message" */
void message_error(cli_messages *messages, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* text = the number with so many digits behind the point, or "undefined" where it is none: people never see nan. */
enum { MESSAGE_FIGURE = 64 };
void message_figure(double value, int digits, char text[MESSAGE_FIGURE]);
/* A line of a summary; nothing under --quiet. */
void message_line(cli_messages *messages, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The library's log: warnings become "armilla: warning: message"; nothing under --quiet. */
void message_log(void *messages, armilla_log_level level, const char *message);

/* Shows text in place of the last progress line, cut to the terminal's width; erase removes it. */
void message_progress(cli_messages *messages, const char *text);
void message_erase(cli_messages *messages);
/* An angle as people read it. */
double message_degrees(double radians);
/* What is left: "45 s", "12 min", "1 h 05 min"; "?" where seconds < 0. */
void message_seconds(double seconds, char *buffer, size_t size);

/* text as one word of a shell command, for lines that a reader may copy; a path is never taken for an option. */
void message_put_word(FILE *stream, const char *text);
void message_put_path(FILE *stream, const char *path);
/* The path in a buffer, which is returned. */
const char *message_quote(const char *path, char *buffer, size_t size);

/* The few lines that a fit ends with. */
void message_summary(cli_messages *messages, const armilla_model *model, const armilla_options *options);

#endif

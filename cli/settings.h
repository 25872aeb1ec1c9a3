/* The settings of a command, by its row: which tables there are, what they fill, and what was given. */
#ifndef ARMILLA_CLI_SETTINGS_H
#define ARMILLA_CLI_SETTINGS_H

#include "command.h"

typedef struct option_table {
    const char *title;
    const armilla_option *rows;
    size_t offset; /* of what they fill, in the settings of the command */
} option_table;

/* The tables of a command, its own last; returns how many. */
size_t settings_tables(const cli_command *command, option_table tables[OPTION_TABLES]);
/* What stands at that offset of a command's settings. */
void *settings_at(cli_settings *settings, size_t offset);

/* What a command does where nothing is given: settings are command->settings_size bytes. */
void settings_default(const cli_command *command, cli_settings *settings);
/* When all is given: what the groups' tables say of all commands becomes common. */
void settings_share(const cli_command *command, cli_settings *settings);

/* What the group has filled, and a bit for each row of its table that was given; NULL where the command does not take it. */
void *settings_of_group(const cli_session *session, const cli_group *group);
uint64_t *settings_given(const cli_session *session, const cli_group *group);
/* Whether the group's option of that name was given. */
bool settings_is_given(const cli_session *session, const cli_group *group, const char *name);

/* The library's tables; that of reading is in reading.h. */
extern const cli_group group_fit, group_cluster, group_neighbors;

/* The options of a fit, of a command that takes them. */
armilla_options *settings_fit(const cli_session *session);

#endif

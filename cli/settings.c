/* Settings: blocks of memory that are laid out by the commands, each beside its table, and filled by the tables. */
#include "settings.h"

#include <string.h>

size_t settings_tables(const cli_command *command, option_table tables[OPTION_TABLES])
{
    size_t count = 0;
    for (; count < OPTION_GROUPS && command->groups[count].group; count++) {
        const cli_group *group = command->groups[count].group;
        tables[count] = (option_table){group->title, group->table(), command->groups[count].offset};
    }
    tables[count] = (option_table){count > 0 ? "other " : "", command->options, 0};
    return count + 1;
}

void *settings_at(cli_settings *settings, size_t offset)
{
    return (char *)settings + offset;
}

void settings_default(const cli_command *command, cli_settings *settings)
{
    memset(settings, 0, command->settings_size);
    for (size_t g = 0; g < OPTION_GROUPS && command->groups[g].group; g++)
        command->groups[g].group->defaults(settings_at(settings, command->groups[g].offset));
    if (command->defaults) command->defaults(settings);
    armilla_option_presets(command->options, settings);
}

void settings_share(const cli_command *command, cli_settings *settings)
{
    for (size_t g = 0; g < OPTION_GROUPS && command->groups[g].group; g++)
        if (command->groups[g].group->share)
            command->groups[g].group->share(settings_at(settings, command->groups[g].offset), settings);
}

/* The place of the group among those of the session's command; OPTION_GROUPS where it is none. */
static size_t find(const cli_session *session, const cli_group *group)
{
    size_t g = 0;
    while (g < OPTION_GROUPS && session->command->groups[g].group != group) g++;
    return g;
}

void *settings_of_group(const cli_session *session, const cli_group *group)
{
    const size_t g = find(session, group);
    return g < OPTION_GROUPS ? settings_at(session->settings, session->command->groups[g].offset) : NULL;
}

uint64_t *settings_given(const cli_session *session, const cli_group *group)
{
    const size_t g = find(session, group);
    return g < OPTION_GROUPS ? &session->settings->given[g] : NULL;
}

bool settings_is_given(const cli_session *session, const cli_group *group, const char *name)
{
    const uint64_t *given = settings_given(session, group);
    uint64_t left = given ? *given : 0;
    for (const armilla_option *row = group->table(); row->name; row = armilla_option_next(row), left >>= 1)
        if (strcmp(row->name, name) == 0) return left & 1;
    return false;
}

static void default_fit(void *options)
{
    armilla_options_default(options);
}

static void default_cluster(void *options)
{
    armilla_cluster_options_default(options);
}

static void default_neighbors(void *options)
{
    armilla_neighbors_options_default(options);
}

static void share_fit(const void *options, cli_settings *settings)
{
    const armilla_options *fit = options;
    settings->threads = fit->threads;
}

const cli_group group_fit = {
    .title = "factorization ", .table = armilla_option_table, .defaults = default_fit, .share = share_fit};
const cli_group group_cluster = {
    .title = "clustering ", .table = armilla_cluster_option_table, .defaults = default_cluster};
const cli_group group_neighbors = {
    .title = "neighbours ", .table = armilla_neighbors_option_table, .defaults = default_neighbors};

armilla_options *settings_fit(const cli_session *session)
{
    return settings_of_group(session, &group_fit);
}

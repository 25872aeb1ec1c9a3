/* Completion for shells: the words of commands, options and values come from the tables, so that they cannot differ
 * from what is parsed. */
#include "manual.h"

#include "help.h"
#include "settings.h"
#include "wording.h"

#include <string.h>

/* What follows an option. */
typedef enum cli_value { NOTHING, CHOICE, FILE_NAME, ANYTHING } cli_value;

static cli_value value_of(const armilla_option *row)
{
    if (row->kind == ARMILLA_OPTION_FLAG) return NOTHING;
    if (row->choice && !row->open) return CHOICE;
    const char *value = row->value ? row->value : "";
    return strstr(value, "FILE") || strstr(value, "DIR") || strchr(value, '.') ? FILE_NAME : ANYTHING;
}

/* Calls the function for every option of the command. */
static void each_option(FILE *stream, const cli_command *command,
                        void (*print)(FILE *stream, const cli_command *command, const armilla_option *row))
{
    option_table tables[OPTION_TABLES];
    const size_t count = settings_tables(command, tables);
    for (size_t t = 0; t < count; t++)
        for (const armilla_option *row = tables[t].rows; row->name; row = armilla_option_next(row))
            print(stream, command, row);
}

static void put_choices(FILE *stream, const char *(*choice)(size_t index))
{
    for (size_t i = 0; choice(i); i++) fprintf(stream, "%s%s", i ? " " : "", choice(i));
}

static void put_names(FILE *stream, const cli_command *const *commands)
{
    for (const cli_command *const *row = commands; *row; row++)
        fprintf(stream, "%s%s", row == commands ? "" : " ", (*row)->name);
}

/* Text inside single quotes, without the characters that mean something to the shell's own language of descriptions. */
static void put_plain(FILE *stream, const char *text)
{
    char worded[1024];
    for (text = wording_apply(text, worded, sizeof worded); *text; text++)
        fputc(strchr("'[]:\\", *text) ? ' ' : *text, stream);
}

static void bash_option(FILE *stream, const cli_command *command, const armilla_option *row)
{
    (void)command;
    fprintf(stream, " --%s", row->name);
}

static void bash_value(FILE *stream, const cli_command *command, const armilla_option *row)
{
    const cli_value value = value_of(row);
    if (value == NOTHING) return;
    fprintf(stream, "    '%s --%s') ", command->name, row->name);
    if (value == CHOICE || row->choice) {
        fputs("words='", stream);
        put_choices(stream, row->choice);
        fprintf(stream, "' files=%s", value == CHOICE ? "" : "yes");
    } else {
        fprintf(stream, "words= files=%s", value == FILE_NAME ? "yes" : "");
    }
    fputs(" ;;\n", stream);
}

static void bash_command(FILE *stream, const cli_command *command)
{
    fprintf(stream, "    '%s '*)\n        if [[ $current == -* ]]; then\n            words='", command->name);
    each_option(stream, command, bash_option);
    fputs(" --help' files=\n        else\n            words='", stream);
    if (command->choice) put_choices(stream, command->choice);
    fprintf(stream, "' files=%s\n        fi\n        ;;\n", command->operands[0] && !command->choice ? "yes" : "");
}

static void print_bash(FILE *stream, const cli_command *const *commands)
{
    fputs("# bash completion for armilla\n"
          "_armilla()\n"
          "{\n"
          "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= words= files= i\n"
          "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
          "        if [[ ${COMP_WORDS[i]} != -* ]]; then\n"
          "            command=${COMP_WORDS[i]}\n"
          "            break\n"
          "        fi\n"
          "    done\n"
          "    case \"$command $before\" in\n",
          stream);
    for (const cli_command *const *row = commands; *row; row++) each_option(stream, *row, bash_value);
    for (const cli_command *const *row = commands; *row; row++) bash_command(stream, *row);
    fputs("    'help '*) words='", stream);
    put_names(stream, commands);
    fputs("' ;;\n    ' '*) words='", stream);
    put_names(stream, commands);
    fputs(" help --help --version' ;;\n"
          "    esac\n"
          "    COMPREPLY=()\n"
          "    [[ -z $words ]] || mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
          "    if [[ -n $files ]]; then\n"
          "        compopt -o filenames 2>/dev/null\n"
          "        mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- \"$current\")\n"
          "    fi\n"
          "}\n"
          "complete -F _armilla armilla\n",
          stream);
}

static void zsh_option(FILE *stream, const cli_command *command, const armilla_option *row)
{
    const cli_value value = value_of(row);
    (void)command;
    fprintf(stream, " \\\n            '--%s[", row->name);
    put_plain(stream, row->help);
    fputc(']', stream);
    if (value != NOTHING) {
        fputc(':', stream);
        put_plain(stream, row->value ? row->value : "value");
        fputc(':', stream);
    }
    if (value == FILE_NAME) fputs("_files", stream);
    if (value == CHOICE) {
        fputc('(', stream);
        put_choices(stream, row->choice);
        fputc(')', stream);
    }
    fputc('\'', stream);
}

static void zsh_command(FILE *stream, const cli_command *command)
{
    fprintf(stream, "    (%s)\n        _arguments '--help[show help]'", command->name);
    each_option(stream, command, zsh_option);
    if (command->choice) {
        fputs(" \\\n            '1:name:(", stream);
        put_choices(stream, command->choice);
        fputs(")'", stream);
    } else {
        fputs(" \\\n            '*:file:_files'", stream);
    }
    fputs("\n        ;;\n", stream);
}

static void print_zsh(FILE *stream, const cli_command *const *commands)
{
    fputs("#compdef armilla\n_armilla() {\n    local -a commands\n    commands=(\n", stream);
    for (const cli_command *const *row = commands; *row; row++) {
        fprintf(stream, "        '%s:", (*row)->name);
        put_plain(stream, (*row)->meaning);
        fputs("'\n", stream);
    }
    fputs("        'help:what a command does and takes'\n    )\n"
          "    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi\n"
          "    (( CURRENT-- ))\n    shift words\n    case $words[1] in\n",
          stream);
    for (const cli_command *const *row = commands; *row; row++) zsh_command(stream, *row);
    fputs("    (help) _describe command commands ;;\n    esac\n}\n_armilla \"$@\"\n", stream);
}

static void fish_option(FILE *stream, const cli_command *command, const armilla_option *row)
{
    static const char *const how[] = {[NOTHING] = "", [CHOICE] = " -x", [FILE_NAME] = " -r -F", [ANYTHING] = " -x"};
    const cli_value value = value_of(row);
    fprintf(stream, "complete -c armilla -n '__fish_seen_subcommand_from %s' -l %s%s", command->name, row->name,
            how[value]);
    if (row->choice) {
        fputs(" -a '", stream);
        put_choices(stream, row->choice);
        fputc('\'', stream);
    }
    fputs(" -d '", stream);
    put_plain(stream, row->help);
    fputs("'\n", stream);
}

static void fish_command(FILE *stream, const cli_command *command)
{
    fprintf(stream, "complete -c armilla -n __fish_use_subcommand -a %s -d '", command->name);
    put_plain(stream, command->meaning);
    fprintf(stream, "'\ncomplete -c armilla -n '__fish_seen_subcommand_from %s' ", command->name);
    if (command->choice) {
        fputs("-a '", stream);
        put_choices(stream, command->choice);
        fputs("'\n", stream);
    } else {
        fputs("-F\n", stream);
    }
    each_option(stream, command, fish_option);
}

static void print_fish(FILE *stream, const cli_command *const *commands)
{
    fputs("complete -c armilla -f\n"
          "complete -c armilla -n __fish_use_subcommand -a help -d 'what a command does and takes'\n"
          "complete -c armilla -l help -d 'show help'\n"
          "complete -c armilla -n '__fish_seen_subcommand_from help' -a '",
          stream);
    put_names(stream, commands);
    fputs("'\n", stream);
    for (const cli_command *const *row = commands; *row; row++) fish_command(stream, *row);
}

static const struct {
    const char *name;
    void (*print)(FILE *stream, const cli_command *const *commands);
} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};

bool completion_print(FILE *stream, const char *shell, const cli_command *const *commands)
{
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shell, shells[i].name) == 0) {
            shells[i].print(stream, commands);
            return true;
        }
    return false;
}

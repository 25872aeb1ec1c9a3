/* Opening models, and what to say where something else was given. */
#include "command.h"
#include "streams.h"

#include <stdio.h>
#include <string.h>

enum { QUOTED = 512 }; /* of a message */

/* An archive may be a model that is damaged, of which the library says more. */
static bool is_archive(const char *path)
{
    char magic[2] = "";
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    const size_t got = fread(magic, 1, sizeof magic, file);
    (void)fclose(file);
    return got == sizeof magic && memcmp(magic, "PK", sizeof magic) == 0;
}

static bool is_model(cli_session *session, const char *path)
{
    bool model = false;
    return path && armilla_model_recognize(session->context, path, &model) == ARMILLA_OK && model;
}

/* Which operand is which, where the command line has them the other way round. */
static armilla_status explain(cli_session *session, const char *path, armilla_status status)
{
    const cli_command *command = session->command;
    const char *second = session->settings->operands[1], *other = command->operands[1];
    const bool two_models = other && strcmp(other, "MODEL") == 0;
    char first_word[QUOTED], second_word[QUOTED];
    message_quote(streams_given(session, path), first_word, sizeof first_word);
    if (path == session->settings->operands[0] && !two_models && is_model(session, second))
        return fail(session, status, "%s: is not a model, and %s is: the model comes first, armilla %s %s %s", path,
                    second, command->name,
                    message_quote(streams_given(session, second), second_word, sizeof second_word), first_word);
    if (is_archive(path)) return status;
    if (two_models)
        return fail(session, status, "%s: is not a model; armilla %s takes two models, and data behind --data", path,
                    command->name);
    return fail(session, status, "%s: is not a model; armilla fit %s --rank R --out MODEL.npz makes one of data", path,
                first_word);
}

armilla_status open_model(cli_session *session, const char *path, armilla_model **model)
{
    const armilla_status status = armilla_model_open(session->context, path, model);
    if (status != ARMILLA_BAD_DATA || !session->command) return status;
    (void)fail(session, status, "%s", armilla_context_error(session->context));
    return is_model(session, path) ? status : explain(session, path, status);
}

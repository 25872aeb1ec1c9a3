/* Words for statuses, stop reasons and types, from the lists in armilla/base.h. */
#include <armilla/base.h>
#include <armilla/version.h>

#define STATUS_TEXT(name, code, text) [name] = text,
#define STATUS_EXIT(name, code, text) [name] = code,
#define STOP_WORD(name, word) [name] = word,
#define TYPE_WORD(name, type, word, numpy) [name] = word,
#define TYPE_SIZE(name, type, word, numpy) [name] = sizeof(type),

static const char *const status_texts[] = {ARMILLA_STATUS_LIST(STATUS_TEXT)};
static const int status_exits[] = {ARMILLA_STATUS_LIST(STATUS_EXIT)};
static const char *const stop_words[] = {ARMILLA_STOP_LIST(STOP_WORD)};
static const char *const type_words[] = {ARMILLA_TYPE_LIST(TYPE_WORD)};
static const size_t type_sizes[] = {ARMILLA_TYPE_LIST(TYPE_SIZE)};

const char *armilla_status_text(armilla_status status)
{
    return (unsigned)status < ARMILLA_STATUS_COUNT ? status_texts[status] : "unknown status";
}

int armilla_status_exit(armilla_status status)
{
    return (unsigned)status < ARMILLA_STATUS_COUNT ? status_exits[status] : status_exits[ARMILLA_INTERNAL];
}

const char *armilla_stop_word(armilla_stop stop)
{
    return (unsigned)stop < ARMILLA_STOP_COUNT ? stop_words[stop] : "unknown";
}

const char *armilla_type_word(armilla_type type)
{
    return (unsigned)type < ARMILLA_TYPE_COUNT ? type_words[type] : "unknown";
}

size_t armilla_type_size(armilla_type type)
{
    return (unsigned)type < ARMILLA_TYPE_COUNT ? type_sizes[type] : 0;
}

armilla_type armilla_type_precision(armilla_type type)
{
    return (unsigned)type < ARMILLA_PRECISION_COUNT ? type : ARMILLA_F32;
}

const char *armilla_version(void)
{
    return ARMILLA_VERSION;
}

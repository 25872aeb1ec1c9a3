/* Shapes of files by a look at their first bytes, and the calls that follow. */
#include "announcing.h"

#include "reading.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { HEAD = 1 << 13, FIELD_BYTES = 8 };

armilla_workload announce_on(const cli_session *session, armilla_work work, const cli_shape *shape)
{
    return (armilla_workload){.size = sizeof(armilla_workload),
                              .work = work,
                              .threads = session->settings->threads,
                              .samples = shape->samples,
                              .features = shape->features,
                              .entries = shape->entries};
}

void announce(cli_session *session, const armilla_workload *workload)
{
    (void)armilla_context_expect(session->context, workload); /* a failure only leaves progress out */
}

void announce_text(cli_session *session, double fields)
{
    const armilla_workload writing = {
        .size = sizeof writing, .work = ARMILLA_WORK_WRITE, .bytes = (int64_t)(FIELD_BYTES * fields), .text = true};
    announce(session, &writing);
}

void announce_numbers(cli_session *session, double bytes)
{
    const armilla_workload writing = {.size = sizeof writing, .work = ARMILLA_WORK_WRITE, .bytes = (int64_t)bytes};
    announce(session, &writing);
}

double announce_seconds(cli_session *session, const armilla_workload *workload)
{
    double seconds = 0;
    return armilla_workload_seconds(session->context, workload, &seconds) == ARMILLA_OK ? seconds : 0;
}

/* What the first bytes of a text count. */
typedef struct counted {
    int64_t lines, separators, colons;
} counted;

static counted count(const char *head, size_t length)
{
    counted found = {0, 0, 0};
    bool between = true;
    for (size_t i = 0; i < length; i++) {
        const bool separates = strchr(",;\t ", head[i]) && head[i];
        found.lines += head[i] == '\n';
        found.separators += separates && !between;
        found.colons += head[i] == ':';
        between = separates;
    }
    return found;
}

/* The shape of a text of so many bytes that begins so, with its samples in rows. */
static cli_shape guess_shape(const char *head, size_t length, double bytes)
{
    const counted found = count(head, length);
    const double lines = (double)(found.lines > 0 ? found.lines : 1);
    cli_shape shape = {.samples = (int64_t)(bytes / ((double)length / lines))};
    shape.features = (int64_t)((double)found.separators / lines) + 1;
    if (found.colons > found.lines) shape.entries = (int64_t)(bytes * (double)found.colons / (double)length);
    if (strncmp(head, "%%MatrixMarket", strlen("%%MatrixMarket")) != 0) return shape;
    shape.entries = shape.samples;
    const char *line = head;
    while (line && *line == '%') line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL;
    long long rows = 0, columns = 0, entries = 0;
    const int numbers = line ? sscanf(line, "%lld %lld %lld", &rows, &columns, &entries) : 0;
    shape.samples = rows;
    shape.features = columns;
    if (numbers == 3) shape.entries = entries;
    return shape;
}

/* The first bytes of the file, where it is one; whether these are text. */
static bool read_head(const char *path, char *head, size_t *length)
{
    FILE *file = fopen(path, "rb");
    *length = file ? fread(head, 1, HEAD - 1, file) : 0;
    head[*length] = '\0';
    if (file) (void)fclose(file);
    return *length > 0 && !memchr(head, '\0', *length);
}

static void turn(const cli_session *session, cli_shape *shape)
{
    const int64_t samples = shape->samples;
    if (!samples_in_columns(session)) return;
    shape->samples = shape->features;
    shape->features = samples;
}

/* Files that are no text are mapped, or nearly so: what follows is announced when they are open. */
void announce_reading(cli_session *session, const char *path)
{
    char head[HEAD];
    size_t length = 0;
    struct stat facts;
    armilla_workload reading = {
        .size = sizeof reading, .work = ARMILLA_WORK_READ, .threads = session->settings->threads};
    if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode)) return;
    reading.bytes = facts.st_size;
    reading.text = read_head(path, head, &length);
    announce(session, &reading);
    if (!reading.text || !session->command || !session->command->expect) return;
    cli_shape shape = guess_shape(head, length, (double)facts.st_size);
    turn(session, &shape);
    session->command->expect(session, &shape);
}

cli_shape announce_shape(const armilla_data *X)
{
    const int64_t samples = armilla_data_samples(X), features = armilla_data_features(X);
    const int64_t stored = armilla_data_stored(X);
    const bool sparse = (double)stored < (double)samples * (double)features;
    return (cli_shape){samples, features, sparse ? stored : 0};
}

void announce_data(cli_session *session, const armilla_data *X)
{
    const cli_shape shape = announce_shape(X);
    if (session->command && session->command->expect) session->command->expect(session, &shape);
}

/* Outputs that appear whole or not at all: written under a temporary name beside the destination, flushed to the
 * disk, then moved into place. What is no regular file (a pipe, /dev/null, /dev/stdout) cannot be moved over, and is
 * written directly. The first failure sticks: later writes and the commit return its status again. */
#include "files/output.h"

#include "base/number.h"
#include "files/fields.h"
#include "files/leftovers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES (256 * 1024)

struct armilla_output {
    armilla_context *context;
    char *path;
    char *temporary; /* NULL where the destination is written directly, or the file is in place */
    bool overwrite;
    mode_t mode; /* permissions of what is replaced, which stay; 0: nothing is */
    int file;    /* -1: closed */
    armilla_status failed;
    bool nowhere;   /* another rank writes it */
    bool in_memory; /* there is no file: the buffer grows, and is handed over */
    size_t capacity;
    unsigned char *buffer;
    size_t used;
};

/* What to do about the usual reasons why a file cannot be created. */
static const struct reason {
    int error;
    const char *message;
} reasons[] = {
    {ENOENT, "its directory does not exist; create it first"},
    {ENOTDIR, "a part of its path is not a directory; correct the path"},
    {EACCES, "writing is not permitted there; choose another directory"},
    {EROFS, "the file system is read-only; choose another directory"},
    {ENAMETOOLONG, "the name is too long; choose a shorter one"},
    {ENOSPC, "the disk is full; free some space or choose another directory"},
};

static armilla_status cannot_create(armilla_output *output)
{
    const int error = errno;
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].error == error)
            return armilla_fail(output->context, ARMILLA_CANNOT_CREATE, "%s: cannot be created: %s", output->path,
                                reasons[i].message);
    return armilla_fail(output->context, ARMILLA_CANNOT_CREATE,
                        "%s: cannot be created: %s; make sure that the disk is sound, or choose another directory",
                        output->path, armilla_error_text(error));
}

static armilla_status exists_already(armilla_output *output)
{
    return armilla_fail(
        output->context, ARMILLA_CANNOT_CREATE,
        "%s: exists already; choose another name, or allow overwriting it (" ARMILLA_FIELD("overwrite") ")",
        output->path);
}

/* EFAULT: the bytes are those of a mapped input, and are no more. */
static armilla_status cannot_write(armilla_output *output, const char *step)
{
    if (errno == EFAULT)
        return armilla_fail(output->context, ARMILLA_IO_ERROR,
                            "%s: is not written: a file that it is made from became shorter while it was read; let it "
                            "be finished, and start again",
                            output->path);
    return armilla_fail(output->context, ARMILLA_IO_ERROR,
                        "%s: %s failed: %s; make sure that the disk has free space and is sound", output->path, step,
                        armilla_error_text(errno));
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The descriptor that the name leads to, which is open and may be of a regular file that others write to too; -1 where
 * it is the name of a file. */
static int named_descriptor(const char *path)
{
    static const struct {
        const char *start;
        int descriptor; /* -1: behind the start */
    } names[] = {{"/dev/stdin", 0}, {"/dev/stdout", 1}, {"/dev/stderr", 2}, {"/dev/fd/", -1}, {"/proc/self/fd/", -1}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *rest = path + strlen(names[i].start);
        char *end = NULL;
        if (strncmp(path, names[i].start, strlen(names[i].start)) != 0) continue;
        if (names[i].descriptor >= 0) return *rest ? -1 : names[i].descriptor;
        const long number = strtol(rest, &end, 10);
        return *rest < '0' || *rest > '9' || *end || number > INT_MAX ? -1 : (int)number;
    }
    return -1;
}

bool armilla_output_regular(const armilla_context *context, const char *path)
{
    struct stat facts;
    return *path && named_descriptor(path) < 0 && (context->io->stat(path, &facts) != 0 || S_ISREG(facts.st_mode));
}

/* Looks at what stands at the destination now. */
static armilla_status examine(armilla_output *output, bool *direct)
{
    const char *path = output->path;
    struct stat facts;
    *direct = false;
    if (*path == '\0')
        return armilla_fail(output->context, ARMILLA_CANNOT_CREATE, "the output has no name; give the name of a file");
    if (named_descriptor(path) >= 0) {
        *direct = true;
        return ARMILLA_OK;
    }
    if (output->context->io->stat(path, &facts) != 0) {
        if (errno != ENOENT) return cannot_create(output);
        if (*last_part(path) != '\0') return ARMILLA_OK;
        errno = ENOENT;
        return cannot_create(output);
    }
    if (S_ISDIR(facts.st_mode))
        return armilla_fail(output->context, ARMILLA_CANNOT_CREATE, "%s: is a directory; give the name of a file in it",
                            path);
    *direct = !S_ISREG(facts.st_mode);
    output->mode = facts.st_mode & 0777;
    return *direct || output->overwrite ? ARMILLA_OK : exists_already(output);
}

/* Appends, as what was written there before belongs to others; never truncates. What is open already is not opened a
 * second time, which a process without rights (armilla-convert) could not. */
static armilla_status open_direct(armilla_output *output)
{
    const int open = named_descriptor(output->path);
    if (open >= 0) {
        output->file = output->context->io->duplicate(open);
        return output->file < 0 ? cannot_create(output) : ARMILLA_OK;
    }
    output->file = armilla_io_open(output->context->io, output->path, O_WRONLY | O_APPEND | O_NOCTTY, 0);
    return output->file < 0 ? cannot_create(output) : ARMILLA_OK;
}

/* DIRECTORY/.NAME.armilla.PID-COUNTER.tmp; O_EXCL decides who has it, and follows no symbolic link. The lock tells
 * others that it is in use; some file systems have none, and there nothing is ever cleaned up. */
static armilla_status open_temporary(armilla_output *output)
{
    const char *name = last_part(output->path);
    const size_t before = (size_t)(name - output->path), size = before + ARMILLA_TEMPORARY_BYTES;
    char *made = NULL;
    armilla_status status = armilla_take(output->context, (int64_t)size, 1, &made);
    if (status != ARMILLA_OK) return status;
    memcpy(made, output->path, before);
    armilla_leftovers_remove(output->context, output->path, before);
    for (int counter = 0; counter < ARMILLA_TEMPORARY_TRIES; counter++) {
        armilla_temporary_name(made + before, size - before, name, counter);
        output->file =
            armilla_io_open(output->context->io, made, O_WRONLY | O_CREAT | O_EXCL, output->mode ? output->mode : 0666);
        if (output->file >= 0 || errno != EEXIST) break;
    }
    if (output->file >= 0) {
        (void)output->context->io->lock(output->file);
        if (output->mode)
            (void)output->context->io->chmod(output->file, output->mode); /* the umask may have narrowed it */
        output->temporary = made;
        return ARMILLA_OK;
    }
    status = cannot_create(output);
    armilla_release(output->context, made);
    return status;
}

static armilla_status begin(armilla_output *output, const char *path)
{
    bool direct = false;
    armilla_status status = armilla_copy_text(output->context, path, &output->path);
    if (status != ARMILLA_OK) return status;
    if ((status = armilla_take(output->context, BUFFER_BYTES, 1, &output->buffer)) != ARMILLA_OK) return status;
    if ((status = examine(output, &direct)) != ARMILLA_OK) return status;
    return direct ? open_direct(output) : open_temporary(output);
}

/* Only the first rank writes. */
static bool is_silent(const armilla_context *context)
{
    return context->ranks && context->ranks->rank > 0;
}

armilla_status armilla_output_new(armilla_context *context, const char *path, bool overwrite, armilla_output **output)
{
    armilla_output *made = NULL;
    armilla_status status = ARMILLA_NOT_NULL(context, path, output);
    if (status == ARMILLA_OK) status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    *made = (armilla_output){.context = context, .overwrite = overwrite, .file = -1};
    made->nowhere = is_silent(context);
    status = made->nowhere ? armilla_copy_text(context, path, &made->path) : begin(made, path);
    if (status == ARMILLA_OK)
        *output = made;
    else
        armilla_output_free(made);
    return status;
}

armilla_status armilla_output_new_memory(armilla_context *context, armilla_output **output)
{
    armilla_output *made = NULL;
    armilla_status status = armilla_take(context, 1, sizeof *made, &made);
    if (status != ARMILLA_OK) return status;
    *made = (armilla_output){.context = context, .in_memory = true, .file = -1};
    status = armilla_copy_text(context, "memory", &made->path);
    if (status == ARMILLA_OK)
        *output = made;
    else
        armilla_output_free(made);
    return status;
}

void armilla_output_take(armilla_output *output, void **bytes, size_t *count)
{
    *bytes = output->buffer;
    *count = output->used;
    output->buffer = NULL;
    output->used = output->capacity = 0;
}

void armilla_output_free(armilla_output *output)
{
    if (!output) return;
    armilla_context *context = output->context;
    if (output->file >= 0) (void)armilla_io_close(context->io, output->file);
    if (output->temporary) (void)context->io->unlink(output->temporary);
    armilla_release(context, output->temporary);
    armilla_release(context, output->buffer);
    armilla_release(context, output->path);
    armilla_release(context, output);
}

static armilla_status write_all(armilla_output *output, const unsigned char *bytes, size_t count)
{
    while (count > 0 && output->failed == ARMILLA_OK) {
        const ssize_t put = armilla_io_write(output->context->io, output->file, bytes, count);
        if (put == 0) errno = EIO;
        if (put <= 0) {
            output->failed = cannot_write(output, "writing");
        } else {
            bytes += put;
            count -= (size_t)put;
        }
    }
    return output->failed;
}

static armilla_status flush(armilla_output *output)
{
    const size_t count = output->used;
    output->used = 0;
    return write_all(output, output->buffer, count);
}

/* Appends, in a buffer that is at least doubled where it is full. */
static armilla_status append(armilla_output *output, const void *bytes, size_t count)
{
    if (count > output->capacity - output->used) {
        const size_t wanted = output->used + count, twice = 2 * output->capacity;
        const size_t capacity = wanted > twice ? wanted : twice;
        output->failed = armilla_grow(output->context, (int64_t)capacity, 1, &output->buffer);
        if (output->failed != ARMILLA_OK) return output->failed;
        output->capacity = capacity;
    }
    memcpy(output->buffer + output->used, bytes, count);
    output->used += count;
    return ARMILLA_OK;
}

armilla_status armilla_output_write(armilla_output *output, const void *bytes, size_t count)
{
    if (!output) return ARMILLA_BAD_ARGUMENT;
    if (output->failed != ARMILLA_OK) return output->failed;
    if (count > 0 && !bytes)
        return output->failed = armilla_fail(output->context, ARMILLA_BAD_ARGUMENT, "%s: bytes is NULL", output->path);
    if (output->in_memory) return count > 0 ? append(output, bytes, count) : ARMILLA_OK;
    if (output->nowhere) return ARMILLA_OK;
    if (output->file < 0)
        return armilla_fail(output->context, ARMILLA_BAD_ARGUMENT, "%s: nothing can be written after the commit",
                            output->path);
    if (count > BUFFER_BYTES - output->used && flush(output) != ARMILLA_OK) return output->failed;
    if (count >= BUFFER_BYTES) return write_all(output, bytes, count);
    if (count > 0) memcpy(output->buffer + output->used, bytes, count);
    output->used += count;
    return ARMILLA_OK;
}

armilla_status armilla_output_move(armilla_output *memory, armilla_output *output)
{
    const size_t count = memory->used;
    memory->used = 0;
    return memory->failed != ARMILLA_OK ? memory->failed : armilla_output_write(output, memory->buffer, count);
}

armilla_status armilla_output_field(armilla_output *output, const char *text)
{
    if (!output) return ARMILLA_BAD_ARGUMENT;
    if (output->failed != ARMILLA_OK) return output->failed;
    if (!text)
        return output->failed = armilla_fail(output->context, ARMILLA_BAD_ARGUMENT, "%s: text is NULL", output->path);
    return armilla_fields_put(output, text, ARMILLA_FIELD_OF_ROW);
}

armilla_status armilla_output_print(armilla_output *output, const char *format, ...)
{
    char brief[512];
    char *text = NULL;
    va_list arguments;
    if (!output) return ARMILLA_BAD_ARGUMENT;
    armilla_status status = ARMILLA_NOT_NULL(output->context, format);
    if (status != ARMILLA_OK) return status;
    va_start(arguments, format);
    const int length = armilla_plain_print_list(brief, sizeof brief, format, arguments);
    va_end(arguments);
    if (length < 0)
        return armilla_fail(output->context, ARMILLA_BAD_ARGUMENT, "%s: text cannot be formatted", output->path);
    if ((size_t)length < sizeof brief) return armilla_output_write(output, brief, (size_t)length);
    if ((status = armilla_take(output->context, (int64_t)length + 1, 1, &text)) != ARMILLA_OK) {
        if (output->failed == ARMILLA_OK) output->failed = status; /* text is missing now: never commit it */
        return status;
    }
    va_start(arguments, format);
    (void)armilla_plain_print_list(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    status = armilla_output_write(output, text, (size_t)length);
    armilla_release(output->context, text);
    return status;
}

/* Everything is on the disk before the name is given; errors that only close reports count too. */
static armilla_status finish_file(armilla_output *output)
{
    const armilla_io *io = output->context->io;
    armilla_status status = flush(output);
    if (status == ARMILLA_OK && output->temporary && armilla_io_fsync(io, output->file) != 0)
        status = cannot_write(output, "flushing to the disk");
    if (armilla_io_close(io, output->file) != 0 && status == ARMILLA_OK) status = cannot_write(output, "closing");
    output->file = -1;
    return status;
}

static void forget_temporary(armilla_output *output)
{
    armilla_release(output->context, output->temporary);
    output->temporary = NULL;
}

static armilla_status move_over(armilla_output *output)
{
    if (output->context->io->rename(output->temporary, output->path) != 0)
        return errno == EISDIR ? cannot_create(output) : cannot_write(output, "renaming the finished file");
    forget_temporary(output);
    return ARMILLA_OK;
}

/* link never replaces what has appeared meanwhile. A file system without links gets the next best: a second look,
 * then rename. A temporary name that cannot be removed now is tried again by free. */
static armilla_status move_beside(armilla_output *output)
{
    struct stat facts;
    const armilla_io *io = output->context->io;
    if (io->link(output->temporary, output->path) == 0) {
        if (io->unlink(output->temporary) == 0) forget_temporary(output);
        return ARMILLA_OK;
    }
    if (errno == EEXIST) return exists_already(output);
    if (errno != EPERM && errno != ENOTSUP && errno != ENOSYS && errno != EMLINK)
        return cannot_write(output, "naming the finished file");
    return io->stat(output->path, &facts) == 0 ? exists_already(output) : move_over(output);
}

/* *name = the destination's directory, with the slash behind it, or "."; to be released. */
static armilla_status name_directory(armilla_output *output, char **name)
{
    const size_t length = (size_t)(last_part(output->path) - output->path);
    const armilla_status status = armilla_take(output->context, (int64_t)length + 2, 1, name);
    if (status == ARMILLA_OK) memcpy(*name, length ? output->path : ".", length ? length : 1);
    return status;
}

/* The destination's directory, opened so that its new entry can be flushed; -1 where it may not be read: it is then
 * written, but not flushed. */
static armilla_status open_directory(armilla_output *output, int *directory)
{
    char *name = NULL;
    armilla_status status = name_directory(output, &name);
    if (status != ARMILLA_OK) return status;
    *directory = armilla_io_open(output->context->io, name, O_RDONLY | O_DIRECTORY, 0);
    if (*directory < 0 && errno != EACCES) status = cannot_write(output, "opening the directory");
    armilla_release(output->context, name);
    return status;
}

static armilla_status put_in_place(armilla_output *output)
{
    const armilla_io *io = output->context->io;
    int directory = -1;
    armilla_status status = open_directory(output, &directory);
    if (status != ARMILLA_OK) return status;
    status = output->overwrite ? move_over(output) : move_beside(output);
    /* EINVAL, ENOTSUP: a file system whose directories need no flush. */
    if (status == ARMILLA_OK && directory >= 0 && armilla_io_fsync(io, directory) != 0 && errno != EINVAL &&
        errno != ENOTSUP)
        status = armilla_fail(output->context, ARMILLA_IO_ERROR,
                              "%s: is written whole, but flushing its directory failed: %s; make sure that the disk is "
                              "sound, and write it again",
                              output->path, armilla_error_text(errno));
    if (directory >= 0) (void)armilla_io_close(io, directory);
    return status;
}

armilla_status armilla_output_commit(armilla_output *output)
{
    if (!output) return ARMILLA_BAD_ARGUMENT;
    if (output->failed != ARMILLA_OK || output->file < 0) return output->failed;
    output->failed = finish_file(output);
    if (output->failed == ARMILLA_OK && output->temporary) output->failed = put_in_place(output);
    return output->failed;
}

/* What new and commit would meet, without making anything. */
static armilla_status foresee(armilla_output *output, const char *path)
{
    bool direct = false;
    char *directory = NULL;
    armilla_status status = armilla_copy_text(output->context, path, &output->path);
    if (status == ARMILLA_OK) status = examine(output, &direct);
    if (status != ARMILLA_OK || direct) return status;
    if ((status = name_directory(output, &directory)) != ARMILLA_OK) return status;
    if (output->context->io->access(directory, W_OK | X_OK) != 0) status = cannot_create(output);
    armilla_release(output->context, directory);
    return status;
}

armilla_status armilla_output_check(armilla_context *context, const char *path, bool overwrite)
{
    armilla_output output = {.context = context, .overwrite = overwrite, .file = -1};
    armilla_status status = ARMILLA_NOT_NULL(context, path);
    if (status != ARMILLA_OK || is_silent(context)) return status;
    status = foresee(&output, path);
    armilla_release(context, output.path);
    return status;
}

/* Hostile calls on files: to open, read, change, name or list them. */
#include "sandbox.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static long open_to_read(void)
{
    return open(sandbox_victim, O_RDONLY);
}

static long open_to_create(void)
{
    return open(sandbox_other, O_WRONLY | O_CREAT, 0600);
}

static long open_beside(void)
{
    return openat(sandbox_directory, "new", O_WRONLY | O_CREAT, 0600);
}

static long open_by_openat2(void)
{
    const struct {
        uint64_t flags, mode, resolve;
    } how = {O_RDONLY, 0, 0};
    return syscall(SYS_openat2, AT_FDCWD, sandbox_victim, &how, sizeof how);
}

static long create_by_creat(void)
{
    return creat(sandbox_other, 0600);
}

static long open_self(void)
{
    return open("/proc/self/mem", O_RDWR);
}

static long open_handle(void)
{
    return syscall(SYS_open_by_handle_at, AT_FDCWD, NULL, O_RDONLY);
}

static long read_input(void)
{
    char byte;
    return pread(sandbox_opened, &byte, 1, 0);
}

static long write_by_offset(void)
{
    return pwrite(sandbox_opened, "x", 1, 0);
}

static long send_file(void)
{
    return syscall(SYS_sendfile, SANDBOX_OUTPUT, sandbox_opened, NULL, (size_t)1);
}

static long copy_range(void)
{
    return syscall(SYS_copy_file_range, sandbox_opened, NULL, SANDBOX_OUTPUT, NULL, (size_t)1, 0);
}

static long cut_file(void)
{
    return truncate(sandbox_victim, 0);
}

static long cut_descriptor(void)
{
    return ftruncate(sandbox_opened, 0);
}

static long remove_file(void)
{
    return unlink(sandbox_victim);
}

static long remove_at(void)
{
    return unlinkat(sandbox_directory, "victim", 0);
}

static long rename_file(void)
{
    return rename(sandbox_victim, sandbox_other);
}

static long link_file(void)
{
    return link(sandbox_victim, sandbox_other);
}

static long link_soft(void)
{
    return symlink("/etc/passwd", sandbox_other);
}

static long make_folder(void)
{
    return mkdir(sandbox_other, 0700);
}

static long make_node(void)
{
    return mknod(sandbox_other, S_IFIFO | 0600, 0);
}

static long change_mode(void)
{
    return chmod(sandbox_victim, 0777);
}

static long change_owner(void)
{
    return chown(sandbox_victim, 1, 1);
}

static long change_times(void)
{
    return utimensat(AT_FDCWD, sandbox_victim, NULL, 0);
}

static long change_folder(void)
{
    return chdir("/");
}

static long change_root(void)
{
    return chroot("/tmp");
}

static long look_at_file(void)
{
    struct stat facts;
    return stat(sandbox_victim, &facts);
}

static long look_into_folder(void)
{
    char entries[1024];
    return syscall(SYS_getdents64, sandbox_directory, entries, sizeof entries);
}

static long map_file(void)
{
    void *made = mmap(NULL, 4096, PROT_READ, MAP_SHARED, sandbox_opened, 0);
    return made == MAP_FAILED ? -1 : 0;
}

const sandbox_attack sandbox_file_attacks[] = {
    ATTACK(open_to_read),
    ATTACK(open_to_create),
    ATTACK(open_beside),
    ATTACK(open_by_openat2),
    ATTACK(create_by_creat),
    ATTACK(open_self),
    ATTACK(open_handle),
    ATTACK(read_input),
    ATTACK(write_by_offset),
    ATTACK(send_file),
    ATTACK(copy_range),
    ATTACK(cut_file),
    ATTACK(cut_descriptor),
    ATTACK(remove_file),
    ATTACK(remove_at),
    ATTACK(rename_file),
    ATTACK(link_file),
    ATTACK(link_soft),
    ATTACK(make_folder),
    ATTACK(make_node),
    ATTACK(change_mode),
    ATTACK(change_owner),
    ATTACK(change_times),
    ATTACK(change_folder),
    ATTACK(change_root),
    ATTACK(look_at_file),
    ATTACK(look_into_folder),
    ATTACK(map_file),
    {NULL, NULL},
};

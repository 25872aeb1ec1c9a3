/* Hostile calls, and what they are made on. */
#ifndef ARMILLA_TESTS_SANDBOX_H
#define ARMILLA_TESTS_SANDBOX_H

#include <sys/types.h>

enum { SANDBOX_OUTPUT = 1 };

/* Returns a negative number where it is refused. Tables end at a row without a name. */
typedef struct sandbox_attack {
    const char *name;
    long (*attack)(void);
} sandbox_attack;

extern const sandbox_attack sandbox_file_attacks[], sandbox_system_attacks[];

/* A row of a table, named as its function. */
#define ATTACK(name)                                                                                                   \
    {                                                                                                                  \
#name, name                                                                                                    \
    }

extern char sandbox_folder[], sandbox_victim[64],
    sandbox_other[64];                        /* two names of files in the folder; one is there */
extern int sandbox_opened, sandbox_directory; /* the victim and the folder, as descriptors that were forgotten */
extern pid_t sandbox_tester;

#endif

/* The command, by one process. mpi/main.c is the same by several. */
#include "command.h"

int main(int count, char **arguments)
{
    return cli_main(count, arguments, NULL);
}

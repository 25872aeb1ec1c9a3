/* armilla-mpi: the command armilla by several processes of MPI together. Beside include/armilla/mpi.h this is the only
 * file that names MPI. */
#include "command.h"

#include <armilla/mpi.h>

#include <stdio.h>

/* Another rank that waits would wait for ever. */
static void end_all(int code)
{
    (void)MPI_Abort(MPI_COMM_WORLD, code);
}

int main(int count, char **arguments)
{
    armilla_mpi mpi;
    int provided = 0;
    if (MPI_Init_thread(&count, &arguments, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS) return 70;
    if (provided < MPI_THREAD_FUNNELED || armilla_mpi_open(&mpi, MPI_COMM_WORLD) != 0) {
        fprintf(stderr, "armilla: MPI gives no communicator; start by mpirun, with an MPI that knows threads\n");
        end_all(70);
        return 70;
    }
    const int code = cli_main(count, arguments, &mpi.ranks);
    if (mpi.failed) end_all(code ? code : 74);
    armilla_mpi_close(&mpi);
    (void)MPI_Finalize();
    return code;
}

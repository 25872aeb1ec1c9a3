/* Ranks that are processes of MPI: fills the table of armilla/ranks.h for a communicator of the program's. Functions are
 * defined here, so that they are compiled for whichever MPI the program uses; the library itself knows none.
 *
 *     MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
 *     armilla_mpi mpi;
 *     if (armilla_mpi_open(&mpi, MPI_COMM_WORLD) == 0) armilla_context_set_ranks(context, &mpi.ranks);
 *     ... armilla_fit(context, X, &options, &model) by every rank ...
 *     armilla_context_set_ranks(context, NULL);
 *     armilla_mpi_close(&mpi);
 *     MPI_Finalize(); */
#ifndef ARMILLA_MPI_H
#define ARMILLA_MPI_H

#include <armilla/ranks.h>

#include <mpi.h>

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct armilla_mpi {
    MPI_Comm comm;       /* a duplicate, so that messages never meet the program's own */
    int failed;          /* a message could not be sent or received: MPI_Abort is all that is left */
    armilla_ranks ranks; /* for armilla_context_set_ranks; its `self` is this struct, which stays where it is */
} armilla_mpi;

/* MPI counts in int: longer messages travel in pieces of this many bytes. */
#define ARMILLA_MPI_PIECE ((size_t)1 << 30)

static inline int armilla_mpi_count(size_t left)
{
    return (int)(left < ARMILLA_MPI_PIECE ? left : ARMILLA_MPI_PIECE);
}

static inline int armilla_mpi_send(void *self, int to, const void *bytes, size_t count)
{
    armilla_mpi *mpi = (armilla_mpi *)self;
    const char *next = (const char *)bytes;
    for (size_t left = count; left > 0 && !mpi->failed;) {
        const int some = armilla_mpi_count(left);
        mpi->failed = MPI_Send((void *)(size_t)next, some, MPI_BYTE, to, 0, mpi->comm) != MPI_SUCCESS;
        next += some;
        left -= (size_t)some;
    }
    return mpi->failed;
}

static inline int armilla_mpi_receive(void *self, int from, void *bytes, size_t count)
{
    armilla_mpi *mpi = (armilla_mpi *)self;
    char *next = (char *)bytes;
    for (size_t left = count; left > 0 && !mpi->failed;) {
        const int some = armilla_mpi_count(left);
        mpi->failed = MPI_Recv(next, some, MPI_BYTE, from, 0, mpi->comm, MPI_STATUS_IGNORE) != MPI_SUCCESS;
        next += some;
        left -= (size_t)some;
    }
    return mpi->failed;
}

static inline int armilla_mpi_broadcast(void *self, void *bytes, size_t count)
{
    armilla_mpi *mpi = (armilla_mpi *)self;
    char *next = (char *)bytes;
    for (size_t left = count; left > 0 && !mpi->failed;) {
        const int some = armilla_mpi_count(left);
        mpi->failed = MPI_Bcast(next, some, MPI_BYTE, 0, mpi->comm) != MPI_SUCCESS;
        next += some;
        left -= (size_t)some;
    }
    return mpi->failed;
}

/* How many ranks share this machine's memory, and so its cores. */
static inline int armilla_mpi_local(MPI_Comm comm)
{
    MPI_Comm machine = MPI_COMM_NULL;
    int count = 1;
    if (MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine) != MPI_SUCCESS) return 1;
    (void)MPI_Comm_size(machine, &count);
    (void)MPI_Comm_free(&machine);
    return count;
}

/* By all ranks of comm; MPI has been initialised with MPI_THREAD_FUNNELED at least, and calls of the library are made on
 * the thread that MPI may be called from. 0, or not 0 where MPI refuses. Errors of messages are returned, not fatal. */
static inline int armilla_mpi_open(armilla_mpi *mpi, MPI_Comm comm)
{
    memset(mpi, 0, sizeof *mpi);
    armilla_ranks_default(&mpi->ranks);
    if (MPI_Comm_dup(comm, &mpi->comm) != MPI_SUCCESS) return 1;
    if (MPI_Comm_set_errhandler(mpi->comm, MPI_ERRORS_RETURN) != MPI_SUCCESS ||
        MPI_Comm_rank(mpi->comm, &mpi->ranks.rank) != MPI_SUCCESS ||
        MPI_Comm_size(mpi->comm, &mpi->ranks.count) != MPI_SUCCESS)
        return 1;
    mpi->ranks.self = mpi;
    mpi->ranks.send = armilla_mpi_send;
    mpi->ranks.receive = armilla_mpi_receive;
    mpi->ranks.broadcast = armilla_mpi_broadcast;
    mpi->ranks.local = armilla_mpi_local(mpi->comm);
    return 0;
}

/* By all ranks. */
static inline void armilla_mpi_close(armilla_mpi *mpi)
{
    if (mpi->ranks.self && !mpi->failed) (void)MPI_Comm_free(&mpi->comm);
    memset(mpi, 0, sizeof *mpi);
}

#ifdef __cplusplus
}
#endif

#endif

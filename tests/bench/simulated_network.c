/* Rounds of messages over SimGrid's SMPI: a.out ROUND..., a round being distance:bytes:xor:times:at_once.
 *
 * Prints the simulated seconds until the last rank has ended. One shared block serves all ranks, and rank and size are
 * locals: run with smpi/privatization:no, so that 4,096 ranks fit one process.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <smpi/smpi.h>

#define MOST 64                                       /* messages under way at one time */
static double last = 0.0;                             /* without privatization: of all ranks */

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *block = SMPI_SHARED_MALLOC(128 << 20);
    double start = MPI_Wtime();
    for (int i = 1; i < argc; i++) {
        long distance, bytes, pairs, times, at_once;
        if (sscanf(argv[i], "%ld:%ld:%ld:%ld:%ld", &distance, &bytes, &pairs, &times, &at_once) != 5)
            return 2;
        int to = pairs ? rank ^ distance : (rank + distance) % size;
        int from = pairs ? to : (int)((rank - distance % size + size) % size);
        for (long t = 0; t < times; t++) {
            MPI_Request requests[2 * MOST];
            for (long k = 0; k < at_once && k < MOST; k++) {
                MPI_Irecv(block, (int)bytes, MPI_CHAR, from, 1, MPI_COMM_WORLD, &requests[2 * k]);
                MPI_Isend(block, (int)bytes, MPI_CHAR, to, 1, MPI_COMM_WORLD, &requests[2 * k + 1]);
            }
            MPI_Waitall(2 * (at_once < MOST ? at_once : MOST), requests, MPI_STATUSES_IGNORE);
        }
    }
    double ended = MPI_Wtime() - start;
    if (ended > last)
        last = ended;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.9e\n", last);
    SMPI_SHARED_FREE(block);
    MPI_Finalize();
    return 0;
}

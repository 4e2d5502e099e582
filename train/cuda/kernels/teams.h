/* teams.h -- one team of threads for each row: 1 << team threads, from 1 to a block of 256. It
 * needs no division. Threads of a team are adjacent and process adjacent columns. */
#ifndef TRAIN_CUDA_TEAMS_H
#define TRAIN_CUDA_TEAMS_H
#include "train/cuda/kernel.h"

/* for (EACH_TEAM(row, rows, team)): the rows of this thread's team. */
#define EACH_TEAM(row, rows, team)                                          \
    size_t row = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) >> (team); \
    BELOW(row, rows);                                                       \
    row += (size_t)gridDim.x * blockDim.x >> (team)
/* for (EACH_MEMBER(j, n, team)): this thread's part of 0 .. n - 1. */
#define EACH_MEMBER(j, n, team)                     \
    size_t j = threadIdx.x & ((1u << (team)) - 1u); \
    BELOW(j, n);                                    \
    j += (size_t)1 << (team)

/* The team size for rows of n items: up to a warp the next power of two; otherwise at least a warp,
 * with at most a quarter of the threads idle. */
static inline unsigned cuda_team(size_t n) {
    unsigned team = 8;
    if (n <= CUDA_WARP)
        for (team = 0; ((size_t)1 << team) < n;) team++;
    else
        while (team > 5 && (0 - n) % ((size_t)1 << team) > n / 4) team--;
    return team;
}

/* Number of blocks of CUDA_MOST_THREADS for `teams` teams. */
static inline unsigned cuda_team_blocks(size_t teams, unsigned team) {
    return cuda_blocks(teams, CUDA_MOST_THREADS >> team);
}

/* Sixteen bytes that are loaded and stored at once. */
struct alignas(16) cuda_sixteen {
    uint32_t word[4];
};

/* Bytes to copy at once: 16, 4 or 1, which divides all sizes and addresses. The argument is their
 * bitwise or. */
static inline size_t cuda_at_once(size_t sizes_and_addresses) {
    return sizes_and_addresses % 16 == 0 ? 16 : sizes_and_addresses % 4 == 0 ? 4 : 1;
}
#endif

/* forked_ranks.h -- ranks of a test that are processes, each with devices of its own. They show
 * each other their arrays in memory that all have. */
#ifndef TESTS_FORKED_RANKS_H
#define TESTS_FORKED_RANKS_H
#include "cmocka_all.h"
#include "scratch.h"
#include "train/parallel/ranks.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FORKED_MOST = 4, FORKED_BYTES = 2 << 20, FORKED_SKIPPED = 77 };

/* In a rank: ends it, and so the test, unless x. */
#define FORKED_CHECK(x)                                                               \
    do {                                                                              \
        if (x) break;                                                                 \
        fprintf(stderr, "rank %u: %s:%d: %s\n", ranks->rank, __FILE__, __LINE__, #x); \
        _exit(1);                                                                     \
    } while (0)

typedef struct forked_hall {
    pthread_barrier_t barrier;
    char shown[FORKED_MOST][FORKED_BYTES];
    char scratch[SCRATCH_PATH]; /* what ranks that are killed leave there is removed */
} forked_hall;

typedef struct forked_rank {
    forked_hall *hall;
    const train_ranks *ranks;
} forked_rank;

/* Shows mine[bytes], and waits until all have. */
static inline taper_status forked_show(const forked_rank *m, const void *mine, size_t bytes,
                                       taper_error *error) {
    if (bytes > FORKED_BYTES) return formats_fail(error, TAPER_ERR_ARG, "more than the hall holds");
    memcpy(m->hall->shown[m->ranks->rank], mine, bytes);
    pthread_barrier_wait(&m->hall->barrier);
    return TAPER_OK;
}

static inline taper_status forked_exchange(void *state, const void *to, void *from, size_t bytes,
                                           taper_error *error) {
    const forked_rank *m = state;
    const uint32_t size = m->ranks->size;
    TAPER_TRY(forked_show(m, to, bytes * size, error));
    for (uint32_t r = 0; r < size; r++)
        memcpy((char *)from + r * bytes, m->hall->shown[r] + m->ranks->rank * bytes, bytes);
    pthread_barrier_wait(&m->hall->barrier);
    return TAPER_OK;
}

static inline taper_status forked_gather(void *state, const void *mine, void *all, size_t bytes,
                                         taper_error *error) {
    const forked_rank *m = state;
    TAPER_TRY(forked_show(m, mine, bytes, error));
    for (uint32_t r = 0; r < m->ranks->size; r++)
        memcpy((char *)all + r * bytes, m->hall->shown[r], bytes);
    pthread_barrier_wait(&m->hall->barrier);
    return TAPER_OK;
}

static inline taper_status forked_broadcast(void *state, void *data, size_t bytes, uint32_t root,
                                            taper_error *error) {
    const forked_rank *m = state;
    TAPER_TRY(forked_show(m, data, bytes, error));
    memcpy(data, m->hall->shown[root], bytes);
    pthread_barrier_wait(&m->hall->barrier);
    return TAPER_OK;
}

/* What a rank does; it may use FORKED_CHECK. Returns 0 or FORKED_SKIPPED. */
typedef int forked_fn(train_ranks *ranks, void *context);

static inline void forked_child(forked_hall *hall, uint32_t rank, uint32_t size, forked_fn *fn,
                                void *context) {
    static const train_transport transport = {forked_exchange, forked_gather, forked_broadcast};
    train_ranks ranks = {.rank = rank,
                         .size = size,
                         .local_rank = rank,
                         .local_size = size,
                         .patience = 2,
                         .transport = &transport};
    forked_rank self = {hall, &ranks};
    ranks.state = &self;
    setenv("TMPDIR", hall->scratch, 1);
    alarm(600); /* a test that hangs ends */
    _exit(fn(&ranks, context));
}

/* Memory that children share, as a file. */
static inline forked_hall *forked_build(void) {
    char folder[SCRATCH_PATH], path[SCRATCH_PATH];
    scratch_make(folder);
    const int file = open(scratch_join(path, folder, "hall"), O_RDWR | O_CREAT, 0600);
    assert_true(file >= 0 && ftruncate(file, sizeof(forked_hall)) == 0);
    forked_hall *hall = mmap(NULL, sizeof *hall, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_true(hall != MAP_FAILED);
    close(file);
    memcpy(hall->scratch, folder, sizeof folder);
    return hall;
}

/* Runs fn on `size` ranks. Fails unless each ends with 0; skips if one is skipped. */
static inline void forked_run(uint32_t size, forked_fn *fn, void *context) {
    pid_t child[FORKED_MOST];
    int failed = 0, skipped = 0;
    pthread_barrierattr_t shared;
    forked_hall *hall = forked_build();
    assert_true(size <= FORKED_MOST);
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&hall->barrier, &shared, size);
    for (uint32_t r = 0; r < size; r++) {
        child[r] = fork();
        if (child[r] == 0) forked_child(hall, r, size, fn, context);
        assert_true(child[r] > 0);
    }
    for (uint32_t r = 0; r < size; r++) {
        int status = 0;
        waitpid(-1, &status, 0);
        const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
        skipped |= code == FORKED_SKIPPED;
        if (code == 0 || code == FORKED_SKIPPED || failed) continue;
        failed = 1; /* the others may wait for it */
        for (uint32_t k = 0; k < size; k++) kill(child[k], SIGKILL);
    }
    scratch_remove(hall->scratch);
    munmap(hall, sizeof *hall);
    assert_int_equal(failed, 0);
    if (skipped) skip();
}
#endif

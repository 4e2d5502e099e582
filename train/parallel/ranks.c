/* ranks.c -- see ranks.h.
 *
 * A sum goes in pieces. A piece is divided into as many blocks as there are ranks; each rank gets
 * its block from all, adds them up, and sends the sum to all. So a rank sends and receives twice
 * the bytes of x, whatever the number of ranks, and the order of additions is that of the ranks,
 * which MPI_Allreduce does not promise. */
#include "train/parallel/ranks.h"
#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 1 << 20, LARGEST = 8 };

/* Bytes of a piece with its padding. */
static size_t room_of(const train_ranks *r) { return PIECE_BYTES + (size_t)r->size * LARGEST; }

void train_ranks_free(train_ranks *ranks) {
    free(ranks->memory);
    ranks->memory = NULL;
}

static int is_alone(const train_ranks *ranks) { return !ranks || ranks->size == 1; }

int train_is_first(const train_ranks *ranks) { return !ranks || ranks->rank == 0; }

uint32_t train_rank_count(const train_ranks *ranks) { return ranks ? ranks->size : 1; }

/* to[n] += from[n] */
typedef void add_fn(void *to, const void *from, size_t n);

static void add_floats(void *to, const void *from, size_t n) {
    float *x = to;
    const float *y = from;
    for (size_t i = 0; i < n; i++) x[i] += y[i];
}

static void add_doubles(void *to, const void *from, size_t n) {
    double *x = to;
    const double *y = from;
    for (size_t i = 0; i < n; i++) x[i] += y[i];
}

static void add_integers(void *to, const void *from, size_t n) {
    uint64_t *x = to;
    const uint64_t *y = from;
    for (size_t i = 0; i < n; i++) x[i] += y[i];
}

static void add_bytes(void *to, const void *from, size_t n) {
    uint8_t *x = to;
    const uint8_t *y = from;
    for (size_t i = 0; i < n; i++) x[i] = (uint8_t)(x[i] + y[i]);
}

/* One piece of at most PIECE_BYTES; `size` is that of an element. */
static taper_status sum_piece(train_ranks *r, char *x, size_t n, size_t size, add_fn *add,
                              taper_error *error) {
    const size_t each = (n + r->size - 1) / r->size, block = each * size;
    char *padded = r->memory, *blocks = padded + room_of(r), *sums = blocks;
    memset(padded, 0, block * r->size);
    memcpy(padded, x, n * size);
    TAPER_TRY(r->transport->exchange(r->state, padded, blocks, block, error));
    for (uint32_t k = 1; k < r->size; k++) add(sums, blocks + k * block, each);
    TAPER_TRY(r->transport->gather(r->state, sums, padded, block, error));
    memcpy(x, padded, n * size);
    return TAPER_OK;
}

static taper_status sum(train_ranks *r, void *x, size_t n, size_t size, add_fn *add,
                        taper_error *error) {
    if (is_alone(r)) return TAPER_OK;
    const size_t most = PIECE_BYTES / size;
    if (!r->memory && !(r->memory = malloc(2 * room_of(r))))
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to add up the parts of the ranks");
    for (size_t i = 0; i < n; i += most) {
        const size_t count = n - i < most ? n - i : most;
        TAPER_TRY(sum_piece(r, (char *)x + i * size, count, size, add, error));
    }
    return TAPER_OK;
}

taper_status train_sum_floats(train_ranks *ranks, float *x, size_t n, taper_error *error) {
    return sum(ranks, x, n, sizeof *x, add_floats, error);
}

taper_status train_sum_doubles(train_ranks *ranks, double *x, size_t n, taper_error *error) {
    return sum(ranks, x, n, sizeof *x, add_doubles, error);
}

taper_status train_sum_integers(train_ranks *ranks, uint64_t *x, size_t n, taper_error *error) {
    return sum(ranks, x, n, sizeof *x, add_integers, error);
}

taper_status train_sum_bytes(train_ranks *ranks, uint8_t *x, size_t n, taper_error *error) {
    return sum(ranks, x, n, sizeof *x, add_bytes, error);
}

taper_status train_gather(train_ranks *ranks, const void *mine, void *all, size_t bytes,
                          taper_error *error) {
    if (!is_alone(ranks)) return ranks->transport->gather(ranks->state, mine, all, bytes, error);
    if (bytes) memcpy(all, mine, bytes);
    return TAPER_OK;
}

taper_status train_broadcast(train_ranks *ranks, void *data, size_t bytes, uint32_t root,
                             taper_error *error) {
    if (is_alone(ranks) || !bytes) return TAPER_OK;
    return ranks->transport->broadcast(ranks->state, data, bytes, root, error);
}

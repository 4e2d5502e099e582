/* itq.c -- see itq.h. */
#include "bench/paper/itq.h"
#include "train/linear/lapack.h"
#include "train/sampling/philox.h"
#include <stdlib.h>

enum { START = 30 }; /* the "layer" that numbers the random start: no network has so many */

/* Room of a run: v R, later its signs [n][bits]; a product [bits][bits]. */
typedef struct itq_room {
    train_lapack lapack;
    float *turned, *product, *side;
} itq_room;

/* The orthogonal matrix nearest to room->product. LAPACK has A = v S u, both as rows. */
static taper_status nearest_rotation(itq_room *room, codec_backend *be, uint32_t bits,
                                     float *rotation, taper_error *error) {
    train_lapack *l = &room->lapack;
    size_t n = (size_t)bits * bits;
    for (size_t i = 0; i < n; i++) l->matrix[i] = (double)room->product[i];
    TAPER_TRY(train_lapack_svd(l, error));
    for (size_t i = 0; i < n; i++)
        room->product[i] = (float)l->v[i], room->side[i] = (float)l->u[i];
    return be->ops->gemm(be, 0, 0, bits, bits, bits, room->product, room->side, 0.0f, rotation);
}

static taper_status iterate(itq_room *room, codec_backend *be, const float *v, size_t n,
                            uint32_t bits, float *rotation, taper_error *error) {
    TAPER_TRY(be->ops->gemm(be, 0, 0, n, bits, bits, v, rotation, 0.0f, room->turned));
    for (size_t i = 0; i < n * bits; i++) room->turned[i] = room->turned[i] > 0.0f ? 1.0f : -1.0f;
    TAPER_TRY(be->ops->gemm(be, 1, 0, bits, bits, n, v, room->turned, 0.0f, room->product));
    return nearest_rotation(room, be, bits, rotation, error);
}

taper_status paper_itq(codec_backend *be, const float *v, size_t n, uint32_t bits,
                       uint32_t iterations, uint64_t seed, float *rotation, taper_error *error) {
    itq_room room = {.turned = malloc(n * bits * sizeof *room.turned),
                     .product = malloc(2 * (size_t)bits * bits * sizeof *room.product)};
    taper_status status = TAPER_ERR_NOMEM;
    if (room.turned && room.product) {
        room.side = room.product + (size_t)bits * bits;
        status = train_lapack_open(&room.lapack, bits, error);
        if (status == TAPER_OK) {
            train_philox_weights(room.product, (size_t)bits * bits, 1.0f, seed, START);
            status = nearest_rotation(&room, be, bits, rotation, error);
            for (uint32_t i = 0; status == TAPER_OK && i < iterations; i++)
                status = iterate(&room, be, v, n, bits, rotation, error);
            train_lapack_close(&room.lapack);
        }
    }
    free(room.turned), free(room.product);
    return status;
}

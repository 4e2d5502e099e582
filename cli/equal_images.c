/* equal_images.c -- see equal_images.h. */
#include "cli/equal_images.h"
#include "formats/image.h"
#include "formats/imageset/imageset.h"
#include <stdlib.h>
#include <string.h>

typedef struct slot {
    uint64_t hash;
    size_t number; /* SIZE_MAX: empty */
} slot;

struct cli_equal_images {
    slot *slot; /* [mask + 1] open addressing; at most half of them are in use */
    size_t mask;
    uint64_t last; /* the hash of the image that was looked for last */
};

cli_equal_images *cli_equal_images_new(size_t most) {
    size_t room = 16;
    cli_equal_images *e = calloc(1, sizeof *e);
    if (!e || most > SIZE_MAX / 4 / sizeof *e->slot) return free(e), NULL;
    while (room < 2 * most) room *= 2;
    e->slot = malloc(room * sizeof *e->slot);
    if (!e->slot) return free(e), NULL;
    e->mask = room - 1;
    for (size_t i = 0; i < room; i++) e->slot[i].number = SIZE_MAX;
    return e;
}

void cli_equal_images_free(cli_equal_images *e) {
    if (e) free(e->slot);
    free(e);
}

static int same_pixels(const taper_image *a, const taper_image *b) {
    return a->width == b->width && a->height == b->height && a->channels == b->channels &&
           a->depth == b->depth && !memcmp(a->pixels, b->pixels, formats_image_bytes(a));
}

static int same_blob(const formats_blob *a, const formats_blob *b) {
    return a->size == b->size && (!a->size || !memcmp(a->bytes, b->bytes, a->size));
}

/* All but the time of the file. */
static int same_metadata(const formats_metadata *a, const formats_metadata *b) {
    return same_blob(&a->icc, &b->icc) && same_blob(&a->exif, &b->exif) &&
           same_blob(&a->xmp, &b->xmp) && a->has_cicp == b->has_cicp &&
           !memcmp(a->cicp, b->cicp, sizeof a->cicp) && a->gamma == b->gamma &&
           !memcmp(a->chromaticities, b->chromaticities, sizeof a->chromaticities) &&
           a->density_x == b->density_x && a->density_y == b->density_y &&
           a->density_unit == b->density_unit && !(a->quantisation_mse < b->quantisation_mse) &&
           !(a->quantisation_mse > b->quantisation_mse);
}

static int is_equal(const taper_image *image, const formats_metadata *metadata,
                    const cli_earlier_images *earlier, size_t number) {
    taper_image before;
    formats_metadata of_it;
    if (earlier->read(earlier->user, number, &before, &of_it, NULL) != TAPER_OK) return 0;
    const int equal = same_pixels(image, &before) && same_metadata(metadata, &of_it);
    formats_image_free(&before);
    formats_metadata_free(&of_it);
    return equal;
}

int cli_equal_images_find(cli_equal_images *e, const taper_image *image,
                          const formats_metadata *metadata, const cli_earlier_images *earlier,
                          size_t *number) {
    e->last = formats_digest_image(image);
    for (size_t i = e->last & e->mask; e->slot[i].number != SIZE_MAX; i = (i + 1) & e->mask) {
        if (e->slot[i].hash != e->last) continue;
        if (!is_equal(image, metadata, earlier, e->slot[i].number)) continue;
        *number = e->slot[i].number;
        return 1;
    }
    return 0;
}

void cli_equal_images_keep(cli_equal_images *e, size_t number) {
    size_t i = e->last & e->mask;
    while (e->slot[i].number != SIZE_MAX) i = (i + 1) & e->mask;
    e->slot[i] = (slot){e->last, number};
}

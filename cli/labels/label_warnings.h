/* label_warnings.h -- warnings about labelled images: classes of few images, equal images of two
 * classes, intervals of few tested images. Each names the remedy. */
#ifndef CLI_LABEL_WARNINGS_H
#define CLI_LABEL_WARNINGS_H
#include "formats/image.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CLI_FEW_IMAGES = 30, /* classes of fewer are named */
    CLI_FEW_TESTED = 50, /* intervals of fewer tested images are too wide to be of use */
    CLI_UNEQUAL = 10     /* times as many images as another class */
};

/* Warn of classes of 1 .. CLI_FEW_IMAGES - 1 images: names five at most, the smallest first, and
 * counts the others. name[classes], members[classes]. Returns their number. */
size_t cli_warn_small_classes(const char *verb, const char *const *name, const size_t *members,
                              size_t classes);

/* Warn if the largest class has ten times as many images as the smallest, as votes then depend on
 * how many images a class has: names both. */
void cli_warn_unequal_classes(const char *verb, const char *const *name, const size_t *members,
                              size_t classes);

/* Warn if the interval is of fewer than CLI_FEW_TESTED images. remedy: "give more ...". */
void cli_warn_few_tested(const char *verb, uint64_t tested, const char *remedy);

/* --- equal images ---------------------------------------------------------------------- */

/* An image by its hash (formats_digest_image). Images of equal hashes are taken for equal. */
typedef struct cli_seen_image {
    uint64_t hash;
    int32_t label;
    uint32_t set; /* which of several sets */
    size_t image; /* number in the set */
} cli_seen_image;

typedef struct cli_seen_images {
    cli_seen_image *item; /* [n] */
    size_t n, room;
    bool is_full; /* there was no memory for some, which are not compared */
} cli_seen_images;

void cli_seen_images_add(cli_seen_images *seen, cli_seen_image image);
void cli_seen_images_free(cli_seen_images *seen); /* a zeroed one is fine */

typedef struct cli_twin_names {
    void *user;
    /* The name of an image, in room[size], and that of a class; both return it. */
    const char *(*image)(void *user, const cli_seen_image *image, char *room, size_t size);
    const char *(*class)(void *user, int32_t label);
} cli_twin_names;

/* Warn of images with equal pixels and different labels: names two of each of the first five kinds,
 * and counts the others. Sorts `seen`. Returns the number of images that have a twin of another
 * class. */
size_t cli_warn_twins(const char *verb, cli_seen_images *seen, const cli_twin_names *names);

/* Warn of tested images, of set 1, that are also among the labelled ones, of set 0: names the
 * first. `seen` as cli_warn_twins has sorted it. Returns their number. */
size_t cli_warn_known(const char *verb, const cli_seen_images *seen, const cli_twin_names *names);

#endif

/* chosen_images.h -- the images of an open container that operands or --image select. Files that
 * are stored as another image (taper_encoder_add_name) count as images, too: they have the numbers
 * behind the others. */
#ifndef CLI_CHOSEN_IMAGES_H
#define CLI_CHOSEN_IMAGES_H
#include "cli/common/inputs.h"

typedef struct cli_chosen {
    uint64_t *image; /* [count] ascending; NULL: all images in order */
    uint64_t count;
} cli_chosen;

/* Choose the images that these words select (search/image_choice.h); no words: all. verb, path: for
 * messages. Returns an exit code, after a message if a word fits no image. On failure it needs no
 * free. */
int cli_chosen_make(cli_chosen *chosen, const char *verb, const char *path,
                    const taper_container *container, const char *const *words, size_t n);
void cli_chosen_free(cli_chosen *chosen);

/* Images with a number: those of the container, and its further names. */
static inline uint64_t cli_images_in(const taper_container_info *info) {
    return info->images + info->further_names;
}

static inline uint64_t cli_chosen_image(const cli_chosen *chosen, uint64_t k) {
    return chosen->image ? chosen->image[k] : k;
}

#endif

/* chosen_images.c -- see chosen_images.h. */
#include "cli/chosen_images.h"
#include "cli/search/image_choice.h"
#include <stdlib.h>

static const char *stored_name(const void *of, uint64_t i) {
    taper_image_info info = {.size = sizeof info};
    return taper_container_get_image(of, i, &info, NULL) == TAPER_OK ? info.name : NULL;
}

static uint64_t count_images(const taper_container *container) {
    taper_container_info info = {.size = sizeof info};
    return taper_container_get_info(container, &info, NULL) == TAPER_OK
               ? info.images + info.further_names
               : 0;
}

/* List the images that are wanted. */
static bool list_wanted(cli_chosen *chosen, const bool *wanted, uint64_t all) {
    chosen->count = 0;
    for (uint64_t i = 0; i < all; i++) chosen->count += wanted[i];
    chosen->image = malloc(((size_t)chosen->count + 1) * sizeof *chosen->image);
    for (uint64_t i = 0, k = 0; i < all && chosen->image; i++)
        if (wanted[i]) chosen->image[k++] = i;
    return chosen->image != NULL;
}

int cli_chosen_make(cli_chosen *chosen, const char *verb, const char *path,
                    const taper_container *container, const char *const *words, size_t n) {
    const uint64_t all = count_images(container);
    const cli_image_choice choice = {verb, path, all, stored_name, container};
    *chosen = (cli_chosen){.count = all};
    if (!n) return CLI_DONE;
    bool *wanted = calloc((size_t)all + 1, sizeof *wanted);
    int code = wanted ? CLI_DONE : cli_fail(verb, path, TAPER_ERR_NOMEM, NULL);
    for (size_t k = 0; k < n && code == CLI_DONE; k++)
        code = cli_images_choose(&choice, words[k], wanted);
    if (code == CLI_DONE && !list_wanted(chosen, wanted, all))
        code = cli_fail(verb, path, TAPER_ERR_NOMEM, NULL);
    free(wanted);
    return code;
}

void cli_chosen_free(cli_chosen *chosen) {
    free(chosen->image);
    *chosen = (cli_chosen){0};
}

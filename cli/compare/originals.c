/* originals.c -- matches images of the input with those of the container, and reads them. */
#include "cli/compare/originals.h"
#include "formats/imageset/image_names.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

taper_status cli_originals_reserve(cli_originals *originals, size_t n, taper_error *error) {
    free(originals->index);
    originals->count = 0;
    if (n > SIZE_MAX / sizeof *originals->index - 1 ||
        !(originals->index = malloc((n + 1) * sizeof *originals->index)))
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a list of %zu images", n);
    return TAPER_OK;
}

void cli_originals_close(cli_originals *originals) {
    free(originals->index);
    *originals = (cli_originals){0};
}

void cli_originals_apply_alpha(const cli_originals *originals, taper_image *image) {
    formats_image_apply_alpha(image, originals->alpha);
}

taper_status cli_originals_read(const cli_originals *originals, size_t i, taper_image *out,
                                taper_error *error) {
    TAPER_TRY(formats_imageset_read(originals->set, originals->index[i], out, NULL, error));
    cli_originals_apply_alpha(originals, out);
    return TAPER_OK;
}

/* --- matching ------------------------------------------------------------------------------------
 */

typedef struct named {
    const char *name;
    size_t index;
} named;

static int by_name(const void *left, const void *right) {
    return strcmp(((const named *)left)->name, ((const named *)right)->name);
}

/* All names of the set, sorted; NULL when an image has none or memory is short. */
static named *sorted_names(const formats_imageset *set, size_t n) {
    named *names = malloc((n + 1) * sizeof *names);
    for (size_t i = 0; names && i < n; i++) {
        names[i] = (named){formats_imageset_name(set, i), i};
        if (!names[i].name) {
            free(names);
            return NULL;
        }
    }
    if (names) qsort(names, n, sizeof *names, by_name);
    return names;
}

static const named *find(const named *names, size_t n, const char *name) {
    const named wanted = {name, 0};
    return bsearch(&wanted, names, n, sizeof *names, by_name);
}

/* The original of this name. Decoded files, and containers that do not store suffixes, call it
 * ".png". NULL: none, or several. */
static const named *find_original(const named *names, size_t n, const char *name) {
    static const char *const suffixes[] = {".jpg", ".jpeg", ".jpe", ".jfif", ".pnm",  ".pbm",
                                           ".pgm", ".ppm",  ".pam", ".JPG",  ".JPEG", ""};
    const named *found = find(names, n, name), *other;
    const size_t stem = formats_image_stem(name);
    char text[4200];
    if (found || strcmp(name + stem, ".png") != 0) return found;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        snprintf(text, sizeof text, "%.*s%s", (int)stem, name, suffixes[i]);
        if (!(other = find(names, n, text))) continue;
        if (found) return NULL;
        found = other;
    }
    return found;
}

/* Find each image of the container by name in names, or, without names, take it in order. */
static taper_status match(cli_originals *originals, const taper_container *container, size_t images,
                          const named *names, size_t n, taper_error *error) {
    for (size_t i = 0; i < images; i++) {
        taper_image_info info = {.size = sizeof info};
        if (taper_container_get_image(container, i, &info, NULL) != TAPER_OK ||
            (names && !info.name))
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "image %zu of the container has no description", i + 1);
        originals->index[i] = i;
        if (!names) continue;
        const named *found = find_original(names, n, info.name);
        if (!found)
            return formats_fail(error, TAPER_ERR_ARG,
                                "its image '%.100s' is not among the originals given", info.name);
        originals->index[i] = found->index;
    }
    originals->count = images;
    return TAPER_OK;
}

taper_status cli_originals_match(cli_originals *originals, const taper_container *container,
                                 taper_error *error) {
    taper_container_info info = {.size = sizeof info};
    const size_t n = formats_imageset_count(originals->set);
    TAPER_TRY(taper_container_get_info(container, &info, NULL));
    TAPER_TRY(cli_originals_reserve(originals, (size_t)info.images, error));
    named *names = info.has_names ? sorted_names(originals->set, n) : NULL;
    if (!names && n != info.images)
        return formats_fail(error, TAPER_ERR_ARG, "it holds %llu image%s, but %zu original%s given",
                            (unsigned long long)info.images, formats_plural(info.images, "s"), n,
                            n == 1 ? " was" : "s were");
    taper_status status = match(originals, container, (size_t)info.images, names, n, error);
    free(names);
    return status;
}

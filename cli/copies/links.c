/* links.c -- see links.h. */
#include "cli/copies/links.h"
#include "formats/imageset/imageset.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A name of a file that has, or may have, several. */
typedef struct name {
    uint64_t device, file;
    size_t place; /* of the image in the file */
    uint32_t image;
    bool is_link; /* symbolic */
} name;

static int order(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

static int by_file(const void *a, const void *b) {
    const name *x = a, *y = b;
    const int by_device = order(x->device, y->device), by_number = order(x->file, y->file);
    const int by_place = order(x->place, y->place);
    if (by_device) return by_device;
    if (by_number) return by_number;
    if (by_place) return by_place;
    if (x->is_link != y->is_link) return x->is_link ? 1 : -1;
    return order(x->image, y->image);
}

static bool is_same(const name *a, const name *b) {
    return a->device == b->device && a->file == b->file && a->place == b->place;
}

/* False: it is no file, such as a URL. */
static bool look_at(const char *path, size_t i, size_t place, name *to) {
    struct stat own, target;
    if (lstat(path, &own) != 0 || stat(path, &target) != 0) return false;
    *to = (name){.device = (uint64_t)target.st_dev,
                 .file = (uint64_t)target.st_ino,
                 .place = place,
                 .image = (uint32_t)i,
                 .is_link = S_ISLNK(own.st_mode)};
    return true;
}

/* The names of all images that are files. Images of one file come one after the other; an equal one
 * is the file again, which was given twice. */
static size_t list_names(const formats_imageset *set, const uint64_t *digest, name *to) {
    size_t n = 0, place = 0;
    for (size_t i = 0; i < formats_imageset_count(set); i++) {
        const char *path = formats_imageset_path(set, i);
        const bool is_again = i && !strcmp(path, formats_imageset_path(set, i - 1));
        place = is_again ? place + (digest[i] != digest[i - 1]) : 0;
        n += look_at(path, i, place, &to[n]);
    }
    return n;
}

uint32_t *cli_links_find(const cli_code_set *set, const uint64_t *digest) {
    const size_t images = cli_code_set_images(set);
    uint32_t *of = malloc((images + 1) * sizeof *of);
    name *all = malloc((images + 1) * sizeof *all);
    const size_t n = of && all && set->set ? list_names(set->set, digest, all) : 0;
    for (size_t i = 0; of && i < images; i++) of[i] = (uint32_t)i;
    if (n) qsort(all, n, sizeof *all, by_file);
    for (size_t i = 0, first = 0; i < n; i++) {
        if (!is_same(&all[i], &all[first])) first = i;
        of[all[i].image] = all[first].image;
    }
    if (!all) {
        free(of);
        return NULL;
    }
    free(all);
    return of;
}

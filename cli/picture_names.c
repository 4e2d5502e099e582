/* picture_names.c -- see picture_names.h. */
#include "cli/picture_names.h"
#include "cli/chosen_images.h"
#include "formats/imageset/folder_walk.h"
#include "formats/imageset/image_names.h"
#include "formats/name_escape.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Name of the folder of class k: always one safe part of a path. */
static char *class_folder(const taper_container *container, int32_t label) {
    const char *name =
        label < 0 ? "unlabelled" : taper_container_class_name(container, (uint32_t)label);
    size_t n = name ? strlen(name) : 0, room = n + sizeof "class-4294967295";
    char *folder = malloc(room);
    if (!folder) return NULL;
    if (!n || !strcmp(name, ".") || !strcmp(name, ".."))
        snprintf(folder, room, "class-%d", (int)label);
    else
        for (size_t i = 0; i <= n; i++) {
            unsigned char c = (unsigned char)name[i];
            bool plain = (c >= 0x20 && c != 0x7f && c != '/' && c != '\\') || i == n;
            folder[i] = plain ? name[i] : '_';
        }
    return folder;
}

/* "CLASS/name", or the name if it begins so already. malloc'd; NULL without memory. */
static char *sort_into_class(const taper_container *container, int32_t label, const char *name) {
    char *folder = class_folder(container, label), *path = NULL;
    size_t n = folder ? strlen(folder) : 0;
    if (folder)
        path = !strncmp(name, folder, n) && name[n] == '/' ? strdup(name)
                                                           : formats_path_join(folder, name);
    free(folder);
    return path;
}

/* The stored name of image i, or its number; in the folder of its class if requested. NULL without
 * memory. */
static char *name_image(const cli_decode_request *q, const taper_container *container, uint64_t i) {
    taper_image_info info = {.size = sizeof info, .label = -1};
    char number[32];
    snprintf(number, sizeof number, "%06llu", (unsigned long long)i + 1);
    bool named = taper_container_get_image(container, i, &info, NULL) == TAPER_OK && info.name;
    const char *name = named ? info.name : number;
    char *path = q->class_folders ? sort_into_class(container, info.label, name) : strdup(name);
    char *plain = path ? formats_image_name(path) : NULL;
    char *file = plain ? formats_name_unescape(plain) : NULL;
    free(path), free(plain);
    return file;
}

/* The suffixes of names that stay as they are; the first replaces all others. Files in a folder:
 * below CLI_PICTURE_IDX. */
static const char *const *suffixes_of(cli_picture_format format) {
    static const char *const one[][2] = {{".png"}, {".pnm"}, {".jpg"}, {".webp"}, {".tif"}};
    static const char *const original[] = {".png",  ".jpg", ".jpeg", ".jpe", ".jfif",
                                           ".webp", ".tif", ".tiff", ".pnm", ".ppm",
                                           ".pgm",  ".pam", NULL};
    return format == CLI_PICTURE_ORIGINAL ? original : one[format];
}

bool cli_picture_names_keep(cli_picture_format format, const char *name) {
    const char *end = name + formats_image_stem(name);
    for (const char *const *suffix = suffixes_of(format); *suffix; suffix++)
        if (!strcasecmp(end, *suffix)) return true;
    return false;
}

/* Names of the files of all images of the set, so that a name does not depend on the chosen images;
 * or of those alone that matter. name[images], change[images] */
static taper_status name_set(char **name, uint8_t *change, const cli_picture_plan *plan,
                             const cli_decode_request *q, const taper_container *container,
                             uint64_t images, bool folding) {
    for (uint64_t i = 0; i < images; i++)
        if (!(name[i] = name_image(q, container, q->chosen ? q->chosen[i] : i)))
            return TAPER_ERR_NOMEM;
    return formats_image_names_of_files(name, (size_t)images, suffixes_of(plan->format), folding,
                                        change);
}

taper_status cli_picture_names_make(cli_picture_plan *plan, const cli_decode_request *q,
                                    const taper_container *container, bool folding) {
    taper_container_info info = {.size = sizeof info};
    taper_container_get_info(container, &info, NULL);
    const uint64_t all = q->chosen ? q->n_chosen : cli_images_in(&info);
    char **name = calloc((size_t)all + 1, sizeof *name);
    uint8_t *change = calloc((size_t)all + 1, 1);
    taper_status status =
        name && change ? name_set(name, change, plan, q, container, all, folding) : TAPER_ERR_NOMEM;
    for (uint64_t k = 0; k < plan->count && status == TAPER_OK; k++) {
        const uint64_t i = q->chosen ? k : cli_picture_plan_image(plan, k);
        free(plan->name[k]);
        plan->name[k] = name[i], name[i] = NULL;
        plan->change[k] = change[i];
    }
    for (uint64_t i = 0; name && i < all; i++) free(name[i]);
    free(name), free(change);
    return status;
}

/* --- messages about names --- */

static void show_stored(char *to, size_t room, const cli_picture_plan *plan,
                        const taper_container *container, uint64_t k) {
    const uint64_t i = cli_picture_plan_image(plan, k);
    taper_image_info info = {.size = sizeof info};
    if (taper_container_get_image(container, i, &info, NULL) == TAPER_OK && info.name)
        snprintf(to, room, "%s", info.name);
    else
        snprintf(to, room, "image %llu", (unsigned long long)i + 1);
}

/* Report the files with one kind of change, and the first of them. */
static uint64_t count_changes(const cli_picture_plan *plan, const taper_container *container,
                              formats_name_change kind, char *example, size_t room) {
    uint64_t n = 0;
    char stored[120];
    for (uint64_t k = 0; k < plan->count; k++) {
        if (plan->change[k] != kind || n++) continue;
        show_stored(stored, sizeof stored, plan, container, k);
        snprintf(example, room, "%s is %.120s", stored, plan->name[k]);
    }
    return n;
}

void cli_picture_names_report(const cli_picture_plan *plan, const cli_decode_request *q,
                              const taper_container *container) {
    char example[300], stored[400];
    taper_container_info info = {.size = sizeof info};
    taper_container_get_info(container, &info, NULL);
    if (!info.has_names && !info.further_names)
        return; /* images named by number have no other name */
    uint64_t n = count_changes(plan, container, FORMATS_NAME_CLASH, example, sizeof example);
    if (n)
        cli_warning("decode", q->input,
                    "%llu file%s named differently from the image, because another image has or "
                    "gets that name: %s%s",
                    (unsigned long long)n, n == 1 ? " is" : "s are", example,
                    n > 1 ? ", ...; -v names all" : "");
    n = count_changes(plan, container, FORMATS_NAME_SUFFIX, example, sizeof example);
    if (n)
        cli_note(q->common, "decode", "%llu file%s the suffix of the format that is written: %s%s",
                 (unsigned long long)n, n == 1 ? " has" : "s have", example,
                 n > 1 ? ", ...; -v names all" : "");
    for (uint64_t k = 0; k < plan->count && q->common->verbose; k++) {
        if (plan->change[k] == FORMATS_NAME_KEPT) continue;
        show_stored(stored, sizeof stored, plan, container, k);
        cli_detail(q->common, 1, "decode", "%s is %.400s", stored, plan->name[k]);
    }
}

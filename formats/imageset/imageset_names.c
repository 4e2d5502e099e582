/* imageset_names.c -- see imageset_names.h. */
#include "formats/imageset/imageset_names.h"
#include "formats/imageset/image_names.h"
#include "formats/name_escape.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FOLDERS = 16 }; /* folders of an input's path in a prefix */

/* Start of the part of the path before `at`; `at` if there is none that a name may contain. */
static size_t part_before(const char *path, size_t at) {
    size_t end = at;
    while (end && path[end - 1] == '/') end--;
    size_t begin = end;
    while (begin && path[begin - 1] != '/') begin--;
    const size_t n = end - begin;
    const int is_plain = n && strncmp(path + begin, "..", n) != 0; /* true also for "." */
    return is_plain ? begin : at;
}

/* Offset in the path at which the name begins, with this many folders before the relative path. */
static size_t name_at(const image_file *file, unsigned folders) {
    const char *relative = file->path + file->relative_at, *last = strrchr(relative, '/');
    const int is_unsafe =
        relative[0] == '/' || !strncmp(relative, "../", 3) || strstr(relative, "/../");
    size_t at = is_unsafe && last ? (size_t)(last + 1 - file->path) : file->relative_at;
    while (folders--) at = part_before(file->path, at);
    return at;
}

static const image_file *file_of(const formats_image_list *list, size_t i) {
    return &list->files[list->entries[i].file];
}

static void forget_names(formats_image_list *list) {
    for (size_t i = 0; i < list->count; i++)
        free(list->entries[i].name), list->entries[i].name = NULL;
}

/* 1 if entries `first` and i, which have equal names, are from different inputs. A file that was
 * given twice does not count: no prefix could make its names differ. */
static int is_clash(const formats_image_list *list, size_t first, size_t i) {
    const image_file *a = file_of(list, first), *b = file_of(list, i);
    return a->input != b->input && strcmp(a->path, b->path) != 0;
}

/* The name of a frame: "a.gif" becomes "a-03.gif". Takes `name`; NULL without memory. */
static char *frame_name(char *name, uint64_t number, uint32_t frames) {
    const size_t room = strlen(name) + 16, stem = formats_image_stem(name);
    char *numbered = malloc(room);
    int digits = 1;
    for (uint32_t n = frames; n >= 10; n /= 10) digits++;
    if (numbered)
        snprintf(numbered, room, "%.*s-%0*llu%s", (int)stem, name, digits,
                 (unsigned long long)number, name + stem);
    free(name);
    return numbered;
}

/* Name each image. clashes[input] is set if another input gives one of its names. */
static taper_status name_once(formats_image_list *list, const uint8_t *folders, uint8_t *clashes) {
    formats_image_names *names = formats_image_names_make();
    taper_status status = names ? TAPER_OK : TAPER_ERR_NOMEM;
    for (size_t i = 0; i < list->count && status == TAPER_OK; i++) {
        const image_file *file = file_of(list, i);
        image_entry *entry = &list->entries[i];
        if (!entry->is_named) continue;
        char *name = formats_image_name(file->path + name_at(file, folders[file->input]));
        if (name && file->frames) name = frame_name(name, entry->part + 1, file->frames);
        entry->name = name ? formats_name_escape(name) : NULL;
        free(name);
        unsigned *first = entry->name ? formats_image_names_number(names, entry->name) : NULL;
        if (!first)
            status = TAPER_ERR_NOMEM;
        else if (!*first)
            *first = (unsigned)i + 1;
        else if (is_clash(list, *first - 1, i))
            clashes[file_of(list, *first - 1)->input] = clashes[file->input] = 1;
    }
    formats_image_names_free(names);
    return status;
}

/* Add one folder to the prefix of each input that clashes. Returns 0 if none has a further folder.
 */
static int keep_folders(const formats_image_list *list, uint8_t *clashes, uint8_t *folders) {
    int any = 0;
    for (size_t i = 0; i < list->count; i++) {
        const image_file *file = file_of(list, i);
        const unsigned n = folders[file->input];
        if (!clashes[file->input] || !list->entries[i].is_named || n == MOST_FOLDERS) continue;
        clashes[file->input] = 0; /* once per input */
        if (name_at(file, n + 1) == name_at(file, n)) continue;
        folders[file->input]++;
        any = 1;
    }
    return any;
}

static void count(size_t *n, const char **first, const char *name) {
    if (!(*n)++) *first = name;
}

/* Names that are still equal get a number. Images of multi-image files are not counted. */
static taper_status make_unique(formats_image_list *list, const uint8_t *folders) {
    formats_image_names *names = formats_image_names_make();
    taper_status status = names ? TAPER_OK : TAPER_ERR_NOMEM;
    for (size_t i = 0; i < list->count && status == TAPER_OK; i++) {
        image_entry *entry = &list->entries[i];
        const image_file *file = file_of(list, i);
        if (!entry->is_named) continue;
        const size_t before = strlen(entry->name);
        entry->name = formats_image_names_next(names, entry->name);
        if (!entry->name)
            status = TAPER_ERR_NOMEM;
        else if (strlen(entry->name) != before && !(i && list->entries[i - 1].file == entry->file))
            count(&list->numbered, &list->numbered_first, entry->name);
        else if (folders[file->input])
            count(&list->prefixed, &list->prefixed_first, entry->name);
    }
    formats_image_names_free(names);
    return status;
}

taper_status formats_imageset_name_images(list_builder *b) {
    formats_image_list *list = b->list;
    uint8_t *folders = calloc((size_t)b->inputs + 1, 1),
            *clashes = calloc((size_t)b->inputs + 1, 1);
    taper_status status = folders && clashes ? TAPER_OK : TAPER_ERR_NOMEM;
    for (int round = 0; status == TAPER_OK; round++) {
        forget_names(list);
        status = name_once(list, folders, clashes);
        if (round == MOST_FOLDERS || !keep_folders(list, clashes, folders)) break;
    }
    if (status == TAPER_OK) status = make_unique(list, folders);
    free(folders), free(clashes);
    return status == TAPER_OK ? TAPER_OK : formats_no_memory_to_list(b->error);
}

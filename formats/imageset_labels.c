/* imageset_labels.c -- labels of a set: from a label file, CIFAR records, or folder names. */
#include "formats/imageset_labels.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *relative_path(const formats_image_list *list, size_t i) {
    const image_file *file = &list->files[list->entries[i].file];
    return file->path + file->relative_at;
}

/* The class names move to the set; the rest of labels stays the caller's. */
static void take_class_names(formats_image_list *list, formats_labels *labels) {
    list->class_names = labels->class_names;
    list->class_count = labels->class_count;
    list->account.used += labels->class_bytes;
    labels->class_names = NULL;
    labels->class_count = 0;
}

/* --- a label file --- */

static taper_status assign_in_order(list_builder *b, const formats_labels *labels,
                                    taper_error *why) {
    formats_image_list *list = b->list;
    if (labels->count != list->count && b->skipped)
        return formats_fail(
            why, TAPER_ERR_ARG,
            "there are %zu labels for %zu images (%zu of the files gave none); give one label for "
            "each image",
            labels->count, list->count, b->skipped);
    TAPER_TRY(formats_labels_check_count(labels, list->count, why));
    for (size_t i = 0; i < list->count; i++) list->entries[i].label = labels->classes[i];
    return TAPER_OK;
}

enum { LONGEST_NAME = 4200 }; /* of an image of an IDX or CIFAR file, as other verbs call it */

/* What the image is called here: its name, or "FILE#N" of an IDX or CIFAR file; room: for it. */
static const char *own_name(const formats_image_list *list, size_t i, const char *file,
                            char room[LONGEST_NAME]) {
    if (list->entries[i].name) return list->entries[i].name;
    snprintf(room, LONGEST_NAME, "%.4150s#%llu", file,
             (unsigned long long)list->entries[i].part + 1);
    return room;
}

/* Are all images there by the names that they have here? Then the file was written by one of our
 * own verbs, and these names are meant, even where one of them is another image's path. */
static int has_own_names(const formats_image_list *list, const formats_labels *labels) {
    char room[LONGEST_NAME];
    for (size_t i = 0; i < list->count; i++)
        if (!formats_labels_has(labels,
                                own_name(list, i, list->files[list->entries[i].file].path, room)))
            return 0;
    return 1;
}

/* A label file may name an image by its path, by the name it gets here, or by its file name alone.
 * The one that it has, or NULL; room: for it. */
static const char *find_name(const formats_image_list *list, size_t i, const formats_labels *labels,
                             char room[LONGEST_NAME]) {
    const image_entry *entry = &list->entries[i];
    const char *path = list->files[entry->file].path, *relative = relative_path(list, i);
    const char *slash = strrchr(relative, '/'), *alone = slash ? slash + 1 : relative;
    if (entry->name && formats_labels_has(labels, relative)) return relative;
    const char *name = own_name(list, i, path, room);
    if (formats_labels_has(labels, name)) return name;
    if (!entry->name) alone = own_name(list, i, alone, room);
    return formats_labels_has(labels, alone) ? alone : NULL;
}

static taper_status count_name(size_t *count, char **first, const char *name, taper_error *why) {
    if ((*count)++) return TAPER_OK;
    *first = strdup(name);
    return *first ? TAPER_OK : formats_fail(why, TAPER_ERR_NOMEM, "no memory for a name");
}

/* Lines that name no image, and those whose label a later line takes back. used[count]: by place.
 */
static taper_status count_lines(formats_image_list *list, const formats_labels *labels,
                                const uint8_t *used, taper_error *why) {
    for (size_t i = 0; i < labels->count; i++) {
        const char *name = labels->names[i];
        const size_t place = formats_labels_place(labels, name);
        taper_status status = TAPER_OK;
        if (!used[place]) status = count_name(&list->lines_left, &list->line_left, name, why);
        if (status == TAPER_OK && labels->classes[place] != labels->classes[i])
            status = count_name(&list->lines_twice, &list->line_twice, name, why);
        TAPER_TRY(status);
    }
    return TAPER_OK;
}

/* used[count], zeroed: set for the labels that images have. */
static taper_status name_images(list_builder *b, const formats_labels *labels, uint8_t *used,
                                taper_error *why) {
    formats_image_list *list = b->list;
    const int is_own = has_own_names(list, labels);
    char room[LONGEST_NAME];
    size_t missing = 0;
    size_t first = 0;
    for (size_t i = 0; i < list->count; i++) {
        image_entry *entry = &list->entries[i];
        const char *path = list->files[entry->file].path;
        const char *name =
            is_own ? own_name(list, i, path, room) : find_name(list, i, labels, room);
        if (!name && !entry->name)
            return formats_fail(
                why, TAPER_ERR_ARG,
                "the labels go by name, but images of IDX and CIFAR files have none; give one "
                "label a line, or call them '%.60s#1' and so on",
                path);
        if (name)
            entry->label = formats_labels_find(labels, name),
            used[formats_labels_place(labels, name)] = 1;
        else if (missing++ == 0)
            first = i;
    }
    if (missing == 0) return TAPER_OK;
    const char *file = relative_path(list, first), *name = list->entries[first].name;
    const int same = !strcmp(file, name);
    return formats_fail(
        why, TAPER_ERR_ARG,
        "of %zu images, %zu are not among the %zu names, for example '%.60s'%s%.60s%s; give each "
        "image a line (below the heading name,label a label may be empty)",
        list->count, missing, labels->count, file, same ? "" : ", or '", same ? "" : name,
        same ? "" : "'");
}

static taper_status assign_by_name(list_builder *b, const formats_labels *labels,
                                   taper_error *why) {
    uint8_t *used = calloc(labels->count + 1, 1);
    if (!used) return formats_fail(why, TAPER_ERR_NOMEM, "no memory for the labels");
    taper_status status = name_images(b, labels, used, why);
    if (status == TAPER_OK) status = count_lines(b->list, labels, used, why);
    free(used);
    return status;
}

static taper_status assign_from_file(list_builder *b, const char *path) {
    taper_error why = {.status = TAPER_OK};
    uint8_t *bytes = NULL;
    size_t size = 0;
    formats_labels labels = {0};
    taper_limits limits = b->list->limits;
    limits.max_memory = formats_account_left(&b->list->account);
    taper_status status = formats_file_read(path, limits.max_memory, &bytes, &size, &why);
    limits.max_memory -= size < limits.max_memory ? size : limits.max_memory - 1;
    if (status == TAPER_OK) status = formats_labels_decode(bytes, size, &limits, &labels, &why);
    if (status == TAPER_OK)
        status =
            labels.names ? assign_by_name(b, &labels, &why) : assign_in_order(b, &labels, &why);
    if (status == TAPER_OK)
        take_class_names(b->list, &labels);
    else
        formats_fail(b->error, status, "labels '%.80s': %s", path, why.text);
    formats_labels_free(&labels);
    free(bytes);
    return status;
}

/* --- CIFAR --- */

static taper_status name_numbers(list_builder *b, uint32_t classes) {
    formats_labels labels;
    char numbers[100][4];
    const char *texts[100];
    for (uint32_t k = 0; k < classes && k < 100; k++) {
        snprintf(numbers[k], sizeof numbers[k], "%u", k % 100);
        texts[k] = numbers[k];
    }
    TAPER_TRY(formats_labels_from_texts(texts, classes, &labels, b->error));
    take_class_names(b->list, &labels);
    formats_labels_free(&labels);
    return TAPER_OK;
}

/* The labels in CIFAR files, which are classes already. *found: there was such a file. */
static taper_status assign_from_cifar(list_builder *b, int *found) {
    formats_image_list *list = b->list;
    uint32_t classes = 0;
    for (size_t i = 0; i < list->count; i++) {
        image_entry *entry = &list->entries[i];
        const image_file *file = &list->files[entry->file];
        if (file->kind != KIND_CIFAR) continue;
        const formats_cifar *cifar = &file->pack->cifar;
        uint8_t label;
        TAPER_TRY(formats_cifar_read_label(&file->pack->source, cifar, (uint32_t)entry->part,
                                           &label, b->error));
        entry->label = label;
        if (cifar->classes > classes) classes = cifar->classes;
    }
    *found = classes > 0;
    return *found ? name_numbers(b, classes) : TAPER_OK;
}

/* --- folders --- */

/* The first folder below the folder argument, in new memory; *text is NULL when there is none. A
 * copy is shared with the image before when that has the same one, as neighbours mostly do. */
static taper_status class_of(const formats_image_list *list, size_t i, char **texts, size_t *owned,
                             const char **text, taper_error *error) {
    const char *relative = relative_path(list, i);
    size_t n = strcspn(relative, "/");
    *text = NULL;
    if (!list->files[list->entries[i].file].below_folder || relative[n] != '/') return TAPER_OK;
    const char *last = *owned ? texts[*owned - 1] : NULL;
    if (!last || strncmp(last, relative, n) != 0 || last[n] != '\0') {
        char *copy = strndup(relative, n);
        if (!copy) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the labels");
        texts[(*owned)++] = copy;
    }
    *text = texts[*owned - 1];
    return TAPER_OK;
}

static taper_status assign_from_texts(list_builder *b, const char *const *texts) {
    formats_image_list *list = b->list;
    formats_labels labels;
    TAPER_TRY(formats_labels_from_texts(texts, list->count, &labels, b->error));
    if (labels.class_count >= 2) {
        for (size_t i = 0; i < list->count; i++) list->entries[i].label = labels.classes[i];
        take_class_names(list, &labels);
    } else if (labels.class_count == 1) {
        list->lone_class = labels.class_names[0], labels.class_names[0] = NULL;
    }
    formats_labels_free(&labels);
    return TAPER_OK;
}

static taper_status assign_from_folders(list_builder *b) {
    enum { EACH = 6 * sizeof(char *) }; /* of the two lists, and of numbering the classes */
    size_t count = b->list->count, owned = 0, files = b->list->file_count;
    while (files && !b->list->files[files - 1].below_folder) files--;
    if (!files) return TAPER_OK;
    TAPER_TRY(formats_image_list_charge(b, count * EACH));
    formats_account_give(&b->list->account, count * EACH); /* it is freed below */
    char **copies = malloc(count * sizeof *copies);
    const char **texts = malloc(count * sizeof *texts);
    taper_status status = TAPER_OK;
    if (!copies || !texts)
        status = formats_fail(b->error, TAPER_ERR_NOMEM, "no memory for the labels");
    for (size_t i = 0; i < count && status == TAPER_OK; i++)
        status = class_of(b->list, i, copies, &owned, &texts[i], b->error);
    if (status == TAPER_OK) status = assign_from_texts(b, texts);
    for (size_t i = 0; i < owned; i++) free(copies[i]);
    free(copies);
    free(texts);
    return status;
}

taper_status formats_imageset_assign_labels(list_builder *b, const char *labels_path) {
    if (labels_path) return assign_from_file(b, labels_path);
    int found;
    TAPER_TRY(assign_from_cifar(b, &found));
    return found ? TAPER_OK : assign_from_folders(b);
}

/* imageset_labels.c -- see imageset_labels.h. */
#include "formats/imageset/imageset_labels.h"
#include "formats/imageset/label_names.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *relative_path(const formats_image_list *list, size_t i) {
    const image_file *file = &list->files[list->entries[i].file];
    return file->path + file->relative_at;
}

/* Move the class names to the set; the caller keeps the rest of labels. */
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

static taper_status assign_from_file(list_builder *b, const char *path) {
    taper_error why = {.status = TAPER_OK};
    uint8_t *bytes = NULL;
    size_t size = 0;
    formats_labels labels = {0};
    taper_limits limits = formats_limits_minus(&b->list->limits, b->list->account.used);
    taper_status status = formats_file_read_within(path, &limits, &bytes, &size, &why);
    limits = formats_limits_minus(&limits, size);
    if (status == TAPER_OK) status = formats_labels_decode(bytes, size, &limits, &labels, &why);
    if (status == TAPER_OK)
        status = labels.names ? formats_label_names_assign(b->list, &labels, &why)
                              : assign_in_order(b, &labels, &why);
    if (status == TAPER_OK)
        take_class_names(b->list, &labels);
    else
        formats_fail_as(b->error, status, &why, "labels '%.80s': %s", path, why.text);
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

/* Set the labels of CIFAR files, which are class numbers. *found: 1 if there was such a file. */
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

/* *text: the first folder below the folder argument, in new memory; NULL: none. The image before
 * usually has the same folder; the copy is then shared. */
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
        list->single_class = labels.class_names[0], labels.class_names[0] = NULL;
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

/* image_list.c -- see image_list.h. */
#include "formats/imageset/image_list.h"
#include "formats/bytes.h"
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 96 }; /* overhead of a name: allocation and table entry */

taper_status formats_no_memory_to_list(taper_error *error) {
    return formats_fail(error, TAPER_ERR_NOMEM, "no memory to list the images");
}

taper_status formats_image_list_charge(list_builder *b, uint64_t bytes) {
    formats_account *account = &b->list->account;
    if (formats_account_take(account, bytes) == TAPER_OK) return TAPER_OK;
    return formats_fail_fact(b->error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY,
                             formats_account_step(account, bytes),
                             "the list of images and labels takes more than %llu bytes of memory",
                             (unsigned long long)account->limit);
}

void formats_report_skip(list_builder *b, formats_skip what, const char *path,
                         const taper_error *why) {
    b->skipped += what != FORMATS_SKIP_LINK && what != FORMATS_SKIP_HIDDEN;
    b->hidden += what == FORMATS_SKIP_HIDDEN;
    b->failed += what == FORMATS_SKIP_FAILED;
    if (b->skip) b->skip(b->skip_user, what, path, why);
}

taper_status formats_skip_or_fail(list_builder *b, const char *path, taper_status status,
                                  const taper_error *why) {
    if (status == TAPER_OK) return TAPER_OK;
    if (status == TAPER_ERR_NOMEM) return formats_no_memory_to_list(b->error);
    if (status == TAPER_ERR_IO)
        return formats_fail_as(b->error, status, why, "'%.100s': %.140s", path, why->text);
    formats_report_skip(b, FORMATS_SKIP_FAILED, path, why);
    return TAPER_OK;
}

image_pack *formats_image_pack_over(uint8_t *held, size_t size) {
    image_pack *pack = calloc(1, sizeof *pack);
    if (!pack) {
        free(held);
        return NULL;
    }
    pack->held = held;
    pack->memory = (formats_memory){held, size};
    pack->source = formats_memory_source(&pack->memory);
    return pack;
}

static taper_status read_spool(void *user, uint64_t offset, void *to, size_t n) {
    const image_pack *pack = user;
    return formats_spool_read(pack->spool, pack->spool_at + offset, to, n);
}

image_pack *formats_image_pack_in_spool(const formats_spool *spool, uint64_t at, uint64_t size) {
    image_pack *pack = calloc(1, sizeof *pack);
    if (!pack) return NULL;
    pack->spool = spool, pack->spool_at = at;
    pack->source = (taper_source){.user = pack, .size = size, .read = read_spool};
    return pack;
}

taper_status formats_file_bytes_load(const image_pack *pack, uint64_t offset, uint64_t n,
                                     const char *path, const taper_limits *limits,
                                     formats_file_bytes *out, taper_error *error) {
    *out = (formats_file_bytes){0};
    if (!pack) {
        TAPER_TRY(formats_file_read_within(path, limits, &out->owned, &out->size, error));
        out->bytes = out->owned;
        return TAPER_OK;
    }
    if (pack->memory.bytes) {
        out->bytes = pack->memory.bytes + offset, out->size = (size_t)n;
        return TAPER_OK;
    }
    if (n > limits->max_memory)
        return formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY,
                                 formats_memory_needed(limits, n),
                                 "the image takes %llu bytes, more than the limit of %llu",
                                 (unsigned long long)n, (unsigned long long)limits->max_memory);
    out->owned = malloc((size_t)n + 1);
    if (!out->owned) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to read an image");
    out->bytes = out->owned, out->size = (size_t)n;
    const taper_status status =
        formats_source_read(&pack->source, offset, out->owned, (size_t)n, error);
    if (status == TAPER_OK) return TAPER_OK;
    free(out->owned);
    *out = (formats_file_bytes){0};
    return status;
}

void formats_image_pack_free(image_pack *pack) {
    if (!pack) return;
    formats_file_close(pack->file);
    free(pack->held);
    free(pack);
}

taper_status formats_image_list_add(list_builder *b, uint64_t part, int named) {
    formats_image_list *list = b->list;
    const image_file *file = &list->files[list->file_count - 1];
    if (list->count >= list->limits.max_images)
        return formats_fail_fact(b->error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_IMAGES,
                                 formats_power_above(list->limits.max_images),
                                 "there are more than %llu images",
                                 (unsigned long long)list->limits.max_images);
    const size_t before = list->capacity;
    if (!formats_grow(&list->entries, list->count, &list->capacity, sizeof *list->entries))
        return formats_no_memory_to_list(b->error);
    TAPER_TRY(formats_image_list_charge(b, (list->capacity - before) * sizeof *list->entries));
    if (named) TAPER_TRY(formats_image_list_charge(b, strlen(file->path) + NAME_BYTES));
    list->entries[list->count++] = (image_entry){.part = part,
                                                 .file = (uint32_t)(list->file_count - 1),
                                                 .label = -1,
                                                 .is_named = named != 0};
    return TAPER_OK;
}

taper_status formats_image_list_add_file(list_builder *b, const image_file *like, image_kind kind,
                                         image_pack *pack) {
    formats_image_list *list = b->list;
    char *path = strdup(like->path);
    if (!path || list->file_count == UINT32_MAX ||
        !formats_grow(&list->files, list->file_count, &list->file_capacity, sizeof *list->files)) {
        free(path);
        formats_image_pack_free(pack);
        return formats_no_memory_to_list(b->error);
    }
    const taper_status charged = formats_image_list_charge(
        b, 2 * sizeof *list->files + strlen(path) + NAME_BYTES + (pack ? pack->memory.size : 0));
    if (charged != TAPER_OK) {
        free(path);
        formats_image_pack_free(pack);
        return charged;
    }
    image_file *file = &list->files[list->file_count++];
    *file = *like;
    file->path = path, file->kind = kind, file->pack = pack, file->input = b->inputs;
    return TAPER_OK;
}

void formats_image_list_free(formats_image_list *list) {
    for (size_t i = 0; i < list->file_count; i++) {
        free(list->files[i].path);
        formats_image_pack_free(list->files[i].pack);
    }
    for (size_t i = 0; i < list->count; i++) free(list->entries[i].name);
    for (size_t k = 0; k < list->class_count; k++) free(list->class_names[k]);
    formats_spool_close(&list->spool);
    free(list->files);
    free(list->entries);
    free(list->class_names);
    free(list->unmatched_line);
    free(list->overridden_line);
    free(list->single_class);
}

/* archive_inputs.c -- see archive_inputs.h. */
#include "formats/imageset/archive_inputs.h"
#include "formats/images/foreign.h"
#include "formats/images/gzip.h"
#include "formats/imageset/folder_walk.h"
#include "formats/readers/archive.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 16 };

int formats_is_archive(const uint8_t *front, size_t n) {
    uint8_t plain[FORMATS_FOREIGN_FRONT];
    size_t got;
    if (!formats_gzip_detect(front, n)) return formats_archive_detect(front, n);
    return formats_gzip_peek(front, n, plain, sizeof plain, &got, NULL) == TAPER_OK &&
           formats_archive_detect(plain, got);
}

/* "ARCHIVE/member", for messages and names. */
static char *path_of(const char *archive, const char *member) {
    const size_t room = strlen(archive) + strlen(member) + 2;
    char *path = malloc(room);
    if (path) snprintf(path, room, "%s/%s", archive, member);
    return path;
}

/* Copy the current member behind its first bytes, which were read, to the spool. */
static taper_status spool_member(list_builder *b, formats_archive *archive, const candidate *c,
                                 uint64_t *size, taper_error *why) {
    const taper_limits *limits = &b->list->limits;
    formats_spool *spool = &b->list->spool;
    uint8_t *block = malloc(BLOCK);
    if (!block) return formats_fail(why, TAPER_ERR_NOMEM, "no memory to read an archive");
    taper_status status = formats_spool_append(spool, c->front, c->front_size, why);
    *size = c->front_size;
    for (size_t got = BLOCK; status == TAPER_OK && got == BLOCK;) {
        status = formats_archive_read(archive, block, BLOCK, &got, why);
        if (status == TAPER_OK) status = formats_spool_append(spool, block, got, why);
        *size += got;
        if (status == TAPER_OK && *size > limits->max_memory)
            status = formats_fail_fact(
                why, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY, formats_memory_step(limits, *size),
                "is larger than the limit of %llu bytes", (unsigned long long)limits->max_memory);
    }
    free(block);
    return status;
}

/* A file in the archive. c: with path and first bytes. */
static taper_status add_file(list_builder *b, formats_archive *archive, candidate *c,
                             taper_error *why) {
    const uint64_t before = b->list->spool.size;
    const size_t count = b->list->count;
    uint64_t size = 0;
    if (c->front_size == sizeof c->front &&
        (c->may_be_cifar || formats_may_be_image(c->front, c->front_size)))
        TAPER_TRY(spool_member(b, archive, c, &size, why));
    else if (c->front_size)
        TAPER_TRY(formats_spool_append(&b->list->spool, c->front, size = c->front_size, why));
    c->pack = formats_image_pack_in_spool(&b->list->spool, before, size);
    if (!c->pack) return formats_no_memory_to_list(why);
    const taper_status status = formats_add_candidate(b, c);
    why->status = TAPER_OK; /* an error now concerns the list */
    if (status == TAPER_OK && b->list->count == count) formats_spool_cut(&b->list->spool, before);
    return status;
}

/* A member that is not read, and why; TAPER_OK: it is read. */
static taper_status check_member(const formats_member *member, const taper_limits *limits,
                                 formats_skip *what, taper_error *why) {
    *what = FORMATS_SKIP_NO_IMAGE;
    if (member->kind == FORMATS_MEMBER_LINK)
        return formats_fail(why, TAPER_ERR_UNSUPPORTED,
                            "is a link, which is not followed in an archive");
    if (member->kind != FORMATS_MEMBER_FILE)
        return formats_fail(why, TAPER_ERR_UNSUPPORTED, "is neither a file nor a folder");
    *what = FORMATS_SKIP_FAILED;
    if (!formats_archive_name_is_safe(member->name))
        return formats_fail(why, TAPER_ERR_UNSUPPORTED,
                            "its name leads out of the archive, or is empty: unpack it yourself, "
                            "and name the file");
    *what = FORMATS_SKIP_HIDDEN;
    if (formats_path_is_hidden(member->name))
        return formats_fail(why, TAPER_ERR_UNSUPPORTED, "is hidden, or a system folder");
    *what = FORMATS_SKIP_FAILED;
    if (member->size > limits->max_memory)
        return formats_fail_fact(why, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY,
                                 formats_memory_needed(limits, member->size),
                                 "takes %llu bytes, more than the limit of %llu",
                                 (unsigned long long)member->size,
                                 (unsigned long long)limits->max_memory);
    return TAPER_OK;
}

static taper_status add_member(list_builder *b, formats_archive *archive, const candidate *whole,
                               const formats_member *member, taper_error *why) {
    formats_skip what;
    char *path = path_of(whole->file.path, member->name);
    if (!path) return formats_no_memory_to_list(why);
    taper_error reason;
    taper_status status = check_member(member, &b->list->limits, &what, &reason);
    if (status != TAPER_OK) {
        formats_report_skip(b, what, path, &reason);
        free(path);
        return TAPER_OK;
    }
    candidate c = {.file = {.path = path,
                            .relative_at = strlen(whole->file.path) + 1,
                            .below_folder = 1,
                            .has_modified = member->has_modified != 0,
                            .modified_ns = member->modified_ns},
                   .may_be_cifar = formats_has_extension(path, ".bin")};
    status = formats_archive_read(archive, c.front, sizeof c.front, &c.front_size, why);
    if (status == TAPER_OK) status = add_file(b, archive, &c, why);
    if (status == TAPER_ERR_LIMIT && why->fact == TAPER_FACT_MAX_MEMORY) {
        formats_report_skip(b, FORMATS_SKIP_FAILED, path, why); /* others may be smaller */
        status = TAPER_OK;
    }
    free(path);
    return status;
}

/* *members: how many there are. */
static taper_status add_members(list_builder *b, formats_archive *archive, const candidate *whole,
                                size_t *members, taper_error *why) {
    for (;; ++*members) {
        formats_member member;
        TAPER_TRY(formats_archive_next(archive, &member, why));
        if (!member.name) return TAPER_OK;
        if (member.kind != FORMATS_MEMBER_FOLDER)
            TAPER_TRY(add_member(b, archive, whole, &member, why));
    }
}

taper_status formats_imageset_add_archive(list_builder *b, int descriptor, candidate *c) {
    const size_t before = b->list->count, failed = b->failed;
    taper_error why = {.status = TAPER_OK};
    formats_archive *archive;
    size_t members = 0;
    int is_other;
    taper_status status = formats_archive_open(&archive, descriptor, c->front, c->front_size, &why);
    if (status == TAPER_OK) {
        status = add_members(b, archive, c, &members, &why);
        formats_archive_close(archive);
    }
    const char *what = formats_foreign_by_content(c->front, c->front_size, NULL, &is_other);
    if (status == TAPER_ERR_CORRUPT && !members && what) /* no tar is packed in it, for example */
        status = formats_fail(&why, TAPER_ERR_UNSUPPORTED, "%s", what);
    if (status != TAPER_OK)
        return why.status == TAPER_OK ? status
                                      : formats_skip_or_fail(b, c->file.path, status, &why);
    if (b->list->count > before || b->failed > failed) return TAPER_OK;
    formats_fail(&why, TAPER_ERR_ARG, "the archive holds no image");
    formats_report_skip(b, FORMATS_SKIP_FAILED, c->file.path, &why);
    return TAPER_OK;
}

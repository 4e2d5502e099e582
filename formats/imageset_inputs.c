/* imageset_inputs.c -- from paths, folders, lists and streams to the images of a set.
 *
 * A file is recognised by its first bytes; CIFAR, which has no magic number, by its structure and
 * by the extension .bin or by coming through a stream. */
#include "formats/folder_walk.h"
#include "formats/foreign.h"
#include "formats/gzip.h"
#include "formats/imageset_parts.h"
#include "formats/jpeg.h"
#include "formats/metadata.h"
#include "formats/png.h"
#include "formats/pnm.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* Enough of a file to recognise it, and to hold the header of nearly every PNM. */
enum { FRONT_BYTES = 512 };

static taper_status no_memory(taper_error *error) {
    return formats_fail(error, TAPER_ERR_NOMEM, "no memory to list the images");
}

static void report_skip(imageset_builder *b, formats_skip what, const char *path,
                        const taper_error *why) {
    b->skipped += what != FORMATS_SKIP_LINK;
    b->failed += what == FORMATS_SKIP_FAILED;
    if (b->skip) b->skip(b->skip_user, what, path, why);
}

static void report_failure(imageset_builder *b, const char *path, const taper_error *why) {
    report_skip(b, FORMATS_SKIP_FAILED, path, why);
}

/* What lies in the file is reported, and the set goes on. Short memory and a disk that cannot be
 * read say nothing of the file, and a set without it would pass for the whole: these are passed on.
 */
static taper_status fail_or_pass(imageset_builder *b, const char *path, taper_status status,
                                 const taper_error *why) {
    if (status == TAPER_OK) return TAPER_OK;
    if (status == TAPER_ERR_NOMEM) return no_memory(b->error);
    if (status == TAPER_ERR_IO)
        return formats_fail(b->error, status, "'%.100s': %.140s", path, why->text);
    report_failure(b, path, why);
    return TAPER_OK;
}

/* A path that cannot be opened, by errno. */
static taper_status cannot_open(imageset_builder *b, const char *path, int errnum) {
    taper_error why;
    taper_status status = formats_fail_errno(&why, errnum, "open");
    if (!formats_errno_is_of_path(errnum)) return fail_or_pass(b, path, status, &why);
    report_failure(b, path, &why);
    return TAPER_OK;
}

void imageset_pack_free(image_pack *pack) {
    if (!pack) return;
    formats_file_close(pack->file);
    free(pack->held);
    free(pack);
}

/* Is a status about the system rather than about the file? */
static int is_systems(taper_status status) {
    return status == TAPER_ERR_NOMEM || status == TAPER_ERR_IO;
}

/* --- files and entries --- */

static taper_status add_entry(imageset_builder *b, uint64_t part, int named) {
    formats_imageset *set = b->set;
    const image_file *file = &set->files[set->file_count - 1];
    if (set->count >= set->limits.max_images)
        return formats_fail(b->error, TAPER_ERR_LIMIT,
                            "there are more than %llu images; raise --max-images",
                            (unsigned long long)set->limits.max_images);
    if (set->count == set->capacity) {
        size_t capacity = set->capacity ? set->capacity + set->capacity / 2 : 64;
        image_entry *entries = realloc(set->entries, capacity * sizeof *entries);
        if (!entries) return no_memory(b->error);
        set->entries = entries;
        set->capacity = capacity;
    }
    char *name = named ? formats_image_names_next(b->names, file->path + file->relative_at) : NULL;
    if (named && !name) return no_memory(b->error);
    set->entries[set->count++] = (image_entry){
        .part = part, .name = name, .file = (uint32_t)(set->file_count - 1), .label = -1};
    return TAPER_OK;
}

static taper_status add_numbered_entries(imageset_builder *b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) TAPER_TRY(add_entry(b, i, 0));
    return TAPER_OK;
}

/* Keep a file of the set. Takes a copy of path, and pack as it is (also on failure). */
static taper_status keep_file(imageset_builder *b, const image_file *like, image_kind kind,
                              image_pack *pack) {
    formats_imageset *set = b->set;
    char *path = strdup(like->path);
    if (path && set->file_count == set->file_capacity) {
        size_t capacity = set->file_capacity ? set->file_capacity + set->file_capacity / 2 : 64;
        image_file *files = realloc(set->files, capacity * sizeof *files);
        if (files) {
            set->files = files;
            set->file_capacity = capacity;
        }
    }
    if (!path || set->file_count == set->file_capacity || set->file_count == UINT32_MAX) {
        free(path);
        imageset_pack_free(pack);
        return no_memory(b->error);
    }
    set->files[set->file_count] = *like;
    set->files[set->file_count].path = path;
    set->files[set->file_count].kind = kind;
    set->files[set->file_count++].pack = pack;
    return TAPER_OK;
}

/* --- recognising --- */

/* What is known of a file while it is being recognised. */
typedef struct candidate {
    image_file file;  /* path borrowed; kind and pack not set */
    image_pack *pack; /* of a stream: filled from the start; else made when needed */
    uint8_t front[FRONT_BYTES];
    size_t front_size;
    int may_be_cifar;
    int is_unknown; /* nothing in it says that it is an image */
} candidate;

static int has_extension(const char *path, const char *extension) {
    size_t n = strlen(path), m = strlen(extension);
    return n > m && strcasecmp(path + n - m, extension) == 0;
}

static image_pack *pack_over_memory(uint8_t *held, size_t size) {
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

/* Make sure that the candidate has a pack: its bytes can then be read at random. */
static taper_status need_pack(candidate *c, taper_error *why) {
    if (c->pack) return TAPER_OK;
    formats_file *file;
    TAPER_TRY(formats_file_open(&file, c->file.path, why));
    c->pack = calloc(1, sizeof *c->pack);
    if (!c->pack) {
        formats_file_close(file);
        return no_memory(why);
    }
    c->pack->file = file;
    c->pack->source = formats_file_source(file);
    return TAPER_OK;
}

static image_pack *take_pack(candidate *c) {
    image_pack *pack = c->pack;
    c->pack = NULL;
    return pack;
}

static int looks_like_idx(const uint8_t *front, size_t n) {
    return n >= 4 && front[0] == 0 && front[1] == 0 && front[2] >= 8 && front[2] <= 14;
}

/* Are the first bytes of what is packed those of an IDX file? Where the front of the packed file
 * gives too few to tell, unpacking will. */
static taper_status check_packed(candidate *c, taper_error *why) {
    uint8_t front[FORMATS_FOREIGN_FRONT];
    size_t got;
    int is_archive;
    TAPER_TRY(formats_gzip_peek(c->front, c->front_size, front, sizeof front, &got, why));
    if (got < 4 || looks_like_idx(front, got)) return TAPER_OK;
    c->is_unknown = 1;
    const char *what = formats_foreign_by_content(front, got, &is_archive);
    if (what) return formats_fail(why, TAPER_ERR_UNSUPPORTED, "%s", what);
    return formats_fail(why, TAPER_ERR_CORRUPT, "of files packed with gzip only IDX is read");
}

/* Replace a gzip file by the IDX file in it. */
static taper_status unpack_gzip(candidate *c, const taper_limits *limits, taper_error *why) {
    uint8_t *packed, *plain;
    size_t packed_size, plain_size;
    taper_status status;
    TAPER_TRY(check_packed(c, why));
    if (c->pack) {
        status = formats_idx_unpack(c->pack->memory.bytes, c->pack->memory.size, limits, &plain,
                                    &plain_size, why);
    } else {
        TAPER_TRY(formats_file_read(c->file.path, limits->max_memory, &packed, &packed_size, why));
        status = formats_idx_unpack(packed, packed_size, limits, &plain, &plain_size, why);
        free(packed);
    }
    TAPER_TRY(status);
    imageset_pack_free(c->pack);
    c->pack = pack_over_memory(plain, plain_size);
    return c->pack ? TAPER_OK : no_memory(why);
}

static taper_status add_idx(imageset_builder *b, candidate *c, taper_error *why) {
    formats_idx idx;
    TAPER_TRY(need_pack(c, why));
    TAPER_TRY(formats_idx_open(&c->pack->source, &b->set->limits, &idx, why));
    c->pack->idx = idx;
    why->status = TAPER_OK;
    TAPER_TRY(keep_file(b, &c->file, KIND_IDX, take_pack(c)));
    return add_numbered_entries(b, idx.count);
}

static taper_status add_cifar(imageset_builder *b, candidate *c, taper_error *why) {
    formats_cifar cifar;
    TAPER_TRY(need_pack(c, why));
    TAPER_TRY(formats_cifar_open(&c->pack->source, &b->set->limits, &cifar, why));
    c->pack->cifar = cifar;
    why->status = TAPER_OK;
    TAPER_TRY(keep_file(b, &c->file, KIND_CIFAR, take_pack(c)));
    return add_numbered_entries(b, cifar.count);
}

/* Offset of the image behind the one at offset in a file of binary PNMs; the source's size when
 * there is none, or when only reading the pixels would tell. Fails when what follows
 * is no image. */
static taper_status next_pnm(const taper_source *source, uint64_t offset,
                             const taper_limits *limits, uint64_t *next, taper_error *why) {
    uint8_t front[FRONT_BYTES];
    formats_pnm_header h;
    uint64_t size = source->size;
    size_t n = size - offset < sizeof front ? (size_t)(size - offset) : sizeof front;
    TAPER_TRY(formats_source_read(source, offset, front, n, why));
    *next = size;
    if (formats_pnm_header_decode(front, n, limits, &h, NULL) != TAPER_OK || h.kind <= 3)
        return TAPER_OK;
    if (h.raster_bytes >= size - offset - h.header_bytes) return TAPER_OK;
    *next = offset + h.header_bytes + h.raster_bytes;
    n = size - *next < sizeof front ? (size_t)(size - *next) : sizeof front;
    TAPER_TRY(formats_source_read(source, *next, front, n, why));
    if (formats_pnm_detect(front, n)) return TAPER_OK;
    size_t space = 0;
    while (space < n && strchr(" \t\r\n", front[space]) && front[space]) space++;
    uint64_t rest = size - *next;
    *next = size;
    if (space == rest) return TAPER_OK;
    return formats_fail(why, TAPER_ERR_CORRUPT,
                        "no image in the last %llu byte%s; the images before are used",
                        (unsigned long long)rest, formats_plural(rest, "s"));
}

/* Is the file one binary PNM and nothing else, as nearly all are? Then it need not be kept open. */
static int is_single_pnm(const candidate *c, uint64_t size, const taper_limits *limits) {
    formats_pnm_header h;
    if (formats_pnm_header_decode(c->front, c->front_size, limits, &h, NULL) != TAPER_OK) return 1;
    return h.kind <= 3 || h.raster_bytes >= size - h.header_bytes;
}

static taper_status add_pnm(imageset_builder *b, candidate *c, taper_error *why) {
    const taper_limits *limits = &b->set->limits;
    TAPER_TRY(need_pack(c, why));
    if (c->pack->file && is_single_pnm(c, c->pack->source.size, limits)) {
        why->status = TAPER_OK;
        TAPER_TRY(keep_file(b, &c->file, KIND_PNM, NULL));
        return add_entry(b, 0, 1);
    }
    const taper_source source = c->pack->source;
    why->status = TAPER_OK;
    TAPER_TRY(keep_file(b, &c->file, KIND_PNM, take_pack(c)));
    for (uint64_t offset = 0; offset < source.size;) {
        taper_error odd = {.status = TAPER_OK};
        uint64_t next = source.size;
        TAPER_TRY(add_entry(b, offset, 1));
        taper_status status = next_pnm(&source, offset, limits, &next, &odd);
        TAPER_TRY(fail_or_pass(b, c->file.path, status, &odd));
        offset = next;
    }
    return TAPER_OK;
}

static int is_image(const uint8_t *front, size_t n) {
    return formats_png_detect(front, n) || formats_jpeg_detect(front, n) ||
           formats_pnm_detect(front, n);
}

/* One PNG or JPEG. In a stream another image may follow it, which is said. */
static taper_status add_single(imageset_builder *b, candidate *c, image_kind kind,
                               taper_error *why) {
    formats_memory all = c->pack ? c->pack->memory : (formats_memory){NULL, 0};
    why->status = TAPER_OK;
    TAPER_TRY(keep_file(b, &c->file, kind, take_pack(c)));
    TAPER_TRY(add_entry(b, 0, 1));
    size_t end = kind == KIND_PNG ? formats_png_end(all.bytes, all.size)
                                  : formats_jpeg_end(all.bytes, all.size);
    if (end >= all.size || !is_image(all.bytes + end, all.size - end)) return TAPER_OK;
    taper_error more;
    formats_fail(&more, TAPER_ERR_UNSUPPORTED,
                 "more images follow the first, which only PNM allows: name files, or list them "
                 "for --filelist -");
    report_failure(b, c->file.path, &more);
    return TAPER_OK;
}

/* A file whose content is of no kind that is read. */
static taper_status fail_foreign(candidate *c, taper_error *why) {
    int is_archive;
    const char *what = formats_foreign_by_content(c->front, c->front_size, &is_archive);
    c->is_unknown = !what || is_archive;
    if (c->is_unknown && c->file.path && formats_foreign_by_name(c->file.path)) {
        what = formats_foreign_by_name(c->file.path);
        c->is_unknown = 0;
    }
    if (what) return formats_fail(why, TAPER_ERR_UNSUPPORTED, "%s", what);
    if (!c->front_size) return formats_fail(why, TAPER_ERR_TRUNCATED, "the file is empty");
    return formats_fail(
        why, TAPER_ERR_CORRUPT,
        "the file is no image of a known kind (PNG, PNM, JPEG, IDX, CIFAR binary)");
}

/* Recognise a candidate and add its images. A status with why->status set is this file's failure;
 * with why->status TAPER_OK it is the set's, and b->error tells. */
static taper_status recognise(imageset_builder *b, candidate *c, taper_error *why) {
    const uint8_t *front = c->front;
    size_t n = c->front_size;
    if (n == 0) return fail_foreign(c, why);
    if (formats_png_detect(front, n)) return add_single(b, c, KIND_PNG, why);
    if (formats_jpeg_detect(front, n)) return add_single(b, c, KIND_JPEG, why);
    if (formats_pnm_detect(front, n)) return add_pnm(b, c, why);
    if (formats_gzip_detect(front, n)) {
        TAPER_TRY(unpack_gzip(c, &b->set->limits, why));
        return add_idx(b, c, why);
    }
    taper_status status = fail_foreign(c, why);
    int is_idx = looks_like_idx(front, n);
    if (is_idx) {
        c->is_unknown = 0;
        status = add_idx(b, c, why);
        if (status == TAPER_OK || is_systems(status) || why->status == TAPER_OK) return status;
    }
    if (!c->may_be_cifar || (!is_idx && status == TAPER_ERR_UNSUPPORTED)) return status;
    taper_error not_cifar = {.status = TAPER_OK};
    taper_status second = add_cifar(b, c, &not_cifar);
    if (second == TAPER_OK || not_cifar.status == TAPER_OK) return second;
    /* what the magic number says is likelier; and a stream may be anything */
    int likely = has_extension(c->file.path, ".bin") && !formats_idx_detect(front, n);
    if (!likely && !is_systems(second)) return status;
    *why = not_cifar;
    return second;
}

/* Does the name say that the file is an image? Then it is a damaged one. */
static int is_named_image(const char *path) {
    static const char *const endings[] = {".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".pnm",
                                          ".pbm", ".pgm", ".ppm",  ".pam", ".bin",  ".idx"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (has_extension(path, endings[i])) return 1;
    return 0;
}

static taper_status add_candidate(imageset_builder *b, candidate *c) {
    taper_error why = {.status = TAPER_OK};
    taper_status status = recognise(b, c, &why);
    imageset_pack_free(c->pack);
    c->pack = NULL;
    if (status == TAPER_OK || why.status == TAPER_OK) return status;
    if (!c->is_unknown || !c->file.below_folder || is_named_image(c->file.path) ||
        is_systems(status))
        return fail_or_pass(b, c->file.path, status, &why);
    report_skip(b, FORMATS_SKIP_NO_IMAGE, c->file.path, &why);
    return TAPER_OK;
}

/* --- inputs --- */

static size_t base_name_at(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

static taper_status add_regular_file(imageset_builder *b, const char *path, size_t relative_at,
                                     int below_folder) {
    candidate c = {.file = {.path = (char *)path,
                            .relative_at = relative_at,
                            .below_folder = (uint8_t)below_folder},
                   .may_be_cifar = has_extension(path, ".bin")};
    taper_error why;
    taper_status status = formats_file_peek(path, c.front, sizeof c.front, &c.front_size, &why);
    if (status == TAPER_ERR_IO && formats_errno_is_of_path(errno)) {
        report_failure(b, path, &why);
        return TAPER_OK;
    }
    if (status != TAPER_OK) return fail_or_pass(b, path, status, &why);
    return add_candidate(b, &c);
}

/* Read a stream to its end and hold it: its bytes come only once. */
static taper_status add_stream(imageset_builder *b, int descriptor, const char *path,
                               size_t relative_at) {
    candidate c = {.file = {.path = (char *)path, .relative_at = relative_at}, .may_be_cifar = 1};
    taper_error why;
    uint8_t *held;
    size_t size;
    taper_status status =
        formats_descriptor_read(descriptor, b->set->limits.max_memory, &held, &size, &why);
    if (status != TAPER_OK) return fail_or_pass(b, path, status, &why);
    c.front_size = size < sizeof c.front ? size : sizeof c.front;
    memcpy(c.front, held, c.front_size);
    c.pack = pack_over_memory(held, size);
    return c.pack ? add_candidate(b, &c) : no_memory(b->error);
}

static taper_status add_special_file(imageset_builder *b, const char *path) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return cannot_open(b, path, errno);
    taper_status status = add_stream(b, descriptor, path, base_name_at(path));
    close(descriptor);
    return status;
}

static void on_folder_problem(void *user, formats_folder_problem what, const char *path,
                              const taper_error *why) {
    static const formats_skip skips[] = {
        [FORMATS_FOLDER_FAILED] = FORMATS_SKIP_FAILED,
        [FORMATS_FOLDER_OTHER] = FORMATS_SKIP_NO_IMAGE,
        [FORMATS_FOLDER_LINK] = FORMATS_SKIP_LINK,
    };
    report_skip(user, skips[what], path, why);
}

static taper_status add_folder(imageset_builder *b, const char *folder) {
    formats_path_list list;
    size_t before = b->set->count, failed_before = b->failed;
    TAPER_TRY(formats_folder_walk(folder, b->set->limits.max_images, b->follow_links, &list,
                                  on_folder_problem, b, b->error));
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < list.count && status == TAPER_OK; i++) {
        char *path = formats_path_join(folder, list.paths[i]);
        status = path ? add_regular_file(b, path, strlen(path) - strlen(list.paths[i]), 1)
                      : no_memory(b->error);
        free(path);
    }
    size_t files = list.count;
    formats_path_list_free(&list);
    if (status == TAPER_OK && b->failed == failed_before && b->set->count == before) {
        taper_error why;
        formats_fail(&why, TAPER_ERR_ARG, "the folder holds no %s", files ? "image" : "file");
        report_failure(b, folder, &why);
    }
    return status;
}

static taper_status add_path(imageset_builder *b, const char *path, size_t relative_at) {
    struct stat st;
    if (stat(path, &st) != 0) return cannot_open(b, path, errno);
    if (S_ISDIR(st.st_mode)) return add_folder(b, path);
    if (S_ISREG(st.st_mode)) return add_regular_file(b, path, relative_at, 0);
    return add_special_file(b, path);
}

taper_status imageset_add_input(imageset_builder *b, const char *path) {
    if (strcmp(path, "-") != 0) return add_path(b, path, base_name_at(path));
    /* messages say "standard input", the image's name becomes "input.png" */
    return add_stream(b, STDIN_FILENO, "standard input", strlen("standard "));
}

/* Add one line of a file list: a path relative to the list's folder. */
static taper_status add_listed(imageset_builder *b, const char *list_path, const char *line,
                               size_t n) {
    char *relative = strndup(line, n);
    char *folder = strndup(list_path, base_name_at(list_path));
    char *path = NULL;
    if (relative && folder)
        path = relative[0] == '/' ? strdup(relative) : formats_path_join(folder, relative);
    taper_status status = path ? add_path(b, path, strlen(path) - n) : no_memory(b->error);
    free(relative);
    free(folder);
    free(path);
    return status;
}

taper_status imageset_add_list(imageset_builder *b, const char *list_path) {
    uint8_t *bytes;
    size_t size;
    taper_error why;
    taper_status status;
    if (strcmp(list_path, "-") == 0) {
        list_path = "standard input"; /* whose folder is the current one */
        status = formats_descriptor_read(STDIN_FILENO, b->set->limits.max_memory, &bytes, &size,
                                         &why);
    } else status = formats_file_read(list_path, b->set->limits.max_memory, &bytes, &size, &why);
    if (status != TAPER_OK)
        return formats_fail(b->error, status, "file list '%.120s': %.120s", list_path, why.text);
    const char *at = (const char *)bytes, *end = at + size;
    if (memchr(at, '\0', size))
        status = formats_fail(b->error, TAPER_ERR_CORRUPT,
                              "file list '%.120s' is no text file with a name on each line",
                              list_path);
    while (at < end && status == TAPER_OK) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        size_t n = (size_t)(stop - at);
        if (n && at[n - 1] == '\r') n--;
        if (n) status = add_listed(b, list_path, at, n);
        at = stop < end ? stop + 1 : end;
    }
    free(bytes);
    return status;
}

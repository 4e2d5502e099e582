/* container.c -- header and sections of a .taper file; directory.c, root.c and leaf.c have the
 * contents of sections.
 *
 *    0  magic 89 'T' 'P' 'R' 0D 0A 1A 0A
 *    8  u16 version      10  u8 layout      11  u8 tail
 *   12  u32 required features      16  u32 ignorable features
 *   20  u32 CRC32C of header and table, this field 0
 *   24  u64 model id     32  u64 images
 *   40  u32 groups       44  u32 layers     48  u32 sections     52  u32 reserved, 0
 *   56  section table: u32 type, u32 CRC32C of the stored bytes, u64 stored size, u64 unpacked size
 * Then the bytes of the sections in the order of the table, then the chunks. */
#include "formats/container.h"
#include "formats/model_file.h"
#include "formats/also.h"
#include "formats/set_part.h"
#include "formats/directory.h"
#include "formats/leaf.h"
#include "formats/packed.h"
#include "formats/paging.h"
#include <stdlib.h>
#include <string.h>

static const uint8_t magic[8] = {0x89, 'T', 'P', 'R', 0x0D, 0x0A, 0x1A, 0x0A};

#define SECTION(a, b, c, d) \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
enum { /* a reader may skip an unknown type whose first letter is lower case */
       DIRECTORY = SECTION('D', 'I', 'R', 'E'),
       NAMES = SECTION('n', 'a', 'm', 'e'),
       LABELS = SECTION('l', 'a', 'b', 'l'),
       ALSO = SECTION('a', 'l', 's', 'o'),
       METADATA = SECTION('m', 'e', 't', 'a'),
       PART = SECTION('p', 'a', 'r', 't'),
       LEAVES = SECTION('L', 'E', 'A', 'F'),
       NAME_PAGES = SECTION('f', 'i', 'n', 'd'),
       MODEL = SECTION('m', 'o', 'd', 'l'),
       SEARCH = SECTION('c', 'o', 'd', 'e'),
       SEARCH_MODEL = SECTION('s', 'm', 'd', 'l')
};

typedef struct section {
    uint32_t type, crc;
    uint64_t stored, unpacked;
} section;

/* Default limit of images for a front matter. For comparison: groups of 1,024 images in two layers,
 * without names and labels, take 4 bytes each. */
enum { LEAST_IMAGES = 1 << 20, IMAGES_A_BYTE = 256 };

/* Codes and models hardly compress. Leaves, pages and metadata are packed in parts. */
static formats_packed_bound bound_of(uint32_t type) {
    if (type == SEARCH) return (formats_packed_bound){64, 1 << 20};
    if (type == MODEL || type == SEARCH_MODEL) return (formats_packed_bound){4, 65536};
    if (type == LEAVES || type == NAME_PAGES || type == METADATA)
        return (formats_packed_bound){1, 0};
    return FORMATS_PACKED_USUAL;
}

/* --- reading --------------------------------------------------------------------------- */

static taper_status need_more(uint64_t missing, taper_error *error) {
    return formats_fail(error, TAPER_ERR_TRUNCATED,
                        "incomplete header, need %llu more byte%s; fetch more of the file",
                        (unsigned long long)missing, formats_plural(missing, "s"));
}

static uint64_t table_end(const uint8_t *h) {
    return FORMATS_HEADER_SIZE + (uint64_t)formats_get_u32le(h + 48) * FORMATS_SECTION_SIZE;
}

/* Check the first 56 bytes. */
static taper_status check_header(const uint8_t *h, size_t size, taper_error *error) {
    if (memcmp(h, magic, size < sizeof magic ? size : sizeof magic))
        return size >= 4 && !memcmp(h + 1, "TPR", 3)
                   ? formats_fail(error, TAPER_ERR_CORRUPT,
                                  "not a taper container: the magic bytes are damaged, as by a "
                                  "transfer in text mode; fetch it as binary")
                   : formats_fail_fact(error, TAPER_ERR_CORRUPT, TAPER_FACT_NO_CONTAINER, 0,
                                       "not a taper container: the magic bytes are missing");
    if (size < FORMATS_HEADER_SIZE) return need_more(FORMATS_HEADER_SIZE - size, error);
    uint16_t version = formats_get_u16le(h + 8);
    if (version > FORMATS_CONTAINER_VERSION)
        return formats_fail(
            error, TAPER_ERR_VERSION,
            "container version %u is newer than this build reads (%u); update taper", version,
            FORMATS_CONTAINER_VERSION);
    if (version && version < FORMATS_CONTAINER_VERSION)
        return formats_fail(
            error, TAPER_ERR_VERSION,
            "container version %u is older than this build reads (%u); encode the images again",
            version, FORMATS_CONTAINER_VERSION);
    if (formats_get_u32le(h + 12) &
        ~(uint32_t)(FORMATS_FEATURE_RATE_CLASSES | FORMATS_FEATURE_RAISED | FORMATS_FEATURE_PAGED |
                    FORMATS_FEATURE_PIXELS | FORMATS_FEATURE_STAGES))
        return formats_fail(error, TAPER_ERR_VERSION,
                            "container needs features 0x%x that this build lacks; update taper",
                            formats_get_u32le(h + 12));
    if (version == 0 || formats_get_u32le(h + 48) > FORMATS_MAX_SECTIONS)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "container header is damaged at byte %d; fetch the file again",
                            version ? 48 : 8);
    return TAPER_OK;
}

static taper_status check_crc(const uint8_t *h, size_t end, taper_error *error) {
    static const uint8_t zero[4] = {0};
    uint32_t crc = formats_crc32c(0, h, 20);
    crc = formats_crc32c(crc, zero, sizeof zero);
    crc = formats_crc32c(crc, h + 24, end - 24);
    if (crc == formats_get_u32le(h + 20)) return TAPER_OK;
    return formats_fail(
        error, TAPER_ERR_CORRUPT,
        "container header is damaged (checksum over bytes 0 to %zu); fetch the file again", end);
}

static section section_at(const uint8_t *h, uint32_t i) {
    const uint8_t *s = h + FORMATS_HEADER_SIZE + (size_t)i * FORMATS_SECTION_SIZE;
    return (section){formats_get_u32le(s), formats_get_u32le(s + 4), formats_get_u64le(s + 8),
                     formats_get_u64le(s + 16)};
}

/* *need: the bytes of header, table and all sections; *head: those before section LEAF, or *need
 * where there is none. Both are less while the table is not there. */
static taper_status find_ends(const void *bytes, size_t size, uint64_t *head, uint64_t *need,
                              taper_error *error) {
    const uint8_t *h = bytes;
    *head = *need = FORMATS_HEADER_SIZE;
    taper_status status = check_header(h, size, error);
    if (size < FORMATS_HEADER_SIZE && status == TAPER_ERR_TRUNCATED) return TAPER_OK;
    TAPER_TRY(status);
    *head = *need = table_end(h);
    if (size < *need) return TAPER_OK;
    TAPER_TRY(check_crc(h, (size_t)*need, error));
    const int paged = (formats_get_u32le(h + 12) & FORMATS_FEATURE_PAGED) != 0;
    int in_head = 1;
    for (uint32_t i = 0; i < formats_get_u32le(h + 48); i++) {
        const section s = section_at(h, i);
        if (formats_add_u64(*need, s.stored, need) != TAPER_OK || *need > INT64_MAX)
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "section %u claims an impossible size; fetch the file again", i);
        if (paged && s.type == LEAVES) in_head = 0;
        if (in_head) *head = *need;
    }
    return TAPER_OK;
}

taper_status formats_front_need(const void *bytes, size_t size, uint64_t *need,
                                taper_error *error) {
    uint64_t head;
    return find_ends(bytes, size, &head, need, error);
}

taper_status formats_head_need(const void *bytes, size_t size, uint64_t *need, taper_error *error) {
    uint64_t all;
    return find_ends(bytes, size, need, &all, error);
}

/* A complete section that ends inside a field is corrupt, not truncated. */
static taper_status refuse_short(taper_status status, taper_error *error) {
    if (status != TAPER_ERR_TRUNCATED) return status;
    if (error) error->status = TAPER_ERR_CORRUPT;
    return TAPER_ERR_CORRUPT;
}

/* What is read of a file, section by section. */
typedef struct reading {
    const uint8_t *bytes;
    formats_front *f;
    formats_root root; /* of a paged container; has_raised: of any */
    const taper_limits *limits;
    int is_paged;
    int is_head; /* 1: the sections before LEAF are here; 0: all are */
    int has_leaves, has_pages;
    uint64_t at; /* the first byte of the current section */
} reading;

static taper_status check_sum(const reading *r, section s, taper_error *error) {
    if (formats_crc32c(0, r->bytes + r->at, (size_t)s.stored) == s.crc) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "the container's front matter is damaged (checksum of section %.4s); "
                        "fetch the file again",
                        (const char *)&s.type);
}

/* The content of a section in new memory. */
static taper_status unpack(const reading *r, section s, uint8_t **out, taper_error *error) {
    char what[16] = "section ";
    memcpy(what + 8, &s.type, 4);
    *out = NULL;
    TAPER_TRY(check_sum(r, s, error));
    return formats_unpack(r->f, r->bytes + r->at, s.stored, s.unpacked, bound_of(s.type), what, out,
                          error);
}

/* Section LEAF, or `find`: it has the size that the root says. Its parts have checksums of their
 * own, which say more about damage than that of the section. */
static taper_status read_pages(reading *r, section s, taper_error *error) {
    formats_root *root = &r->root;
    const int leaves = s.type == LEAVES;
    const uint64_t size = leaves          ? root->leaf[root->leaves].at
                          : root->page_at ? root->page_at[formats_root_pages(root)]
                                          : UINT64_MAX;
    if (s.stored != size || s.unpacked != size)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "section %.4s has another size than the root of the front matter says",
                            (const char *)&s.type);
    if (leaves)
        root->leaves_at = r->at, r->has_leaves = 1;
    else
        root->pages_at = r->at, r->has_pages = 1;
    if (r->is_head) return TAPER_OK;
    if (leaves) TAPER_TRY(formats_paging_join(root, r->f, r->bytes + r->at, r->limits, error));
    return check_sum(r, s, error);
}

static taper_status read_content(reading *r, section s, formats_cursor *in, taper_error *error) {
    if (s.type == DIRECTORY && r->is_paged) return formats_root_read(&r->root, r->f, in, error);
    if (s.type == DIRECTORY)
        return formats_directory_read(r->f, in, r->root.has_raised, r->limits, error);
    if (s.type == NAMES) return formats_names_read(r->f, in, error);
    if (s.type == SEARCH) return formats_search_codes_read(r->f, in, error);
    if (s.type == ALSO) return formats_also_read(r->f, in, error);
    if (s.type == PART) return formats_set_part_read(r->f, in, error);
    return formats_labels_section_read(r->f, in, error);
}

/* Refuse a section that may not be here. */
static taper_status check_place(const reading *r, section s, taper_error *error) {
    const formats_front *f = r->f;
    if (s.type != DIRECTORY && !f->layer_end)
        return formats_fail(error, TAPER_ERR_CORRUPT, "the directory is not the first section");
    if ((s.type == DIRECTORY && f->layer_end) || (s.type == NAMES && f->names) ||
        (s.type == LABELS && f->label) || (s.type == MODEL && f->model) ||
        (s.type == METADATA && f->metadata) || (s.type == ALSO && f->also) ||
        (s.type == PART && f->has_part) || (s.type == SEARCH && f->search_codes) ||
        (s.type == SEARCH_MODEL && f->search_model) || (s.type == LEAVES && r->has_leaves) ||
        (s.type == NAME_PAGES && r->has_pages))
        return formats_fail(error, TAPER_ERR_CORRUPT, "section %.4s occurs twice",
                            (const char *)&s.type);
    if (s.type == LABELS && f->also)
        return formats_fail(error, TAPER_ERR_CORRUPT, "section labl is behind section also");
    if (r->is_paged && (s.type == NAMES || s.type == LABELS))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "section %.4s is illegal where leaves have its content",
                            (const char *)&s.type);
    if (r->is_paged &&
        ((s.type == MODEL && r->has_leaves) ||
         ((s.type == NAME_PAGES || s.type == METADATA || s.type == ALSO || s.type == PART) &&
          !r->has_leaves)))
        return formats_fail(error, TAPER_ERR_CORRUPT, "section %.4s is on the wrong side of LEAF",
                            (const char *)&s.type);
    return TAPER_OK;
}

static int is_known(const reading *r, uint32_t type) {
    return type == DIRECTORY || type == NAMES || type == LABELS || type == MODEL ||
           type == SEARCH || type == SEARCH_MODEL || type == METADATA || type == ALSO ||
           type == PART || (r->is_paged && (type == LEAVES || type == NAME_PAGES));
}

/* Keep where a reader of the root finds what it may want later. */
static void note_place(formats_root *root, section s, uint64_t at) {
    if (s.type == ALSO) root->has_further_names = 1;
    if (s.type != METADATA) return;
    root->metadata_at = at, root->metadata_size = s.stored, root->metadata_crc = s.crc;
}

static taper_status read_section(reading *r, section s, taper_error *error) {
    formats_front *f = r->f;
    const int known = is_known(r, s.type);
    if (!known && (s.type & 0x20)) return TAPER_OK; /* ignorable */
    if (!known)
        return formats_fail(
            error, TAPER_ERR_VERSION,
            "container has a section %.4s that this build does not know; update taper",
            (const char *)&s.type);
    TAPER_TRY(check_place(r, s, error));
    if (s.type == LEAVES || s.type == NAME_PAGES) return read_pages(r, s, error);
    if (r->is_head && r->has_leaves) { /* behind what is here */
        note_place(&r->root, s, r->at);
        return TAPER_OK;
    }
    uint8_t *content;
    TAPER_TRY(unpack(r, s, &content, error));
    if (s.type == MODEL) {
        f->model = content;
        f->model_size = f->model_in_front = (size_t)s.unpacked;
        return TAPER_OK;
    }
    if (s.type == SEARCH_MODEL) {
        f->search_model = content;
        f->search_model_size = (size_t)s.unpacked;
        return TAPER_OK;
    }
    if (s.type == METADATA) { /* metadata_reader.h reads it when it is wanted */
        f->metadata = content;
        f->metadata_size = (size_t)s.unpacked;
        return TAPER_OK;
    }
    formats_cursor in = formats_cursor_over(content, (size_t)s.unpacked);
    taper_status status = refuse_short(read_content(r, s, &in, error), error);
    if (status == TAPER_OK && formats_cursor_left(&in))
        status = formats_fail(error, TAPER_ERR_CORRUPT, "bytes follow the content of section %.4s",
                              (const char *)&s.type);
    formats_unpack_free(f, content, s.unpacked);
    return status;
}

/* The bytes of a layer in all groups. */
static uint64_t bytes_of_layer(const reading *r, uint32_t layer) {
    const uint64_t *at = r->root.layer_at ? r->root.layer_at + layer : r->f->chunk_at;
    if (r->root.layer_at) return at[1] - at[0];
    return at[((uint64_t)layer + 1) * r->f->groups] - at[(uint64_t)layer * r->f->groups];
}

/* Section modl ends with a stage, and the layers have the next ones, each of the size that the
 * model's table says. */
static taper_status check_stages(const reading *r, taper_error *error) {
    const formats_front *f = r->f;
    formats_model_places places;
    if (!f->has_stages) return TAPER_OK;
    if (!f->model)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "container has stages of its model in layers, but no section modl");
    TAPER_TRY(refuse_short(formats_model_find_stages(f->model, f->model_in_front, &places, error),
                           error));
    uint32_t stage = places.known;
    int is_legal = stage && places.end[stage - 1] == f->model_in_front && places.id == f->model_id;
    for (uint32_t l = 0; l < f->layers && is_legal; l++) {
        if (formats_front_layer_kind(f, l) != FORMATS_LAYER_MODEL) continue;
        is_legal =
            stage < places.n && bytes_of_layer(r, l) == places.end[stage] - places.end[stage - 1];
        stage++;
    }
    if (is_legal) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "the container's layers do not have the stages of its model; fetch the "
                        "file again");
}

/* What all sections together must have. */
static taper_status check_sections(const reading *r, taper_error *error) {
    const formats_front *f = r->f;
    if (!f->layer_end) return formats_fail(error, TAPER_ERR_CORRUPT, "container has no directory");
    TAPER_TRY(check_stages(r, error));
    if (r->is_paged && !r->has_leaves)
        return formats_fail(error, TAPER_ERR_CORRUPT, "container has a root, but no leaves");
    if (r->root.find == FORMATS_FIND_HASHED && !r->has_pages)
        return formats_fail(error, TAPER_ERR_CORRUPT, "container lacks its pages of names");
    if (f->search_model && !f->search_codes && !(r->is_head && r->is_paged))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "container has a model for search, but no codes for search");
    if (f->has_part && !formats_set_part_is_legal(&f->part, (uint64_t)f->images + f->alsos))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "container claims to be a part of a set that it cannot be; fetch the "
                            "file again");
    return TAPER_OK;
}

static taper_status check_images(uint64_t images, uint64_t front, const taper_limits *limits,
                                 taper_error *error) {
    if (images > UINT32_MAX - 1) /* no limit that can be given is enough */
        return formats_fail(error, TAPER_ERR_LIMIT,
                            "container claims %llu images; no container holds more than %u",
                            (unsigned long long)images, UINT32_MAX - 1);
    if (images > formats_most_images(limits, LEAST_IMAGES, front, IMAGES_A_BYTE))
        return formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_IMAGES, images,
                                 "container holds %llu images, many for a front matter of %llu "
                                 "bytes",
                                 (unsigned long long)images, (unsigned long long)front);
    return TAPER_OK;
}

/* The header's members; front: the size of the front matter. */
static taper_status read_header(const uint8_t *h, uint64_t front, const taper_limits *limits,
                                formats_front *f, taper_error *error) {
    const uint64_t images = formats_get_u64le(h + 32);
    TAPER_TRY(check_images(images, front, limits, error));
    *f = (formats_front){
        .model_id = formats_get_u64le(h + 24),
        .layout = h[10],
        .holds = formats_get_u32le(h + 16) | (uint64_t)formats_get_u32le(h + 52) << 32,
        .tail = h[11],
        .images = (uint32_t)images,
        .groups = formats_get_u32le(h + 40),
        .layers = formats_get_u32le(h + 44),
        .rate_classes = formats_get_u32le(h + 12) & FORMATS_FEATURE_RATE_CLASSES ? 2 : 1,
        .has_pixels = (formats_get_u32le(h + 12) & FORMATS_FEATURE_PIXELS) != 0,
        .has_stages = (formats_get_u32le(h + 12) & FORMATS_FEATURE_STAGES) != 0,
        .front_size = front,
        .account = formats_account_within(limits)};
    if (f->has_stages && !f->has_pixels)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "container has stages of its model in layers, but no kinds of layers");
    if (f->layout > FORMATS_MOST_LAYOUT || f->tail > 1)
        return formats_fail(error, TAPER_ERR_CORRUPT, "container layout %u or tail %u is not legal",
                            h[10], h[11]);
    return TAPER_OK;
}

static taper_status read_sections(reading *r, taper_error *error) {
    const uint8_t *h = r->bytes;
    r->at = table_end(h);
    r->is_paged = (formats_get_u32le(h + 12) & FORMATS_FEATURE_PAGED) != 0;
    r->root.has_raised = (formats_get_u32le(h + 12) & FORMATS_FEATURE_RAISED) != 0;
    for (uint32_t i = 0; i < formats_get_u32le(h + 48); i++) {
        const section s = section_at(h, i);
        TAPER_TRY(read_section(r, s, error));
        r->at += s.stored;
    }
    return check_sections(r, error);
}

static taper_status read(reading *r, uint64_t front, taper_error *error) {
    taper_status status = read_header(r->bytes, front, r->limits, r->f, error);
    if (status == TAPER_OK) status = read_sections(r, error);
    if (status != TAPER_OK) formats_front_free(r->f), formats_root_free(&r->root);
    return status;
}

taper_status formats_front_read(const void *bytes, size_t size, const taper_limits *given,
                                formats_front *f, taper_error *error) {
    const taper_limits limits = formats_limits_or_default(given);
    reading r = {.bytes = bytes, .f = f, .limits = &limits};
    uint64_t need;
    memset(f, 0, sizeof *f);
    TAPER_TRY(formats_front_need(bytes, size, &need, error));
    if (need > size) return need_more(need - size, error);
    TAPER_TRY(read(&r, need, error));
    formats_account_give(&f->account, formats_root_bytes(&r.root, f));
    formats_root_free(&r.root);
    return TAPER_OK;
}

taper_status formats_head_read(const void *bytes, size_t size, const taper_limits *given,
                               formats_front *f, formats_root *root, taper_error *error) {
    const taper_limits limits = formats_limits_or_default(given);
    reading r = {.bytes = bytes, .f = f, .limits = &limits, .is_head = 1};
    uint64_t head, need;
    memset(f, 0, sizeof *f), memset(root, 0, sizeof *root);
    TAPER_TRY(find_ends(bytes, size, &head, &need, error));
    if (head > size) return need_more(head - size, error);
    TAPER_TRY(read(&r, need, error));
    if (r.is_paged)
        *root = r.root;
    else
        formats_root_free(&r.root);
    return TAPER_OK;
}

/* --- writing --------------------------------------------------------------------------- */

/* Pack content, append it to body and add it to the table. Frees content. */
static taper_status add_section(uint32_t type, formats_buffer *content, int level,
                                formats_buffer *table, formats_buffer *body) {
    const size_t start = body->size, size = content->size;
    size_t stored = 0;
    const taper_status status = formats_pack(content, level, bound_of(type), body, &stored);
    formats_buffer_free(content);
    TAPER_TRY(status);
    formats_write_u32le(table, type);
    formats_write_u32le(table, formats_crc32c(0, body->data + start, stored));
    formats_write_u64le(table, stored);
    formats_write_u64le(table, size);
    return table->status;
}

static void write_header(const formats_front *f, uint32_t sections, int is_paged, uint8_t *h) {
    memcpy(h, magic, sizeof magic);
    formats_set_u16le(h + 8, FORMATS_CONTAINER_VERSION);
    h[10] = f->layout;
    h[11] = f->tail;
    formats_set_u32le(h + 12, (f->rate_classes > 1 ? FORMATS_FEATURE_RATE_CLASSES : 0) +
                                  (f->raised_at ? FORMATS_FEATURE_RAISED : 0) +
                                  (f->layer_kind ? FORMATS_FEATURE_PIXELS : 0) +
                                  (f->has_stages ? FORMATS_FEATURE_STAGES : 0) +
                                  (is_paged ? FORMATS_FEATURE_PAGED : 0));
    formats_set_u32le(h + 16, (uint32_t)f->holds);
    formats_set_u64le(h + 24, f->model_id);
    formats_set_u64le(h + 32, f->images);
    formats_set_u32le(h + 40, f->groups);
    formats_set_u32le(h + 44, f->layers);
    formats_set_u32le(h + 48, sections);
    formats_set_u32le(h + 52, (uint32_t)(f->holds >> 32));
}

/* Sections in the order of the file. */
typedef struct writing {
    formats_buffer table, body;
    int is_paged;
} writing;

/* Codes for search, and the model that made them. */
static taper_status add_search(writing *w, const formats_front *f, int codes, int model) {
    formats_buffer content = formats_buffer_make(FORMATS_MOST_BYTES);
    content.account = w->body.account;
    if (codes && f->search_codes) {
        formats_search_codes_write(f, &content);
        TAPER_TRY(add_section(SEARCH, &content, FORMATS_PACK_LEVEL, &w->table, &w->body));
    }
    if (!model || !f->search_model) return TAPER_OK;
    formats_write_bytes(&content, f->search_model, f->search_model_size);
    return add_section(SEARCH_MODEL, &content, 0, &w->table, &w->body);
}

static taper_status add_metadata(writing *w, const formats_front *f) {
    formats_buffer content = formats_buffer_make(FORMATS_MOST_BYTES);
    content.account = w->body.account;
    if (!f->metadata) return TAPER_OK;
    formats_write_bytes(&content, f->metadata, f->metadata_size);
    return add_section(METADATA, &content, 0, &w->table, &w->body);
}

static taper_status add_also(writing *w, const formats_front *f) {
    formats_buffer content = formats_buffer_make(FORMATS_MOST_BYTES);
    content.account = w->body.account;
    if (!f->alsos) return TAPER_OK;
    formats_also_write(f, &content);
    return add_section(ALSO, &content, FORMATS_PACK_LEVEL, &w->table, &w->body);
}

static taper_status add_part(writing *w, const formats_front *f) {
    formats_buffer content = formats_buffer_make(FORMATS_MOST_BYTES);
    content.account = w->body.account;
    if (!f->has_part) return TAPER_OK;
    formats_set_part_write(f, &content);
    return add_section(PART, &content, 0, &w->table, &w->body);
}

static taper_status add_model(writing *w, const formats_front *f) {
    formats_buffer content = formats_buffer_make(FORMATS_MOST_BYTES);
    content.account = w->body.account;
    if (!f->model) return TAPER_OK;
    formats_write_bytes(&content, f->model, f->has_stages ? f->model_in_front : f->model_size);
    return add_section(MODEL, &content, 0, &w->table, &w->body);
}

static taper_status add_in_one_piece(writing *w, const formats_front *f) {
    formats_buffer content = formats_buffer_make(FORMATS_MOST_BYTES);
    content.account = w->body.account;
    formats_directory_write(f, &content);
    TAPER_TRY(add_section(DIRECTORY, &content, FORMATS_PACK_LEVEL, &w->table, &w->body));
    TAPER_TRY(add_search(w, f, 1, 0));
    if (f->names) {
        formats_names_write(f, &content);
        TAPER_TRY(add_section(NAMES, &content, FORMATS_PACK_LEVEL, &w->table, &w->body));
    }
    if (f->label) {
        formats_labels_section_write(f, &content);
        TAPER_TRY(add_section(LABELS, &content, FORMATS_PACK_LEVEL, &w->table, &w->body));
    }
    TAPER_TRY(add_also(w, f));
    TAPER_TRY(add_metadata(w, f));
    TAPER_TRY(add_part(w, f));
    TAPER_TRY(add_model(w, f));
    return add_search(w, f, 0, 1);
}

/* Behind LEAF comes what one image does not need. */
static taper_status add_pages(writing *w, const formats_front *f, formats_paged *p) {
    const int has_pages = p->pages.size > 0;
    w->is_paged = 1;
    TAPER_TRY(add_section(DIRECTORY, &p->root, FORMATS_PACK_LEVEL, &w->table, &w->body));
    TAPER_TRY(add_model(w, f));
    TAPER_TRY(add_section(LEAVES, &p->leaves, 0, &w->table, &w->body));
    if (has_pages) TAPER_TRY(add_section(NAME_PAGES, &p->pages, 0, &w->table, &w->body));
    TAPER_TRY(add_also(w, f));
    TAPER_TRY(add_metadata(w, f));
    TAPER_TRY(add_part(w, f));
    return add_search(w, f, 1, 1);
}

static taper_status add_sections(writing *w, const formats_front *f, uint32_t each) {
    if (f->images <= each) return add_in_one_piece(w, f);
    formats_paged p;
    taper_status status = formats_paging_split(f, each, w->body.account, &p);
    if (status == TAPER_OK) status = p.root.size ? add_pages(w, f, &p) : add_in_one_piece(w, f);
    formats_paged_free(&p);
    return status;
}

taper_status formats_front_write_paged(formats_front *f, uint32_t each, formats_buffer *out,
                                       taper_error *error) {
    writing w = {formats_buffer_make(1 << 16), formats_buffer_make(FORMATS_MOST_BYTES), 0};
    w.body.account = formats_front_account(f);
    taper_status status = add_sections(&w, f, each);
    uint8_t header[FORMATS_HEADER_SIZE] = {0};
    write_header(f, (uint32_t)(w.table.size / FORMATS_SECTION_SIZE), w.is_paged, header);
    if (status == TAPER_OK) {
        formats_set_u32le(header + 20, formats_crc32c(formats_crc32c(0, header, sizeof header),
                                                      w.table.data, w.table.size));
        f->front_size = sizeof header + w.table.size + w.body.size;
        formats_write_bytes(out, header, sizeof header);
        formats_write_bytes(out, w.table.data, w.table.size);
        status = formats_write_bytes(out, w.body.data, w.body.size);
    }
    formats_buffer_free(&w.table), formats_buffer_free(&w.body);
    if (status == TAPER_ERR_LIMIT && f->account.limit)
        return formats_front_refuse(f, formats_account_left(&f->account) + 1, error);
    return status == TAPER_OK
               ? status
               : formats_fail(error, status, "no memory for the container's front matter");
}

taper_status formats_front_write(formats_front *f, formats_buffer *out, taper_error *error) {
    return formats_front_write_paged(f, FORMATS_LEAF_IMAGES, out, error);
}

/* root.h -- the root of a paged container: the section DIRE where the header has
 * FORMATS_FEATURE_PAGED. It has what all images share, and where each leaf lies.
 *
 * A leaf (leaf.h) is the front matter of consecutive images and groups, about 1,024 images. The
 * section LEAF is all leaves, one after another. If the names of the images ascend, the root has a
 * separator for each leaf; if not, the section `find` has pages of hashes (name_pages.h). A reader
 * of one image reads the root, one leaf and at most one such page, each with its own checksum. */
#ifndef FORMATS_ROOT_H
#define FORMATS_ROOT_H
#include "formats/front.h"

enum {
    FORMATS_LEAF_IMAGES = 1024, /* a writer's leaves have as many images, or some more */
    FORMATS_ROOT_BYTES = 16384, /* a writer's root has as many stored bytes at most, if it can */
    FORMATS_MOST_HASH_BITS = 32,
    FORMATS_MOST_PAGE_BITS = 24
};

/* How images are found by their names. */
typedef enum formats_find {
    FORMATS_FIND_NONE = 0,      /* the images have no names */
    FORMATS_FIND_ASCENDING = 1, /* names ascend bytewise; each leaf has a separator */
    FORMATS_FIND_HASHED = 2     /* pages of hashes */
} formats_find;

typedef struct formats_leaf {
    uint32_t first_image, first_group;
    uint64_t at;  /* its first byte, from the start of section LEAF */
    uint32_t crc; /* CRC-32C of its bytes */
} formats_leaf;

/* Arrays are NULL where there is nothing; leaves 0: the container is not paged. */
typedef struct formats_root {
    uint32_t leaves;
    formats_leaf *leaf; /* [leaves + 1]; the last one: images, groups, size of the section */
    uint64_t *layer_at; /* [layers + 1] where each layer begins, from the start of the data */
    uint64_t pixels;    /* over all images, modulo 2^64 */
    uint8_t has_labels;
    formats_find find;
    /* FORMATS_FIND_ASCENDING: names of leaf k are >= separator k and < separator k + 1. */
    char *separators;       /* NUL-terminated; that of leaf 0 is empty */
    size_t separators_size; /* bytes that are allocated; 0 in a writer's */
    uint32_t *separator_at; /* [leaves] offsets into separators */
    /* FORMATS_FIND_HASHED: the hash of a name is the upper hash_bits of its CRC-32C; the upper
     * page_bits of these are the number of its page. */
    uint8_t hash_bits, page_bits;
    uint64_t *page_at;  /* [2^page_bits + 1] first byte of each page, from the start of `find` */
    uint32_t *page_crc; /* [2^page_bits] CRC-32C of its bytes */
    /* Set by the reader of sections: where LEAF and `find` begin in the file, and nonzero if the
     * header has FORMATS_FEATURE_RAISED. */
    uint64_t leaves_at, pages_at;
    int has_raised;
    /* By a reader of the root alone: where section `meta` lies in the file, its stored size (0:
     * there is none) and checksum; nonzero: there is a section `also`. */
    uint64_t metadata_at, metadata_size;
    uint32_t metadata_crc;
    int has_further_names;
} formats_root;

static inline uint32_t formats_root_pages(const formats_root *r) {
    return r->find == FORMATS_FIND_HASHED ? (uint32_t)1 << r->page_bits : 0;
}

/* Read the content of the section into *r, and into f what all images share: rate classes, layers,
 * class names, data_bytes. The members of f's header must be set. Memory is charged to f's account.
 * TAPER_ERR_CORRUPT: a field is illegal, or leaves do not have the header's images and groups.
 * TAPER_ERR_LIMIT, TAPER_ERR_NOMEM. On failure memory stays in *r and *f. */
taper_status formats_root_read(formats_root *r, formats_front *f, formats_cursor *in,
                               taper_error *error);
void formats_root_write(const formats_root *r, const formats_front *f, formats_buffer *out);
/* The memory that was charged to f's account for *r. */
uint64_t formats_root_bytes(const formats_root *r, const formats_front *f);
void formats_root_free(formats_root *r); /* leaves it zeroed */

/* The leaf of image i; of group g. */
uint32_t formats_root_leaf_of_image(const formats_root *r, uint32_t i);
uint32_t formats_root_leaf_of_group(const formats_root *r, uint32_t g);
/* The leaf that has this name, if one has; FORMATS_FIND_ASCENDING only. */
uint32_t formats_root_leaf_of_name(const formats_root *r, const char *name);
/* The hash of a name, and its page; FORMATS_FIND_HASHED only. */
uint32_t formats_root_hash(const formats_root *r, const char *name);
uint32_t formats_root_page(const formats_root *r, uint32_t hash);

#endif

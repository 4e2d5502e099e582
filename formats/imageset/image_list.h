/* image_list.h -- the images of a set, the files that hold them, and their labels. */
#ifndef FORMATS_IMAGE_LIST_H
#define FORMATS_IMAGE_LIST_H
#include "formats/account.h"
#include "formats/images/cifar.h"
#include "formats/file.h"
#include "formats/images/idx.h"
#include "formats/imageset/skip.h"
#include "formats/readers/reader.h"
#include "formats/readers/spool.h"
#include <stdatomic.h>

typedef enum image_kind {
    KIND_PNG,
    KIND_JPEG,
    KIND_PNM,
    KIND_IDX,
    KIND_CIFAR,
    KIND_READER /* image_file.reader */
} image_kind;

/* Bytes that stay available while the set is open: a file of many images, a stream that was read
 * into memory, or a member of an archive. source reads from each. */
typedef struct image_pack {
    formats_file *file;         /* NULL: in memory, or in the spool */
    uint8_t *held;              /* NULL: not in memory */
    formats_memory memory;      /* over held */
    const formats_spool *spool; /* of the list; NULL: not in the spool */
    uint64_t spool_at;
    taper_source source;
    formats_idx idx;     /* KIND_IDX */
    formats_cifar cifar; /* KIND_CIFAR */
} image_pack;

/* Members of both structs by falling size: lists of a million images are in memory. */
typedef struct image_file {
    char *path;                   /* as opened, for messages */
    size_t relative_at;           /* path + relative_at: the relative path, for names and labels */
    image_pack *pack;             /* NULL: one image, which is read on demand */
    const formats_reader *reader; /* KIND_READER */
    int64_t modified_ns;          /* of a member of an archive: its time */
    image_kind kind;
    uint32_t input;       /* number of the input, or of the line of a file list, that it is from */
    uint32_t frames;      /* of which each is an image of its own; 0: only the first is */
    uint8_t below_folder; /* from a folder argument: the first part of its path may be a class */
    uint8_t has_modified;
} image_file;

/* Bits of image_entry.seen, behind FORMATS_LOST_* of metadata.h. */
enum {
    SEEN_PROFILE = 4,
    SEEN_UNCERTAIN_ORIENTATION = 8, /* formats_orientation.is_uncertain */
    SEEN_LEFT_OUT = 16              /* formats_metadata.left_out is not 0 */
};

typedef struct image_entry {
    /* IDX, CIFAR: number of the image; in a pack of PNG, JPEG or PNM: offset in bytes; KIND_READER:
     * frame. */
    uint64_t part;
    char *name; /* NULL: none, or not named yet */
    uint32_t file;
    int32_t label;      /* -1: none */
    atomic_uint frames; /* frames or pages of which only the first was read */
    atomic_uchar seen;  /* SEEN_*, FORMATS_LOST_*: set when the image is read, by any thread */
    uint8_t is_named;   /* 1: is given a name when the list is complete */
} image_entry;

typedef struct formats_image_list {
    taper_limits limits;
    formats_spool spool;     /* members of archives */
    formats_account account; /* charged with the list and with the memory that filling it needs */
    image_file *files;
    size_t file_count, file_capacity;
    image_entry *entries;
    size_t count, capacity;
    size_t class_count;
    char **class_names;
    /* Lines of the label file that match no image, and the name on the first of them, or NULL. */
    size_t unmatched_lines;
    char *unmatched_line;
    /* Lines whose label a later line of the same name replaces by another. */
    size_t overridden_lines;
    char *overridden_line;
    /* The class folder, if there is only one: it gives no labels. Else NULL. */
    char *single_class;
    /* Names that were changed to make them unique (see imageset.h), and one of each, or NULL. */
    size_t prefixed, numbered;
    const char *prefixed_first, *numbered_first;
} formats_image_list;

/* A list while it is being filled. */
typedef struct list_builder {
    formats_image_list *list;
    uint32_t inputs; /* inputs begun so far */
    formats_imageset_skip_fn *skip;
    void *skip_user;
    size_t skipped; /* files reported to skip, without links and hidden ones */
    size_t hidden;
    size_t failed; /* those of `skipped` that are failures */
    int follow_links, all_frames;
    taper_error *error;
} list_builder;

/* Add a copy of `like` with this kind and pack. The list owns pack, also on failure. */
taper_status formats_image_list_add_file(list_builder *b, const image_file *like, image_kind kind,
                                         image_pack *pack);
/* Add an image of the last file. named: 1 if formats_imageset_name_images is to name it. */
taper_status formats_image_list_add(list_builder *b, uint64_t part, int named);
void formats_image_list_free(formats_image_list *list); /* its contents */

/* A pack over `held`, which it owns. On failure NULL, and `held` is freed. */
image_pack *formats_image_pack_over(uint8_t *held, size_t size);
/* A pack over bytes of the spool of a list; NULL without memory. */
image_pack *formats_image_pack_in_spool(const formats_spool *spool, uint64_t at, uint64_t size);

/* The bytes of a file, or of a part of its pack. */
typedef struct formats_file_bytes {
    const uint8_t *bytes; /* [size] */
    size_t size;
    uint8_t *owned; /* the caller's to free; NULL: bytes are in the pack */
} formats_file_bytes;
/* pack: n bytes from an offset of it; NULL: the whole file at `path`. TAPER_ERR_LIMIT: more than
 * limits->max_memory; also errors of reading. */
taper_status formats_file_bytes_load(const image_pack *pack, uint64_t offset, uint64_t n,
                                     const char *path, const taper_limits *limits,
                                     formats_file_bytes *out, taper_error *error);
void formats_image_pack_free(image_pack *pack); /* NULL is fine */

/* Report an input without an image to the caller's skip function. */
void formats_report_skip(list_builder *b, formats_skip what, const char *path,
                         const taper_error *why);
/* Report a file that cannot be used and return TAPER_OK: the set continues without it. But errors
 * of the system (formats_is_system_error) are returned: a later run might include the file. */
taper_status formats_skip_or_fail(list_builder *b, const char *path, taper_status status,
                                  const taper_error *why);
/* Charge bytes to the account of the list. TAPER_ERR_LIMIT. */
taper_status formats_image_list_charge(list_builder *b, uint64_t bytes);
/* Returns TAPER_ERR_NOMEM with its text. */
taper_status formats_no_memory_to_list(taper_error *error);

#endif

/* image_list.h -- the images of a set: the files that hold them, their places and labels. */
#ifndef FORMATS_IMAGE_LIST_H
#define FORMATS_IMAGE_LIST_H
#include "formats/account.h"
#include "formats/cifar.h"
#include "formats/file.h"
#include "formats/idx.h"
#include "formats/skip.h"
#include <stdatomic.h>

typedef enum image_kind { KIND_PNG, KIND_JPEG, KIND_PNM, KIND_IDX, KIND_CIFAR } image_kind;

/* Bytes that stay at hand while the set is open: a file with many images, or a stream that was read
 * into memory. source reads either. */
typedef struct image_pack {
    formats_file *file;    /* NULL: in memory */
    uint8_t *held;         /* NULL: in the file */
    formats_memory memory; /* over held */
    taper_source source;
    formats_idx idx;     /* KIND_IDX */
    formats_cifar cifar; /* KIND_CIFAR */
} image_pack;

typedef struct image_file {
    char *path;         /* as opened, for messages */
    size_t relative_at; /* path + relative_at: what names and labels go by */
    uint32_t input;     /* which of the inputs it came from, or of the lines of a list */
    image_pack *pack;   /* NULL: one image, read when asked for */
    image_kind kind;
    uint8_t below_folder; /* came from a folder argument: its first part may be a class */
} image_file;

typedef struct image_entry {
    uint64_t part; /* IDX, CIFAR: number of the image; PNM in a pack: offset in bytes */
    char *name;    /* NULL: none, or not yet */
    uint32_t file;
    int32_t label;            /* -1: none */
    atomic_uchar has_profile; /* set when it is read, by any thread; so are the next two */
    atomic_uchar leaves_orientation;
    atomic_uchar losses;      /* bits of metadata.h */
    uint8_t is_named;         /* gets a name when the list is complete */
} image_entry;

typedef struct formats_image_list {
    taper_limits limits;
    formats_account account; /* what it holds, and what is held to fill it */
    image_file *files;
    size_t file_count, file_capacity;
    image_entry *entries;
    size_t count, capacity;
    size_t class_count;
    char **class_names;
    size_t lines_left;  /* of a label file whose names no image has */
    char *line_left;    /* the name of the first of them, or NULL */
    size_t lines_twice; /* whose label a later line of the same name contradicts */
    char *line_twice;
    char *lone_class; /* the one folder with a name for a class, which makes no labels; or NULL */
    size_t in_folders, numbered; /* names that were changed as others are equal: see imageset.h */
    const char *in_folder_first, *numbered_first; /* names of entries, or NULL */
} formats_image_list;

/* A list while it is being filled. */
typedef struct list_builder {
    formats_image_list *list;
    uint32_t inputs; /* begun so far */
    formats_imageset_skip_fn *skip;
    void *skip_user;
    size_t skipped; /* files that were reported to skip, links and hidden ones aside */
    size_t hidden;
    size_t failed;  /* those of them that are failures */
    int follow_links;
    taper_error *error;
} list_builder;

/* Add a file: a copy of `like` with its path, of this kind. The list takes pack even on failure. */
taper_status formats_image_list_add_file(list_builder *b, const image_file *like, image_kind kind,
                                         image_pack *pack);
/* Add an image of the last file; named: formats_imageset_name_images gives it a name. */
taper_status formats_image_list_add(list_builder *b, uint64_t part, int named);
void formats_image_list_free(formats_image_list *list); /* what it holds */

/* A pack over `held`, which it takes (also on failure, NULL). */
image_pack *formats_image_pack_over(uint8_t *held, size_t size);
void formats_image_pack_free(image_pack *pack); /* NULL is fine */

/* Tell the caller what gives no image. */
void formats_report_skip(list_builder *b, formats_skip what, const char *path,
                         const taper_error *why);
/* Report a file that cannot be used, and let the set go on. But short memory or a disk that cannot
 * be read are not the file's fault: the set would be another one. These are passed on. */
taper_status formats_skip_or_fail(list_builder *b, const char *path, taper_status status,
                                  const taper_error *why);
/* Charge so many bytes that the list is to hold. TAPER_ERR_LIMIT. */
taper_status formats_image_list_charge(list_builder *b, uint64_t bytes);
/* TAPER_ERR_NOMEM */
taper_status formats_no_memory_to_list(taper_error *error);

#endif

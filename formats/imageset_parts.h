/* imageset_parts.h -- what the files of an open set have in common; only imageset*.c include it.
 *
 * imageset.c         opening, reading, the public functions
 * imageset_inputs.c  from an input (path, folder, list, stream) to images
 * imageset_labels.c  from label files, CIFAR records and folder names to classes */
#ifndef FORMATS_IMAGESET_PARTS_H
#define FORMATS_IMAGESET_PARTS_H
#include "formats/cifar.h"
#include "formats/file.h"
#include "formats/idx.h"
#include "formats/image_names.h"
#include "formats/imageset.h"
#include "formats/labels.h"
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
    image_pack *pack;   /* NULL: one image, read when asked for */
    image_kind kind;
    uint8_t below_folder; /* came from a folder argument: its first part may be a class */
} image_file;

typedef struct image_entry {
    uint64_t part; /* IDX, CIFAR: number of the image; PNM in a pack: offset in bytes */
    char *name;    /* NULL: none */
    uint32_t file;
    int32_t label;            /* -1: none */
    atomic_uchar has_profile; /* set when it is read, by any thread */
} image_entry;

struct formats_imageset {
    taper_limits limits;
    image_file *files;
    size_t file_count, file_capacity;
    image_entry *entries;
    size_t count, capacity;
    size_t class_count;
    char **class_names;
};

/* A set while it is being opened. */
typedef struct imageset_builder {
    formats_imageset *set;
    formats_image_names *names;
    formats_imageset_skip_fn *skip;
    void *skip_user;
    size_t skipped; /* files that were reported to skip, links aside */
    size_t failed;  /* those of them that are failures */
    int follow_links;
    taper_error *error;
} imageset_builder;

/* Add what path stands for: a file, a folder, "-". What cannot be used is reported to skip; a
 * failure is returned only when the set cannot go on (memory, limits). */
taper_status imageset_add_input(imageset_builder *b, const char *path);
/* Add the files that a text file lists, one a line, relative to its folder. */
taper_status imageset_add_list(imageset_builder *b, const char *list_path);
void imageset_pack_free(image_pack *pack); /* NULL is fine */

/* Give the entries of a complete set their labels. labels_path: NULL for those of CIFAR files, else
 * those of folders. */
taper_status imageset_assign_labels(imageset_builder *b, const char *labels_path);

#endif

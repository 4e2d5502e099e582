/* imageset.h -- a set of images from files, folders, lists, IDX, CIFAR binary or standard input.
 *
 * Opening lists the images and reads headers of multi-image files only; pixels are read one image
 * at a time. All functions on an open set are safe to call from several threads at once. */
#ifndef FORMATS_IMAGESET_H
#define FORMATS_IMAGESET_H
#include "formats/skip.h"

typedef struct formats_imageset formats_imageset;

typedef struct formats_imageset_options {
    const char *filelist;       /* a text file, one path a line, relative to the list's folder; "-":
                                   standard input, relative to the current folder; NULL: none */
    const char *labels;         /* IDX (.gz too), CSV "name,label" / one label a line; NULL: none */
    const taper_limits *limits; /* NULL: defaults */
    int follow_links; /* nonzero: enter links in folders to folders below the one that was named */
    int null_list; /* nonzero: paths in the file list end in a NUL byte, not at the line's end */
} formats_imageset_options;

/* Open paths: image files (PNG, PNM/PAM, JPEG), IDX (.gz), CIFAR binary, folders (recursive, files
 * in byte order of their relative path, hidden ones left out), "-" (standard input, any of these
 * formats). Class labels: from options->labels, else CIFAR's own, else the first-level folder names
 * below a folder argument when there are at least two such classes (sorted by name, 0..). On
 * success *out is the caller's, to close; on failure *out is NULL. An input without a single image
 * is TAPER_ERR_ARG with a text that names it. Short memory, and a read that the system refuses once
 * begun (TAPER_ERR_IO), fail the whole, with the path in the text: the set would be another one
 * when all is well again. */
taper_status formats_imageset_open(formats_imageset **out, const char *const *paths, size_t n_paths,
                                   const formats_imageset_options *options,
                                   formats_imageset_skip_fn *skip, void *skip_user,
                                   taper_error *error);
void formats_imageset_close(formats_imageset *set); /* NULL is fine */

size_t formats_imageset_count(const formats_imageset *set);
/* Bytes of memory that the open set takes, reading aside. */
uint64_t formats_imageset_memory(const formats_imageset *set);

/* Read image i; *out->pixels is malloc'd and the caller's to free. On failure pixels is NULL and
 * error tells why (without the file's name: see formats_imageset_path). After TAPER_ERR_NOMEM and
 * TAPER_ERR_IO the image may be read another time. */
taper_status formats_imageset_read(const formats_imageset *set, size_t i, taper_image *out,
                                   taper_error *error);

/* Relative name for the container, with the suffix of the file, escaped (name_key.h):
 * "cat/0001.jpg"; NULL for images out of IDX or CIFAR files. Unique within the set: where two
 * inputs would give the same name, images of both have the folder that the input is in before their
 * names, or more of its path; what is equal still gets "-2" and so on before the suffix. */
const char *formats_imageset_name(const formats_imageset *set, size_t i);
/* How many names have such a folder, and how many a number; *first: one of them, or NULL. Images of
 * one file are not counted. */
size_t formats_imageset_in_folders(const formats_imageset *set, const char **first);
size_t formats_imageset_numbered(const formats_imageset *set, const char **first);
/* Which image of its IDX or CIFAR file it is, from 0; 0 for images that have names. */
uint64_t formats_imageset_part(const formats_imageset *set, size_t i);
/* Path of the file that holds image i, for messages. Never NULL. */
const char *formats_imageset_path(const formats_imageset *set, size_t i);

/* How many of the images read so far had a colour profile other than sRGB, which was dropped;
 * *first: path of one of them, or NULL. */
size_t formats_imageset_profiles(const formats_imageset *set, const char **first);

/* How many of them say their orientation in a way that was not used (formats_orientation). */
size_t formats_imageset_orientations(const formats_imageset *set, const char **first);
/* The same of files with EXIF or XMP data, of which the set takes the orientation alone, and of
 * files with more pictures than the one that is read. */
size_t formats_imageset_exifs(const formats_imageset *set, const char **first);
size_t formats_imageset_more_pictures(const formats_imageset *set, const char **first);

/* Label of image i, 0.., or -1 when the set has none. */
int32_t formats_imageset_label(const formats_imageset *set, size_t i);
size_t formats_imageset_class_count(const formats_imageset *set);               /* 0: no labels */
const char *formats_imageset_class_name(const formats_imageset *set, size_t k); /* "cat", or "3" */
/* Where there are no labels because folders name one class alone: its name; else NULL. */
const char *formats_imageset_lone_class(const formats_imageset *set);
/* How many lines of the label file name no image here; *first: the name of one of them, or NULL. */
size_t formats_imageset_lines_left(const formats_imageset *set, const char **first);
/* How many of its lines give a label that a later line of the same name contradicts; the last line
 * counts. *first: the name of one of them, or NULL. */
size_t formats_imageset_lines_twice(const formats_imageset *set, const char **first);

#endif

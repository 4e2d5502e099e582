/* imageset.h -- a set of images from files, folders, lists, IDX, CIFAR binary or standard input.
 *
 * Opening lists the images; of image data it reads only the headers of multi-image files. Pixels
 * are read one image at a time. Several threads may use an open set at once.
 *
 * Directory formats/imageset/: sets of images with names and labels. Not part of the library.
 *
 *     imageset         a set of images from any of these inputs
 *     image_list       its files, images and labels
 *     archive_inputs   collects the images in an archive
 *     imageset_inputs  collects the images of each input
 *     imageset_names   names the images
 *     imageset_labels  labels the images
 *     frame_cursor     reads the frames of a file in order
 *     folder_walk      lists the files below a folder
 *     recognise        detects the format of a file
 *     skip             reports inputs without an image
 *     image_names      relative, safe and unique names of images
 *     name_key         normal form of names, for comparison
 *     decompositions   the Unicode tables of name_key
 *     labels           class labels from IDX, CSV and folder names
 *     label_index      lines of a label file by name
 *     label_names      assigns the lines of a label file to images */
#ifndef FORMATS_IMAGESET_H
#define FORMATS_IMAGESET_H
#include "formats/imageset/skip.h"
#include "formats/metadata/picture_metadata.h"

typedef struct formats_imageset formats_imageset;

typedef struct formats_imageset_options {
    /* A text file with one path per line, relative to the folder of the list. "-": standard input,
     * relative to the current folder. NULL: none. */
    const char *filelist;
    const char *labels;         /* a label file, see labels.h; NULL: none */
    const taper_limits *limits; /* NULL: defaults */
    int follow_links;           /* nonzero: see formats_folder_walk */
    int null_list;              /* nonzero: each path of the file list ends in a NUL byte */
    /* Nonzero: each frame of an animation and each page of a file is an image of the set; of a file
     * "a.gif" with several, "a-1.gif", "a-2.gif" ..., with as many digits as the last needs. Else
     * the first is. Of JPEG and APNG always. */
    int all_frames;
} formats_imageset_options;

/* Open paths. A path is an image file (PNG, PNM, PAM, JPEG, and those of formats/readers/: WebP,
 * TIFF, GIF, BMP, AVIF, HEIC, JPEG XL), an IDX file (.gz too), a CIFAR binary file, an archive
 * (formats/readers/archive.h), or a folder (see formats_folder_walk), in which archives are passed
 * over; "-" is standard input, in any of these formats, or PNG, JPEG or PNM files one after the
 * other.
 *
 * Class labels come from options->labels; else from CIFAR files; else from the names of the folders
 * directly below a folder argument, if there are at least two such classes (sorted by name, 0..).
 *
 * On success *out is the caller's to close; on failure *out is NULL. TAPER_ERR_ARG: an input has no
 * image; the text names it. TAPER_ERR_NOMEM, and TAPER_ERR_IO where a read fails after it began,
 * fail the whole call: without the file the set would differ from that of a later run. The text has
 * the path. */
taper_status formats_imageset_open(formats_imageset **out, const char *const *paths, size_t n_paths,
                                   const formats_imageset_options *options,
                                   formats_imageset_skip_fn *skip, void *skip_user,
                                   taper_error *error);
void formats_imageset_close(formats_imageset *set); /* NULL is fine */

size_t formats_imageset_count(const formats_imageset *set);
/* Bytes of memory that the open set uses, without reading. */
uint64_t formats_imageset_memory(const formats_imageset *set);

/* Read image i. out->pixels is malloc'd and the caller's to free; NULL on failure. The error text
 * has no file name: see formats_imageset_path. After TAPER_ERR_NOMEM and TAPER_ERR_IO the caller
 * may try again.
 * metadata: the caller frees it with formats_metadata_free; settled (settle.h), with the time of
 * the file if that is one image; zeroed on failure. NULL: not wanted. */
taper_status formats_imageset_read(const formats_imageset *set, size_t i, taper_image *out,
                                   formats_metadata *metadata, taper_error *error);

/* Name of image i for the container: a relative path with the suffix of the file, escaped
 * (name_escape.h), such as "cat/0001.jpg". NULL for images of IDX and CIFAR files. Names are unique
 * in the set. If two inputs give the same name, the names of all images of both are prefixed with
 * the folder of the input, or more of its path. Names that are still equal get "-2", "-3" ...
 * before the suffix. */
const char *formats_imageset_name(const formats_imageset *set, size_t i);
/* How many names have such a prefix, or such a number; *first: one of them, or NULL. Images of
 * multi-image files are not counted. */
size_t formats_imageset_prefixed(const formats_imageset *set, const char **first);
size_t formats_imageset_numbered(const formats_imageset *set, const char **first);
/* Number of image i in its IDX or CIFAR file, from 0; 0 for images that have names. */
uint64_t formats_imageset_part(const formats_imageset *set, size_t i);
/* Path of the file with image i, for messages. Never NULL. */
const char *formats_imageset_path(const formats_imageset *set, size_t i);

/* The next ones count images that were read so far; *first: path of one of them, or NULL.
 * profiles: there is a colour profile other than sRGB. */
size_t formats_imageset_profiles(const formats_imageset *set, const char **first);
/* The orientation is uncertain (formats_orientation). */
size_t formats_imageset_orientations(const formats_imageset *set, const char **first);
/* The file has EXIF or XMP data; or more than one picture, of which only the first is read,
 * whatever the options. */
size_t formats_imageset_exifs(const formats_imageset *set, const char **first);
size_t formats_imageset_more_pictures(const formats_imageset *set, const char **first);
/* The file has several frames or pages, of which all_frames would make images. *frames: how many in
 * all these files. */
size_t formats_imageset_more_frames(const formats_imageset *set, const char **first,
                                    uint64_t *frames);
/* Metadata that were asked for lack a profile, EXIF or XMP (formats_metadata.left_out). */
size_t formats_imageset_left_out(const formats_imageset *set, const char **first);

/* Label of image i, 0..; -1: none. */
int32_t formats_imageset_label(const formats_imageset *set, size_t i);
size_t formats_imageset_class_count(const formats_imageset *set);               /* 0: no labels */
const char *formats_imageset_class_name(const formats_imageset *set, size_t k); /* "cat", or "3" */
/* The name of the only class folder, if there are no labels for that reason; else NULL. */
const char *formats_imageset_single_class(const formats_imageset *set);
/* How many lines of the label file match no image; *first: the name on one of them, or NULL. */
size_t formats_imageset_unmatched_lines(const formats_imageset *set, const char **first);
/* How many lines give a label that differs from that of a later line of the same name; the last
 * line counts. *first: the name on one of them, or NULL. */
size_t formats_imageset_overridden_lines(const formats_imageset *set, const char **first);

/* --- digests: numbers that tell whether two lists of inputs are the same ---
 *
 * Times of files do not count, and neither do the folders in which the inputs lie: machines with
 * other clocks and mounts find the same numbers. They are XXH3-64, which finds differences but does
 * not resist someone who makes inputs for it. */

/* Of the whole set, without reading images: their names and order, the names of classes, and of
 * IDX and CIFAR files size and beginning, as their images have no names.
 * TAPER_ERR_IO, TAPER_ERR_TRUNCATED: such a file cannot be read. */
taper_status formats_imageset_digest(const formats_imageset *set, uint64_t *digest,
                                     taper_error *error);

/* Of images first .. end - 1: names, labels, and the bytes of their files, all of which are read.
 * What cannot be read counts as empty: whoever reads the image reports that. TAPER_ERR_NOMEM, and
 * TAPER_ERR_LIMIT: a file is larger than max_memory. */
taper_status formats_imageset_digest_inputs(const formats_imageset *set, size_t first, size_t end,
                                            uint64_t *digest, taper_error *error);

/* Of a text, of bytes, and of an image: its size, channels, depth and pixels. Of a million
 * different images two have one digest with a chance of 3e-8. */
uint64_t formats_digest_text(const char *text);
uint64_t formats_digest_bytes(const void *bytes, size_t n);
uint64_t formats_digest_image(const taper_image *image);

#endif

/* labels.h -- class labels from IDX label files, from text files (CSV), and from folder names.
 *
 * Text files are UTF-8. A byte order mark, CRLF, blank lines, spaces around fields and "quoted"
 * fields are accepted. Within quotes, spaces are kept and a field may contain line breaks.
 *
 * A line is either "name,label", where name is the path or file name of an image, or one label; the
 * first line decides for all. A first line is a heading if its label column is "label", "class",
 * "category", "target" or "y". With a heading "name,label", a label may be empty: the image then
 * has none. Further columns of the heading, such as the votes that `classify` writes, are ignored.
 * A first line with a tab or a semicolon but no comma is an error, unless it is quoted.
 *
 * "./" before a name is removed. So is the apostrophe of a label such as '=1, which prevents
 * spreadsheets from reading a formula.
 *
 * Classes are numbered 0.. in the order of their names: numerically if all are integers, else by
 * bytes. An IDX file has the classes 0..largest, named "0", "1" and so on. */
#ifndef FORMATS_LABELS_H
#define FORMATS_LABELS_H
#include "formats/imageset/label_index.h"

typedef struct formats_labels {
    size_t count;     /* labels, in the order of the file */
    int32_t *classes; /* [count], 0..class_count-1; -1: empty */
    char **names;     /* [count] names of a "name,label" file; NULL: labels are in image order */
    formats_label_index index; /* of names; empty if names is NULL */
    size_t class_count;
    char **class_names;   /* [class_count] */
    uint64_t class_bytes; /* memory of class_names */
} formats_labels;

void formats_labels_free(formats_labels *labels); /* also zeroes it; NULL is fine */

/* Decode a label file: IDX (plain or gzip) or text. On success the caller frees *out with
 * formats_labels_free; on failure it is zeroed. Safe on hostile input. TAPER_ERR_LIMIT: more than
 * limits->max_images labels, or more than limits->max_memory bytes in addition to the file.
 * TAPER_ERR_CORRUPT: the text names the line. */
taper_status formats_labels_decode(const void *bytes, size_t n, const taper_limits *limits,
                                   formats_labels *out, taper_error *error);

/* Labels from n class names, which are copied. NULL in texts: no label, -1. out->names is NULL. */
taper_status formats_labels_from_texts(const char *const *texts, size_t n, formats_labels *out,
                                       taper_error *error);

/* For labels in image order: TAPER_ERR_ARG, with both counts, if there are not as many as images.
 */
taper_status formats_labels_check_count(const formats_labels *labels, size_t images,
                                        taper_error *error);

#endif

/* labels.h -- class labels from IDX label files, from CSV, and from names such as those of folders.
 *
 * Text files are read as UTF-8; a byte order mark, CRLF line ends, blank lines, spaces around
 * fields and "quoted" fields are accepted; within quotes blanks count, and a line's end is a
 * character like others. Each line holds either "name,label", where name is an
 * image's path or file name, or one label; the first line decides. A first line whose label column
 * reads "label", "class", "category", "target" or "y" is a heading. Under a heading "name,label" a
 * label may be left empty: that image has none; and where the heading has further columns, such as
 * the votes that `classify` writes, they are passed over. A first line with a tab or a semicolon
 * and no comma is refused, unless it is quoted. "./" before a name is taken away, and so is one
 * apostrophe of a label like '=1, where it keeps spreadsheets from taking it for a formula.
 *
 * Classes are numbered 0.. in the order of their names: numerically when all are whole numbers,
 * else by bytes. The labels of an IDX file are classes 0..largest themselves, named "0", "1" and so
 * on. */
#ifndef FORMATS_LABELS_H
#define FORMATS_LABELS_H
#include "formats/label_index.h"

typedef struct formats_labels {
    size_t count;     /* labels, in the order of the file */
    int32_t *classes; /* [count], 0..class_count-1; -1: left empty */
    char **names;     /* [count] image names of a "name,label" file; NULL: labels are in order */
    formats_label_index index; /* of the names; empty likewise */
    size_t class_count;
    char **class_names; /* [class_count] */
    uint64_t class_bytes; /* of memory for these */
} formats_labels;

void formats_labels_free(formats_labels *labels); /* also zeroes it; NULL is fine */

/* Decode a label file: IDX (plain or gzip) or text. On success the caller frees *out with
 * formats_labels_free; on failure it is zeroed. Safe on hostile input: at most limits->max_images
 * labels, and limits->max_memory bytes beside the file's own (TAPER_ERR_LIMIT).
 * TAPER_ERR_CORRUPT names the line. */
taper_status formats_labels_decode(const void *bytes, size_t n, const taper_limits *limits,
                                   formats_labels *out, taper_error *error);

/* Number the classes of n label texts (copied); a NULL text has no class, -1. names stays NULL. */
taper_status formats_labels_from_texts(const char *const *texts, size_t n, formats_labels *out,
                                       taper_error *error);

/* The label of the name of this key (formats_name_key): its class, or -1 when the file does not
 * have it or leaves it empty. */
int32_t formats_labels_find(const formats_labels *labels, const char *key);

/* TAPER_OK when labels in order are as many as images, else TAPER_ERR_ARG with both counts. */
taper_status formats_labels_check_count(const formats_labels *labels, size_t images,
                                        taper_error *error);

#endif

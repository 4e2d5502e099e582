/* labels.c -- label files and the numbering of classes; see labels.h. */
#include "formats/imageset/labels.h"
#include "formats/account.h"
#include "formats/images/gzip.h"
#include "formats/images/idx.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_FIELD = 4096,   /* bytes of a name or label in a text file */
    TEXT_BYTES = 24,    /* overhead in memory of such a text */
    LINE_BYTES = 11 * 8 /* per line: pointers to its texts, for sorting by name and by label */
};

static void free_texts(char **texts, size_t n) {
    for (size_t i = 0; texts && i < n; i++) free(texts[i]);
    free(texts);
}

void formats_labels_free(formats_labels *labels) {
    if (!labels) return;
    formats_label_index_free(&labels->index);
    free_texts(labels->names, labels->count);
    free_texts(labels->class_names, labels->class_count);
    free(labels->classes);
    *labels = (formats_labels){0};
}

static taper_status no_memory(taper_error *error) {
    return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the labels");
}

/* --- numbering of classes --- */

/* A whole number of at most 18 digits, so that it fits an int64_t. */
static int is_number(const char *text) {
    const char *digits = text + (*text == '-');
    size_t n = strspn(digits, "0123456789");
    return n >= 1 && n <= 18 && digits[n] == '\0';
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int compare_numbers(const void *a, const void *b) {
    long long x = strtoll(*(const char *const *)a, NULL, 10);
    long long y = strtoll(*(const char *const *)b, NULL, 10);
    if (x != y) return x < y ? -1 : 1;
    return compare_texts(a, b); /* "1" and "01" stay two classes, in a fixed order */
}

typedef int compare_fn(const void *, const void *);

static compare_fn *choose_order(const char *const *texts, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!is_number(texts[i])) return compare_texts;
    return compare_numbers;
}

/* Remove duplicates from a sorted list; returns the new length. */
static size_t unique(const char **sorted, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || strcmp(sorted[kept - 1], sorted[i]) != 0) sorted[kept++] = sorted[i];
    return kept;
}

static taper_status copy_class_names(const char *const *sorted, size_t n, formats_labels *out,
                                     taper_error *error) {
    out->class_names = calloc(n ? n : 1, sizeof *out->class_names);
    if (!out->class_names) return no_memory(error);
    for (; out->class_count < n; out->class_count++) {
        out->class_names[out->class_count] = strdup(sorted[out->class_count]);
        if (!out->class_names[out->class_count]) return no_memory(error);
        out->class_bytes += strlen(sorted[out->class_count]) + TEXT_BYTES + sizeof *sorted;
    }
    return TAPER_OK;
}

static taper_status number_classes(const char *const *texts, size_t n, const char **sorted,
                                   formats_labels *out, taper_error *error) {
    size_t present = 0;
    for (size_t i = 0; i < n; i++)
        if (texts[i]) sorted[present++] = texts[i];
    compare_fn *order = choose_order(sorted, present);
    if (present) qsort(sorted, present, sizeof *sorted, order);
    size_t classes = unique(sorted, present);
    TAPER_TRY(copy_class_names(sorted, classes, out, error));
    out->classes = malloc((n ? n : 1) * sizeof *out->classes);
    if (!out->classes) return no_memory(error);
    for (size_t i = 0; i < n; i++) {
        const char **found =
            texts[i] ? bsearch(&texts[i], sorted, classes, sizeof *sorted, order) : NULL;
        out->classes[i] = found ? (int32_t)(found - sorted) : -1;
    }
    out->count = n;
    return TAPER_OK;
}

taper_status formats_labels_from_texts(const char *const *texts, size_t n, formats_labels *out,
                                       taper_error *error) {
    *out = (formats_labels){0};
    if (n > INT32_MAX)
        return formats_fail(error, TAPER_ERR_LIMIT, "there are more than 2^31 labels");
    const char **sorted = malloc((n ? n : 1) * sizeof *sorted);
    if (!sorted) return no_memory(error);
    taper_status status = number_classes(texts, n, sorted, out, error);
    free(sorted);
    if (status != TAPER_OK) formats_labels_free(out);
    return status;
}

/* --- IDX --- */

static taper_status decode_idx(const void *bytes, size_t n, const taper_limits *limits,
                               formats_labels *out, taper_error *error) {
    uint8_t *values;
    size_t count;
    unsigned largest = 0;
    TAPER_TRY(formats_idx_labels_decode(bytes, n, limits, &values, &count, error));
    for (size_t i = 0; i < count; i++)
        if (values[i] > largest) largest = values[i];
    out->classes = malloc((count ? count : 1) * sizeof *out->classes);
    for (size_t i = 0; out->classes && i < count; i++) out->classes[i] = values[i];
    free(values);
    if (!out->classes) return no_memory(error);
    out->count = count;
    char numbers[256][4];
    const char *texts[256];
    for (unsigned k = 0; k <= largest; k++) {
        snprintf(numbers[k], sizeof numbers[k], "%u", k & 0xFF);
        texts[k] = numbers[k];
    }
    return copy_class_names(texts, count ? largest + 1 : 0, out, error);
}

/* --- text --- */

/* A text file as it is read: the fields of its lines so far. */
typedef struct label_text {
    const char *at, *end;
    size_t line;            /* number of the line being read, 1.. */
    size_t columns;         /* 1 or 2, once known */
    int has_more;           /* the heading has further columns, which are ignored */
    int has_heading;        /* labels may be empty then */
    char **names, **labels; /* names: all NULL when columns is 1 */
    size_t count, capacity;
    formats_account account;
} label_text;

static int is_control(char c) { return (unsigned char)c < ' ' && c != '\t' && c != '\r'; }

/* Append the character at `at` to field[*n], if it is legal there. */
static taper_status keep_byte(const label_text *t, size_t line, int is_text, char field[MAX_FIELD],
                              size_t *n, taper_error *error) {
    if (!is_text || *n + 1 == MAX_FIELD)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "line %zu of the labels is not text, or is too long", line);
    field[(*n)++] = *t->at;
    return TAPER_OK;
}

/* Read up to and including the closing quote; line breaks are allowed. */
static taper_status take_quoted(label_text *t, char field[MAX_FIELD], size_t *n,
                                taper_error *error) {
    const size_t first = t->line;
    for (t->at++; t->at < t->end; t->at++) {
        if (*t->at == '"') {
            t->at++;
            if (t->at == t->end || *t->at != '"') return TAPER_OK;
        }
        t->line += *t->at == '\n';
        TAPER_TRY(keep_byte(t, first, *t->at != '\0', field, n, error));
    }
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "line %zu of the labels opens a quote that is never closed", first);
}

/* Read up to a comma or the end of the line, without spaces at the end. */
static taper_status take_bare(label_text *t, char field[MAX_FIELD], size_t *n, taper_error *error) {
    for (; t->at < t->end && *t->at != '\n' && *t->at != ','; t->at++)
        TAPER_TRY(keep_byte(t, t->line, !is_control(*t->at), field, n, error));
    while (*n && (field[*n - 1] == ' ' || field[*n - 1] == '\t' || field[*n - 1] == '\r')) --*n;
    return TAPER_OK;
}

/* Read one field without quotes and surrounding spaces. Malloc'd; NULL with the status set on
 * failure. Afterwards `at` is at the comma, the newline, the end, or an illegal character after a
 * quote. */
static char *take_field(label_text *t, taper_status *status, taper_error *error) {
    char field[MAX_FIELD];
    size_t n = 0;
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\t')) t->at++;
    const int quoted = t->at < t->end && *t->at == '"';
    *status = quoted ? take_quoted(t, field, &n, error) : take_bare(t, field, &n, error);
    if (*status != TAPER_OK) return NULL;
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\t' || *t->at == '\r')) t->at++;
    char *copy = strndup(field, n);
    if (!copy) *status = no_memory(error);
    return copy;
}

/* Memory for a name: its text and its key, which is up to three times as long. For ASCII the key is
 * also the plain form. */
static uint64_t bytes_of_name(const char *name) {
    const uint64_t n = strlen(name);
    const char *at = name;
    while ((unsigned char)*at - 1u < 0x7F) at++;
    return *at ? 5 * n + 3 * TEXT_BYTES : 2 * (n + TEXT_BYTES);
}

/* Reserve memory for one line with these fields. Includes a copy of the label as a class name. */
static taper_status grow(label_text *t, const char *name, const char *label,
                         const taper_limits *limits, taper_error *error) {
    taper_limits l = formats_limits_or_default(limits);
    const uint64_t bytes =
        LINE_BYTES + bytes_of_name(name) + 2 * (strlen(label) + (uint64_t)TEXT_BYTES);
    if (formats_account_take(&t->account, bytes) != TAPER_OK)
        return formats_fail_fact(
            error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY, formats_account_step(&t->account, bytes),
            "the labels take more than %llu bytes of memory", (unsigned long long)t->account.limit);
    if (t->count >= l.max_images)
        return formats_fail_fact(
            error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_IMAGES, formats_power_above(l.max_images),
            "the label file has more than %llu lines", (unsigned long long)l.max_images);
    if (t->count < t->capacity) return TAPER_OK;
    size_t capacity = t->capacity ? t->capacity * 2 : 256;
    char **names = realloc(t->names, capacity * sizeof *names);
    if (names) t->names = names;
    char **labels = realloc(t->labels, capacity * sizeof *labels);
    if (labels) t->labels = labels;
    if (!names || !labels) return no_memory(error);
    t->capacity = capacity;
    return TAPER_OK;
}

static int is_heading(const char *label) {
    static const char *const words[] = {"label", "labels", "class", "category", "target", "y"};
    char lower[16];
    size_t n = strlen(label);
    if (n >= sizeof lower) return 0;
    for (size_t i = 0; i <= n; i++)
        lower[i] = (char)(label[i] >= 'A' && label[i] <= 'Z' ? label[i] + 32 : label[i]);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(lower, words[i]) == 0) return 1;
    return 0;
}

/* Read one line. *n: number of its fields; the first two go to fields. */
static taper_status take_line(label_text *t, char *fields[2], size_t *n, taper_error *error) {
    taper_status status = TAPER_OK;
    t->line++;
    for (*n = 0; status == TAPER_OK;) {
        char *field = take_field(t, &status, error);
        if (!field) break;
        if (*n < 2)
            fields[*n] = field;
        else
            free(field);
        ++*n;
        int more = t->at < t->end && *t->at == ',';
        if (!more && t->at < t->end && *t->at != '\n')
            status =
                formats_fail(error, TAPER_ERR_CORRUPT,
                             "line %zu of the labels has text behind a closing quote", t->line);
        if (!more) break;
        t->at++;
    }
    if (t->at < t->end) t->at++; /* the newline */
    return status;
}

/* The first line determines the number of columns. */
static void see_heading(label_text *t, const char *label, size_t n) {
    t->columns = n > 2 ? 2 : n;
    t->has_heading = is_heading(label);
    t->has_more = n > 2 && t->has_heading;
}

/* Store the fields of one line, or refuse them. *kept: 1 if stored; t then owns them. */
static taper_status keep_line(label_text *t, char *fields[2], size_t n, const taper_limits *limits,
                              int *kept, taper_error *error) {
    *kept = 0;
    const char *label = fields[n > 1];
    if (!label[0] && (n == 1 || (t->has_more && !fields[0][0]))) return TAPER_OK; /* a blank line */
    if (!t->columns) {
        see_heading(t, label, n);
        if (t->has_heading) return TAPER_OK;
    }
    if (n > 2 && !t->has_more)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "line %zu of the labels has more than 2 columns; write \"name,label\" "
                            "or one label a line, or begin with a heading: name,label,...",
                            t->line);
    const int is_bare = n == 2 && t->has_heading && fields[0][0]; /* a name without a label */
    if ((n > 2 ? 2 : n) != t->columns || (!label[0] && !is_bare && !t->has_more))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "line %zu of the labels does not have %s as the first line does",
                            t->line, t->columns == 2 ? "a name and a label" : "one label");
    TAPER_TRY(grow(t, fields[0], label, limits, error));
    if (!label[0]) free(fields[1]), fields[1] = NULL;
    t->names[t->count] = n > 1 ? fields[0] : NULL;
    t->labels[t->count++] = fields[n > 1];
    *kept = 1;
    return TAPER_OK;
}

/* For a first line of one field: refuses other separators that programs use. Columns are separated
 * by commas; a label with another separator must be quoted. */
static taper_status check_separator(const label_text *t, const char *line, const char *field,
                                    taper_error *error) {
    const int tabs = strchr(field, '\t') != NULL, others = strchr(field, ';') != NULL;
    if (t->columns || (!tabs && !others) || memchr(line, '"', (size_t)(t->at - line)))
        return TAPER_OK;
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "line %zu of the labels has a %s where a comma is expected; write "
                        "\"name,label\", or quotes around a label with one",
                        t->line, tabs ? "tab" : "semicolon");
}

/* Remove the prefix that prevents spreadsheets from reading a field as a formula: "./" before a
 * name; an apostrophe before a label, if a formula follows its apostrophes. */
static void unprotect(char *field, int is_name) {
    const char *behind = field + strspn(field, "'");
    size_t cut = 0;
    if (is_name)
        cut = strncmp(field, "./", 2) == 0 && field[2] ? 2 : 0;
    else
        cut = behind > field && *behind && strchr("=+-@\t\r", *behind);
    if (cut) memmove(field, field + cut, strlen(field + cut) + 1);
}

static taper_status read_lines(label_text *t, const taper_limits *limits, taper_error *error) {
    while (t->at < t->end) {
        char *fields[2] = {NULL, NULL};
        const char *line = t->at;
        size_t n;
        int kept = 0;
        taper_status status = take_line(t, fields, &n, error);
        if (status == TAPER_OK && n == 1) status = check_separator(t, line, fields[0], error);
        for (size_t i = 0; i < 2 && fields[i]; i++) unprotect(fields[i], n > 1 && i == 0);
        if (status == TAPER_OK) status = keep_line(t, fields, n, limits, &kept, error);
        if (!kept) {
            free(fields[0]);
            free(fields[1]);
        }
        if (status != TAPER_OK) return status;
    }
    return TAPER_OK;
}

static taper_status decode_text(const void *bytes, size_t n, const taper_limits *limits,
                                formats_labels *out, taper_error *error) {
    const taper_limits l = formats_limits_or_default(limits);
    label_text t = {
        .at = bytes, .end = (const char *)bytes + n, .account = formats_account_within(&l)};
    if (n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) t.at += 3;
    taper_status status = read_lines(&t, limits, error);
    if (status == TAPER_OK)
        status = formats_labels_from_texts((const char *const *)t.labels, t.count, out, error);
    free_texts(t.labels, t.count);
    if (status == TAPER_OK && t.columns == 2) {
        out->names = t.names;
        return formats_label_index_make(&out->index, out->names, out->count, error);
    }
    free_texts(t.names, t.count);
    return status;
}

/* The format of a file that was given as labels by mistake, from its first bytes. */
static taper_status check_kind(const uint8_t *p, size_t n, taper_error *error) {
    if (n >= 2 && ((p[0] == 0xFF && p[1] == 0xFE) || (p[0] == 0xFE && p[1] == 0xFF)))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the labels are text in UTF-16; save them as UTF-8");
    return TAPER_OK;
}

taper_status formats_labels_decode(const void *bytes, size_t n, const taper_limits *limits,
                                   formats_labels *out, taper_error *error) {
    *out = (formats_labels){0};
    int idx = formats_idx_detect(bytes, n) || formats_gzip_detect(bytes, n);
    taper_status status = check_kind(bytes, n, error);
    if (status == TAPER_OK)
        status = idx ? decode_idx(bytes, n, limits, out, error)
                     : decode_text(bytes, n, limits, out, error);
    if (status == TAPER_OK && out->class_count == 0)
        status = formats_fail(error, TAPER_ERR_CORRUPT, "the label file holds no label");
    if (status != TAPER_OK) formats_labels_free(out);
    return status;
}

taper_status formats_labels_check_count(const formats_labels *labels, size_t images,
                                        taper_error *error) {
    if (labels->count == images) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG,
                        "%zu label%s for %zu image%s; give one label for each image", labels->count,
                        formats_plural(labels->count, "s"), images, formats_plural(images, "s"));
}

/* arguments.h -- for tests that call every function of a public header with bad arguments. Each
 * argument, and each member of the structs they point to, is set in turn to 0, 1, its largest
 * values, NULL and NaN, while the others are valid.
 *
 * A call must return (in the sanitizer build: without reading past its inputs) and give a defined
 * status. If it fails and was given a taper_error, that must have the same status and a text. A
 * call that breaks the contract of the header must return TAPER_ERR_ARG (refused()); others need
 * not (allowed()).
 *
 * The length of an array of the caller is tried only at 0, 1 and the largest value: at other values
 * the array would have to exist. */
#ifndef TESTS_ARGUMENTS_H
#define TESTS_ARGUMENTS_H
#include "cmocka_all.h"
#include "codec/taper.h"
#include "formats/file.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A public function, and the test of its arguments. */
typedef struct argument_trial {
    const char *name;
    void (*run)(void);
} argument_trial;

/* The largest value of every integer type is one of these, converted to the type. */
static const uint64_t argument_numbers[] = {0, 1, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX};
static const size_t argument_counts[] = {0, 1, SIZE_MAX};
static const double argument_reals[] = {0, 1, -1, 1e300, INFINITY, NAN};

enum { ARGUMENT_NUMBERS = 6, ARGUMENT_COUNTS = 3, ARGUMENT_REALS = 6 };

#define EACH_NUMBER(v) \
    for (const uint64_t *v = argument_numbers; v < argument_numbers + ARGUMENT_NUMBERS; v++)
#define EACH_COUNT(v) \
    for (const size_t *v = argument_counts; v < argument_counts + ARGUMENT_COUNTS; v++)
#define EACH_REAL(v) \
    for (const double *v = argument_reals; v < argument_reals + ARGUMENT_REALS; v++)

static inline taper_status allowed(taper_status status, taper_error *error) {
    assert_string_not_equal(taper_status_name(status), "unknown status");
    if (status && error) assert_int_equal(error->status, status);
    if (status && error) assert_true(error->text[0] && strlen(error->text) < sizeof error->text);
    if (error) *error = (taper_error){0};
    return status;
}

static inline void refused(taper_status status, taper_error *error) {
    assert_int_equal(allowed(status, error), TAPER_ERR_ARG);
}

/* Limits with number i set to v and the others at their defaults. */
enum { ARGUMENT_LIMITS = 5 };
static inline taper_limits argument_limits(int i, uint64_t v) {
    taper_limits limits = {.size = sizeof(taper_limits)};
    uint64_t *const field[ARGUMENT_LIMITS] = {&limits.max_pixels, &limits.max_images,
                                              &limits.max_memory, &limits.max_model_bytes,
                                              &limits.max_work};
    *field[i] = v;
    return limits;
}

static const taper_limits argument_no_size = {.max_work = 1 << 20};

/* Find the name of the next function that a header declares, from *at on. 0: there are no more. */
static inline int argument_next_name(const char **at, char name[80]) {
    *at = strstr(*at, "TAPER_API");
    if (!*at) return 0;
    const char *end = strchr(*at, '('), *begin = end;
    while (begin[-1] == '_' || (begin[-1] >= 'a' && begin[-1] <= 'z')) begin--;
    snprintf(name, 80, "%.*s", (int)(end - begin), begin);
    *at = end;
    return 1;
}

/* Check that the table has exactly the functions of the header. */
static inline void argument_table_is_complete(const char *header, const argument_trial *table,
                                              size_t n) {
    uint8_t *bytes;
    size_t size, declared = 0;
    char name[80];
    assert_int_equal(formats_file_read(header, 1 << 20, &bytes, &size, NULL), TAPER_OK);
    char *text = malloc(size + 1);
    assert_non_null(text);
    memcpy(text, bytes, size);
    text[size] = 0;
    for (const char *at = text; argument_next_name(&at, name); declared++) {
        size_t i = 0;
        while (i < n && strcmp(table[i].name, name)) i++;
        if (i == n) fail_msg("%s: %s is not tried; add it to the table", header, name);
    }
    assert_int_equal(declared, n);
    free(bytes);
    free(text);
}

static inline void argument_run_all(const argument_trial *table, size_t n) {
    for (size_t i = 0; i < n; i++) table[i].run();
}

#endif

/* conditions.h -- conditions of a request (RFC 9110, section 13) and dates of HTTP. */
#ifndef SERVE_REQUEST_CONDITIONS_H
#define SERVE_REQUEST_CONDITIONS_H
#include <stdbool.h>
#include <stdint.h>

enum { SERVE_DATE_BYTES = 32 };
/* Seconds since 1970 as "Sun, 06 Nov 1994 08:49:37 GMT". */
void serve_date_write(int64_t seconds, char to[SERVE_DATE_BYTES]);
/* The reverse. False: another form; the two older forms of dates are not read. */
bool serve_date_read(const char *text, int64_t *seconds);

/* Fields of a request; NULL: not there. */
typedef struct serve_conditions {
    const char *if_match, *if_none_match, *if_range;
    const char *if_modified_since, *if_unmodified_since;
} serve_conditions;

/* What there is: its entity tag with its quotes, a strong one, or NULL; and when it changed. */
typedef struct serve_version {
    const char *tag;
    int64_t modified; /* seconds since 1970 */
} serve_version;

/* 0: go on; 304: the reader has it; 412: a condition does not hold. Dates that are not legal are
 * ignored. */
int serve_conditions_check(const serve_conditions *conditions, const serve_version *version);

/* Whether a field Range counts: there is no If-Range, or it names this version. A date does so if
 * the file was not changed within the second before `now`, as another change would have the same
 * date. */
bool serve_range_applies(const serve_conditions *conditions, const serve_version *version,
                         int64_t now);

#endif

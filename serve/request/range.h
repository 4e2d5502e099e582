/* range.h -- the field Range of a request (RFC 9110, section 14). */
#ifndef SERVE_REQUEST_RANGE_H
#define SERVE_REQUEST_RANGE_H
#include <stddef.h>
#include <stdint.h>

enum { SERVE_MOST_RANGES = 16 };

/* Bytes first..last, both included. */
typedef struct serve_range {
    uint64_t first, last;
} serve_range;

typedef enum serve_ranges {
    SERVE_RANGES_IGNORED, /* another unit, or no legal field: the whole file is sent */
    SERVE_RANGES_HERE,    /* one or more ranges */
    SERVE_RANGES_OUTSIDE, /* none of them has a byte of the file: 416 */
    SERVE_RANGES_TOO_MANY /* more than `most`: 416. The whole file, which RFC 9110 allows as well,
                             would make a short request of many ranges an expensive one. */
} serve_ranges;

/* Read the field `text` for a file of `size` bytes. Ranges that lie behind its end are left out,
 * those that reach beyond it end there. Ranges that overlap or touch are joined, so that no byte is
 * sent twice; others stay in the order of the request.
 * most: 1..SERVE_MOST_RANGES. range: [most]; *n of them are set. */
serve_ranges serve_ranges_read(const char *text, uint64_t size, size_t most, serve_range *range,
                               size_t *n);

#endif

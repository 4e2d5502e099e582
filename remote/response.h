/* response.h -- the head of a response, line by line. Its bytes are not trusted. */
#ifndef REMOTE_RESPONSE_H
#define REMOTE_RESPONSE_H
#include <stddef.h>
#include <stdint.h>

typedef struct remote_head {
    int status; /* 100..999; 0: there was no status line yet */
    /* Content-Range: bytes first-last/total. is_bad_range: there is one, but not in this form. */
    int has_range, has_total, is_bad_range;
    uint64_t first, last, total; /* first <= last; last < total if that is known */
    int has_length;              /* Content-Length */
    uint64_t length;
    int is_encoded; /* Content-Encoding: other than identity */
    char encoding[24];
    int is_multipart;       /* Content-Type: multipart/... */
    uint32_t retry_after_s; /* 0: not told */
    char etag[136];         /* "": none; of a long one its beginning and length */
    char modified[72];      /* Last-Modified; "": none */
} remote_head;

/* Take one line of the head, n bytes with or without its line end. A status line begins anew. */
void remote_head_line(remote_head *head, const char *line, size_t n);

/* Nonzero if both may be heads of the same version of a file: equal tags, or else equal dates, as
 * far as both have them. */
int remote_head_is_same(const remote_head *a, const remote_head *b);

#endif

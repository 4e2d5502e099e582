/* fuzz_response.c -- any bytes as the head of a response, line by line. What is read of it must be
 * in its ranges, and the same head is the same version. */
#include "remote/response.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(int holds) {
    if (!holds) abort();
}

static void check_text(const char *text, size_t room) {
    const size_t n = strnlen(text, room);
    must(n < room);
    for (size_t k = 0; k < n; k++) must(text[k] >= ' ' && text[k] < 0x7f);
}

static void check(const remote_head *h) {
    must(h->status == 0 || (h->status >= 100 && h->status <= 999));
    must(!h->has_range || h->first <= h->last);
    must(!h->has_range || !h->has_total || h->last < h->total);
    must(h->last <= (uint64_t)INT64_MAX && h->total <= (uint64_t)INT64_MAX);
    must(h->length <= (uint64_t)INT64_MAX && h->retry_after_s <= 3600);
    check_text(h->etag, sizeof h->etag);
    check_text(h->modified, sizeof h->modified);
    check_text(h->encoding, sizeof h->encoding);
    must(remote_head_is_same(h, h));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    remote_head head = {0};
    while (n) {
        const uint8_t *end = memchr(bytes, '\n', n);
        const size_t line = end ? (size_t)(end - bytes) + 1 : n;
        char *copy = malloc(line); /* of its own, so that reads beyond it are found */
        if (!copy) return 0;
        memcpy(copy, bytes, line);
        remote_head_line(&head, copy, line);
        free(copy);
        check(&head);
        bytes += line, n -= line;
    }
    return 0;
}

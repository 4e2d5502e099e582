/* response.c -- see response.h. */
#include "remote/response.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Text of known length. */
typedef struct span {
    const char *at;
    size_t n;
} span;

static span trimmed(span s) {
    while (s.n && (s.at[0] == ' ' || s.at[0] == '\t')) s.at++, s.n--;
    while (s.n && strchr(" \t\r\n", s.at[s.n - 1])) s.n--;
    return s;
}

static int is_named(span s, const char *name) {
    return s.n == strlen(name) && !strncasecmp(s.at, name, s.n);
}

static int skip(span *s, const char *word) {
    const size_t n = strlen(word);
    if (s->n < n || strncasecmp(s->at, word, n) != 0) return 0;
    s->at += n, s->n -= n;
    return 1;
}

/* Read decimal digits, at least one, that fit 63 bits. */
static int read_number(span *s, uint64_t *out) {
    uint64_t v = 0;
    size_t k = 0;
    for (; k < s->n && s->at[k] >= '0' && s->at[k] <= '9'; k++) {
        const uint64_t digit = (uint64_t)(s->at[k] - '0');
        if (v > ((uint64_t)INT64_MAX - digit) / 10) return 0;
        v = 10 * v + digit;
    }
    s->at += k, s->n -= k;
    *out = v;
    return k != 0;
}

/* A length with the value in full: a text of other bytes than digits is no length. */
static int read_whole_number(span s, uint64_t *out) { return read_number(&s, out) && !s.n; }

/* "bytes 0-499/1234", "bytes 0-499/" with "*", or "bytes" with "*" and "/1234". */
static int read_range(remote_head *h, span s) {
    uint64_t first = 0, last = 0, total = 0;
    if (!skip(&s, "bytes") || !s.n || (s.at[0] != ' ' && s.at[0] != '\t')) return 0;
    s = trimmed(s);
    const int is_unsatisfied = skip(&s, "*");
    if (!is_unsatisfied && (!read_number(&s, &first) || !skip(&s, "-") || !read_number(&s, &last)))
        return 0;
    if (!skip(&s, "/")) return 0;
    const int has_total = !is_named(s, "*");
    if (has_total && !read_whole_number(s, &total)) return 0;
    if (first > last || (!is_unsatisfied && has_total && last >= total)) return 0;
    if (is_unsatisfied && !has_total) return 0;
    h->has_range = !is_unsatisfied;
    h->first = first, h->last = last;
    h->has_total = has_total, h->total = total;
    return 1;
}

/* Printable bytes of a value; of a longer one the beginning, and its length. */
static void keep(char *to, size_t room, span s) {
    size_t k = 0;
    const size_t most = s.n < room ? s.n : room - 24;
    for (; k < most; k++) to[k] = s.at[k] >= ' ' && s.at[k] < 0x7f ? s.at[k] : '?';
    to[k] = 0;
    if (s.n >= room) snprintf(to + k, room - k, "...%zu", s.n);
}

static int read_status(remote_head *h, span s) {
    uint64_t status;
    if (!skip(&s, "HTTP/")) return 0;
    while (s.n && s.at[0] != ' ') s.at++, s.n--;
    s = trimmed(s);
    if (s.n > 3) s.n = 3;
    *h = (remote_head){.status = read_whole_number(s, &status) && status >= 100 ? (int)status : 0};
    return 1;
}

static void take_field(remote_head *h, span name, span value) {
    uint64_t n;
    if (is_named(name, "content-range")) {
        /* a second one is no better than a bad one: which of them holds? */
        h->is_bad_range = h->has_range || h->is_bad_range || !read_range(h, value);
    } else if (is_named(name, "content-length")) {
        h->has_length = read_whole_number(value, &n);
        h->length = h->has_length ? n : 0;
    } else if (is_named(name, "content-encoding")) {
        h->is_encoded |= value.n && !is_named(value, "identity");
        if (h->is_encoded) keep(h->encoding, sizeof h->encoding, value);
    } else if (is_named(name, "content-type")) {
        h->is_multipart |= skip(&value, "multipart/");
    } else if (is_named(name, "retry-after")) {
        if (read_whole_number(value, &n)) h->retry_after_s = n < 3600 ? (uint32_t)n : 3600;
    } else if (is_named(name, "etag")) {
        keep(h->etag, sizeof h->etag, value);
    } else if (is_named(name, "last-modified")) {
        keep(h->modified, sizeof h->modified, value);
    }
}

void remote_head_line(remote_head *head, const char *line, size_t n) {
    const span all = {line, n};
    if (read_status(head, all)) return;
    const char *colon = memchr(line, ':', n);
    if (!colon) return;
    const span name = {line, (size_t)(colon - line)};
    const span value = {colon + 1, n - name.n - 1};
    take_field(head, name, trimmed(value));
}

static const char *strong(const char *etag) { return strncmp(etag, "W/", 2) ? etag : etag + 2; }

int remote_head_is_same(const remote_head *a, const remote_head *b) {
    if (a->etag[0] && b->etag[0]) return !strcmp(strong(a->etag), strong(b->etag));
    if (a->modified[0] && b->modified[0]) return !strcmp(a->modified, b->modified);
    return 1;
}

/* query_codes.c -- see query_codes.h. */
#include "cli/index/query_codes.h"
#include "cli/search/image_choice.h"
#include "cli/common/messages.h"
#include "formats/name_escape.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cli_query_codes_open(cli_query_codes *q, const taper_index *index, bool keeps_margins) {
    const uint32_t bits = cli_index_info(index).bits;
    *q = (cli_query_codes){.words = (bits + 63) / 64, .bits = bits, .keeps_margins = keeps_margins};
}

void cli_query_codes_close(cli_query_codes *q) {
    for (size_t i = 0; i < q->n; i++) free(q->name[i]);
    free(q->code), free(q->known_bits), free(q->self), free(q->image), free(q->name);
    free(q->margin);
    *q = (cli_query_codes){.n = 0};
}

static bool grow(void *array, size_t bytes) {
    void *bigger = realloc(*(void **)array, bytes);
    if (bigger) *(void **)array = bigger;
    return bigger != NULL;
}

/* Allocate for n more queries. */
static bool make_room(cli_query_codes *q, size_t n) {
    const size_t all = q->n + n;
    return grow(&q->code, all * q->words * sizeof *q->code) &&
           grow(&q->known_bits, all * sizeof *q->known_bits) &&
           grow(&q->self, all * sizeof *q->self) && grow(&q->image, all * sizeof *q->image) &&
           grow(&q->name, all * sizeof *q->name) &&
           (!q->keeps_margins || grow(&q->margin, all * q->bits * sizeof *q->margin));
}

/* Add a query whose code was written. */
static int add(cli_query_codes *q, const char *name, uint32_t known, int64_t self, int64_t image) {
    q->name[q->n] = malloc(strlen(name) + 1);
    if (!q->name[q->n]) return cli_fail("search", NULL, TAPER_ERR_NOMEM, NULL);
    memcpy(q->name[q->n], name, strlen(name) + 1);
    q->known_bits[q->n] = known, q->self[q->n] = self, q->image[q->n] = image;
    for (uint32_t b = 0; b < q->bits && q->keeps_margins; b++)
        q->margin[q->n * q->bits + b] = b < known ? 1.0f : 0.0f;
    q->n++;
    return CLI_DONE;
}

/* --- images ----------------------------------------------------------------------------- */

typedef struct embedding_queries {
    cli_query_codes *queries;
    size_t width;
    bool have_margins;
} embedding_queries;

static int take_rows(void *user, const size_t *number, const taper_image *image, size_t n,
                     const float *codes) {
    (void)image;
    const embedding_queries *e = user;
    cli_query_codes *q = e->queries;
    char name[CLI_IMAGE_NAME];
    int code = make_room(q, n) ? CLI_DONE : (int)cli_fail("search", NULL, TAPER_ERR_NOMEM, NULL);
    for (size_t i = 0; i < n && code == CLI_DONE; i++) {
        taper_index_pack(codes + i * e->width, 1, e->width, q->bits, q->code + q->n * q->words,
                         NULL);
        char *text = formats_name_escape(cli_index_path(q->set, number[i], name));
        code = text ? add(q, text, q->bits, -1, (int64_t)number[i])
                    : (int)cli_fail("search", NULL, TAPER_ERR_NOMEM, NULL);
        free(text);
        if (code == CLI_DONE && e->have_margins)
            memcpy(q->margin + (q->n - 1) * q->bits, codes + i * e->width,
                   q->bits * sizeof *q->margin);
    }
    return code;
}

int cli_query_codes_embed(cli_query_codes *q, cli_code_set *set, const cli_embedder *embedder) {
    embedding_queries e = {q, embedder->width, q->keeps_margins && !set->containers};
    const size_t first = q->n;
    q->set = set;
    int code = cli_code_set_embed(set, embedder, take_rows, &e);
    if (code != CLI_DONE || !set->containers) return code;
    const uint32_t least = cli_container_set_least_bits(set->containers);
    for (size_t i = first; i < q->n; i++) {
        if (least < q->known_bits[i]) q->known_bits[i] = least;
        for (uint32_t b = least; b < q->bits && q->keeps_margins; b++)
            q->margin[i * q->bits + b] = 0.0f;
    }
    return CLI_DONE;
}

/* --- others ----------------------------------------------------------------------------- */

static const char *stored_name(const void *index, uint64_t i) { return taper_index_name(index, i); }

static int add_member(cli_query_codes *q, const taper_index *index, uint64_t image) {
    char number[32];
    if (!make_room(q, 1)) return cli_fail("search", NULL, TAPER_ERR_NOMEM, NULL);
    taper_error error = {0};
    const taper_status status =
        taper_index_image_code(index, image, q->code + q->n * q->words, &error);
    if (status) return cli_fail("search", NULL, status, &error);
    const char *name = taper_index_name(index, image);
    snprintf(number, sizeof number, "%llu", (unsigned long long)image + 1);
    return add(q, name ? name : number, q->bits, (int64_t)image, -1);
}

int cli_query_codes_member(cli_query_codes *q, const taper_index *index, const char *which) {
    const uint64_t images = cli_index_info(index).images;
    const cli_image_choice choice = {"search", NULL, images, stored_name, index};
    bool *wanted = calloc((size_t)images + 1, sizeof *wanted);
    int code = wanted ? cli_images_choose(&choice, which, wanted)
                      : (int)cli_fail("search", NULL, TAPER_ERR_NOMEM, NULL);
    for (uint64_t i = 0; i < images && code == CLI_DONE; i++)
        if (wanted[i]) code = add_member(q, index, i);
    free(wanted);
    return code;
}

/* --- names of several indexes ----------------------------------------------------------- */

typedef struct member {
    const char *name;
    int64_t image;
    size_t query;
} member;

static int by_name(const void *a, const void *b) {
    const member *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : (x->image > y->image) - (x->image < y->image);
}

static char *name_in(const char *path, const char *name) {
    const size_t n = strlen(path) + strlen(name) + 2;
    char *text = malloc(n);
    if (text) snprintf(text, n, "%s:%s", path, name);
    return text;
}

/* Rename members of the same name, if they are several images. The old names are freed last, as
 * the members are compared by them. */
static bool rename_same(cli_query_codes *q, const member *same, size_t n,
                        const cli_index_list *list) {
    if (same[0].image == same[n - 1].image) return true;
    for (size_t i = 0; i < n; i++) {
        const char *path = cli_index_list_path(list, (uint64_t)same[i].image);
        char *name = name_in(path ? path : "", same[i].name);
        if (!name) return false;
        q->name[same[i].query] = name;
    }
    for (size_t i = 0; i < n; i++) free((char *)(uintptr_t)same[i].name);
    return true;
}

int cli_query_codes_tell_apart(cli_query_codes *q, const cli_index_list *list) {
    size_t members = 0;
    bool has_memory = true;
    member *of = malloc((q->n + 1) * sizeof *of);
    for (size_t i = 0; of && i < q->n; i++)
        if (q->self[i] >= 0) of[members++] = (member){q->name[i], q->self[i], i};
    if (of && members) qsort(of, members, sizeof *of, by_name);
    for (size_t i = 0, end; of && i < members && has_memory; i = end) {
        for (end = i + 1; end < members && !strcmp(of[i].name, of[end].name);) end++;
        has_memory = rename_same(q, of + i, end - i, list);
    }
    const bool is_done = of && has_memory;
    free(of);
    return is_done ? CLI_DONE : (int)cli_fail("search", NULL, TAPER_ERR_NOMEM, NULL);
}

/* --- digits ----------------------------------------------------------------------------- */

int cli_query_codes_digits(cli_query_codes *q, const char *digits) {
    const size_t n = strlen(digits);
    if (!n || n != strspn(digits, "0123456789abcdefABCDEF") || n > (q->bits + 3) / 4) {
        cli_error("search", NULL, "--code %.40s: a code is 1 to %u hexadecimal digits here", digits,
                  (q->bits + 3) / 4);
        return CLI_USAGE;
    }
    if (!make_room(q, 1)) return cli_fail("search", NULL, TAPER_ERR_NOMEM, NULL);
    uint64_t *code = q->code + q->n * q->words;
    memset(code, 0, q->words * sizeof *code);
    for (size_t i = 0; i < n; i++) {
        const char digit[2] = {digits[i], 0};
        code[i / 16] |= (uint64_t)strtoul(digit, NULL, 16) << (60 - i % 16 * 4);
    }
    if (q->bits % 64) code[q->words - 1] &= ~(uint64_t)0 << (64 - q->bits % 64);
    return add(q, digits, 4 * n < q->bits ? (uint32_t)(4 * n) : q->bits, -1, -1);
}

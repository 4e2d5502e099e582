/* merge_names.c -- see merge_names.h. Equal names are found by sorting, whose time does not depend
 * on the names. */
#include "formats/merge_names.h"
#include "formats/also.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAME = 4095 /* bytes, SPEC 5.4 */ };

/* A name of an image or a class, of any shard. */
typedef struct word {
    const char *text;
    size_t at; /* number among the names of all shards */
    size_t shard;
} word;

static int compare_words(const void *a, const void *b) {
    const word *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    return order ? order : x->at < y->at ? -1 : x->at > y->at;
}

/* --- names ----------------------------------------------------------------------------- */

typedef char number_name[20];

/* Names of a shard: those of its images, then its further names. */
typedef struct naming {
    const formats_front *shard; /* [n] */
    size_t n, names;
    const char **name;   /* [names] */
    number_name *number; /* names of images without one */
    uint8_t *clashes;    /* [names] */
    uint8_t *folder;     /* [names + n + 2] 1: names in shard-N/ exist */
} naming;

static size_t names_of(const formats_front *shard) { return (size_t)shard->images + shard->alsos; }

/* The names of the result, and how many of them are written. */
typedef struct merged_names {
    formats_buffer names, further;
    size_t image, also;
} merged_names;

static size_t nameless(const formats_front *shard, size_t n) {
    size_t sum = 0;
    for (size_t s = 0; s < n; s++)
        if (!shard[s].names) sum += shard[s].images;
    return sum;
}

static void list_names(naming *of) {
    size_t image = 0, numbers = 0, at = 0;
    for (size_t s = 0; s < of->n; s++) {
        const formats_front *f = &of->shard[s];
        for (uint32_t i = 0; i < f->images; i++) {
            of->name[at++] = formats_front_name(f, i);
            image++;
            if (f->names) continue;
            snprintf(of->number[numbers], sizeof *of->number, "%06zu.png", image);
            of->name[at - 1] = of->number[numbers++];
        }
        for (uint32_t k = 0; k < f->alsos; k++) of->name[at++] = formats_also_name(f, k);
    }
}

/* Mark names that an earlier shard also has. */
static taper_status find_clashes(naming *of) {
    word *words = malloc((of->names + 1) * sizeof *words);
    if (!words) return TAPER_ERR_NOMEM;
    for (size_t s = 0, i = 0, end = 0; s < of->n; s++)
        for (end += names_of(&of->shard[s]); i < end; i++) words[i] = (word){of->name[i], i, s};
    qsort(words, of->names, sizeof *words, compare_words);
    for (size_t i = 0, first = 0; i < of->names; i++) {
        if (strcmp(words[first].text, words[i].text) != 0) first = i;
        of->clashes[words[i].at] = words[i].shard != words[first].shard;
    }
    free(words);
    return TAPER_OK;
}

/* Mark the folders shard-N that exist. */
static void find_folders(naming *of) {
    size_t most = of->names + of->n + 2;
    for (size_t i = 0; i < of->names; i++) {
        char *end;
        if (strncmp(of->name[i], "shard-", 6) != 0) continue;
        unsigned long long number = strtoull(of->name[i] + 6, &end, 10);
        if ((*end == '/' || !*end) && number < most) of->folder[number] = 1;
    }
}

/* A new folder for a shard. There is always one: there are more numbers than folders. */
static size_t take_folder(naming *of, size_t shard) {
    size_t number = shard + 1;
    while (of->folder[number]) number++;
    of->folder[number] = 1;
    return number;
}

/* Write names of a shard: of images to `names`, further ones to `further`. */
static void write_shard(naming *of, size_t s, size_t at, formats_front *f, merged_names *to) {
    const size_t images = of->shard[s].images, all = names_of(&of->shard[s]);
    size_t folder = 0;
    for (size_t k = 0; k < all; k++, at++) {
        char text[MOST_NAME + 1];
        const char *name = of->name[at];
        if (of->clashes[at]) {
            if (!folder) folder = take_folder(of, s);
            int n = snprintf(text, sizeof text, "shard-%zu/%s", folder, name);
            if (n > MOST_NAME) snprintf(text, sizeof text, "shard-%zu/%06zu.png", folder, at + 1);
            name = text;
        }
        formats_buffer *block = k < images ? &to->names : &to->further;
        uint32_t *place = k < images ? &f->name_at[to->image++] : &f->also[to->also++].name_at;
        *place = (uint32_t)block->size;
        formats_write_bytes(block, name, strlen(name) + 1);
    }
}

static taper_status write_names(naming *of, formats_front *f, merged_names *to) {
    for (size_t s = 0, at = 0; s < of->n; at += names_of(&of->shard[s++]))
        write_shard(of, s, at, f, to);
    return to->names.status ? to->names.status : to->further.status;
}

taper_status formats_merge_further_names(const formats_front *shard, size_t n, formats_front *f,
                                         taper_error *error) {
    uint64_t all = 0;
    uint32_t first = 0;
    for (size_t s = 0; s < n; s++) all += shard[s].alsos;
    if (!all) return TAPER_OK;
    if (all > UINT32_MAX - 1 - f->images)
        return formats_fail(error, TAPER_ERR_LIMIT, "the images have too many further names");
    TAPER_TRY(formats_front_take(f, all, sizeof *f->also, &f->also, error));
    for (size_t s = 0; s < n; first += shard[s++].images)
        for (uint32_t k = 0; k < shard[s].alsos; k++) {
            formats_also *also = &f->also[f->alsos++];
            *also = shard[s].also[k];
            also->image += first;
            also->label = -1; /* until classes are joined */
        }
    return TAPER_OK;
}

/* Take the bytes of a block, which stay charged to the account of f. */
static char *keep_block(formats_front *f, formats_buffer *block) {
    f->account.used += block->capacity; /* formats_buffer_take credits it */
    return (char *)formats_buffer_take(block, &(size_t){0});
}

taper_status formats_merge_names(const formats_front *shard, size_t n, formats_front *f,
                                 taper_error *error) {
    const size_t nameless_images = nameless(shard, n), names = names_of(f);
    if (nameless_images == names) return TAPER_OK;
    uint64_t scratch = names * (sizeof(char *) + 2 + sizeof(word)) + sizeof(word) + n + 2 +
                       (nameless_images + 1) * sizeof(number_name);
    TAPER_TRY(formats_front_charge(f, scratch, error));
    TAPER_TRY(formats_front_take(f, f->images, sizeof *f->name_at, &f->name_at, error));
    merged_names to = {formats_buffer_make(UINT32_MAX), formats_buffer_make(UINT32_MAX), 0, 0};
    to.names.account = to.further.account = &f->account;
    naming of = {.shard = shard,
                 .n = n,
                 .names = names,
                 .name = malloc(names * sizeof *of.name),
                 .number = malloc((nameless_images + 1) * sizeof *of.number),
                 .clashes = calloc(names, 1),
                 .folder = calloc(names + n + 2, 1)};
    taper_status status = TAPER_ERR_NOMEM;
    if (of.name && of.number && of.clashes && of.folder) {
        list_names(&of);
        status = find_clashes(&of);
    }
    if (status == TAPER_OK) {
        find_folders(&of);
        status = write_names(&of, f, &to);
        f->names = keep_block(f, &to.names);
        f->also_names = keep_block(f, &to.further);
    }
    formats_buffer_free(&to.names), formats_buffer_free(&to.further);
    free(of.name), free(of.number), free(of.clashes), free(of.folder);
    formats_account_give(&f->account, scratch);
    if (status == TAPER_OK) return status;
    if (status == TAPER_ERR_NOMEM)
        return formats_fail(error, status, "no memory for the names of %zu images", names);
    const uint64_t more = formats_account_left(&f->account) + 1;
    return formats_fail_fact(
        error, status, TAPER_FACT_MAX_MEMORY, formats_account_step(&f->account, more),
        "the names of %zu images take more than 4 GiB or the limit of memory", names);
}

/* --- classes --------------------------------------------------------------------------- */

typedef struct classing {
    const formats_front *shard; /* [n] */
    size_t n, all;              /* number of shards; number of their classes */
    word *words;                /* [all] */
    size_t *same, *k;           /* [all]: see join_classes */
    uint32_t *number;           /* [all] in the result */
} classing;

static void list_classes(classing *of) {
    size_t at = 0;
    for (size_t s = 0; s < of->n; s++) {
        const formats_front *f = &of->shard[s];
        for (uint32_t k = 0; k < f->classes; k++, at++)
            of->words[at] = (word){formats_front_class_name(f, k), at, s};
    }
}

/* same[at]: the first class that equals class `at`. One shard may have several classes of the same
 * name: the k-th of a name equals the k-th of that name in other shards. */
static void join_classes(classing *of) {
    const word *words = of->words;
    qsort(of->words, of->all, sizeof *of->words, compare_words);
    for (size_t first = 0, end; first < of->all; first = end) {
        size_t begin = first,
               known = 0; /* first of the shard; most classes of this name in one shard */
        for (end = first; end < of->all && !strcmp(words[end].text, words[first].text); end++) {
            if (words[end].shard != words[begin].shard) begin = end;
            if (end - begin == known) of->k[first + known++] = words[end].at;
            of->same[words[end].at] = of->k[first + end - begin];
        }
    }
}

/* Number classes in the order of their first occurrence, and write their names. */
static taper_status number_classes(classing *of, formats_front *f, formats_buffer *block) {
    size_t at = 0;
    f->classes = 0;
    for (size_t s = 0; s < of->n; s++) {
        const formats_front *from = &of->shard[s];
        for (uint32_t k = 0; k < from->classes; k++, at++) {
            of->number[at] = of->number[of->same[at]];
            if (of->same[at] != at) continue;
            if (f->classes == FORMATS_MAX_CLASSES) return TAPER_ERR_LIMIT;
            const char *name = formats_front_class_name(from, k);
            of->number[at] = f->classes;
            f->class_name_at[f->classes++] = (uint32_t)block->size;
            formats_write_bytes(block, name, strlen(name) + 1);
        }
    }
    return block->status;
}

static void write_labels(const classing *of, formats_front *f) {
    size_t image = 0, also = 0, first = 0;
    for (size_t s = 0; s < of->n; first += of->shard[s++].classes) {
        const formats_front *from = &of->shard[s];
        for (uint32_t i = 0; i < from->images; i++, image++) {
            int32_t label = from->label ? from->label[i] : -1;
            f->label[image] = label < 0 ? -1 : (int32_t)of->number[first + (size_t)label];
        }
        for (uint32_t k = 0; k < from->alsos; k++, also++)
            if (from->also[k].label >= 0)
                f->also[also].label = (int32_t)of->number[first + (size_t)from->also[k].label];
    }
}

taper_status formats_merge_labels(const formats_front *shard, size_t n, formats_front *f,
                                  taper_error *error) {
    int any = 0;
    classing of = {.shard = shard, .n = n};
    for (size_t s = 0; s < n; s++) {
        any |= shard[s].label != NULL;
        of.all += shard[s].classes;
    }
    if (!any) return TAPER_OK;
    uint64_t scratch = (of.all + 1) * (sizeof *of.words + 2 * sizeof *of.same + sizeof *of.number);
    TAPER_TRY(formats_front_charge(f, scratch, error));
    TAPER_TRY(formats_front_take(f, f->images, sizeof *f->label, &f->label, error));
    TAPER_TRY(formats_front_take(f, of.all, sizeof *f->class_name_at, &f->class_name_at, error));
    formats_buffer block = formats_buffer_make(UINT32_MAX);
    block.account = &f->account;
    of.words = malloc((of.all + 1) * sizeof *of.words);
    of.same = malloc((of.all + 1) * sizeof *of.same);
    of.k = malloc((of.all + 1) * sizeof *of.k);
    of.number = malloc((of.all + 1) * sizeof *of.number);
    taper_status status = TAPER_ERR_NOMEM;
    if (of.words && of.same && of.k && of.number) {
        list_classes(&of);
        join_classes(&of);
        status = number_classes(&of, f, &block);
    }
    if (status == TAPER_OK) write_labels(&of, f);
    f->class_names = keep_block(f, &block);
    formats_buffer_free(&block);
    free(of.words), free(of.same), free(of.k), free(of.number);
    formats_account_give(&f->account, scratch);
    if (status == TAPER_OK) return status;
    return formats_fail(error, status,
                        status == TAPER_ERR_NOMEM ? "no memory for %zu classes"
                                                  : "%zu classes exceed the limit of a "
                                                    "container or of memory",
                        of.all);
}

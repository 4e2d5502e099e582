/* search_page.c -- see search_page.h. Pictures are read as they are put on the page. */
#include "cli/index/search_page.h"
#include "cli/common/page.h"
#include "cli/common/plain_text.h"
#include "cli/search/thumbnail.h"
#include "formats/image.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 10, MOST_QUERIES = 200, CAPTION = 80 };

/* Sorted names of the set of pictures, to find images of the index. */
typedef struct named_image {
    char *name;
    size_t image;
} named_image;

typedef struct picture_names {
    const cli_code_set *set;
    named_image *at;
    size_t n;
} picture_names;

/* Pictures that are on the page, and those that are there and cannot be read. */
typedef struct counts {
    size_t shown, unread;
    bool *is_told; /* by image of the set, those that cannot be read; NULL: each occurs once */
} counts;

static int by_name(const void *a, const void *b) {
    const named_image *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : (x->image > y->image) - (x->image < y->image);
}

static void names_close(picture_names *p) {
    for (size_t i = 0; i < p->n; i++) free(p->at[i].name);
    free(p->at);
}

static taper_status names_open(picture_names *p, const cli_code_set *set) {
    char room[CLI_IMAGE_NAME];
    const size_t images = set ? cli_code_set_images(set) : 0;
    *p = (picture_names){.set = set, .at = malloc((images + 1) * sizeof *p->at)};
    if (!p->at) return TAPER_ERR_NOMEM;
    for (; p->n < images; p->n++) {
        char *name = cli_index_name(cli_index_path(set, p->n, room));
        if (!name) return TAPER_ERR_NOMEM;
        p->at[p->n] = (named_image){name, p->n};
    }
    qsort(p->at, p->n, sizeof *p->at, by_name);
    return TAPER_OK;
}

static const named_image *find(const picture_names *p, const char *name) {
    size_t low = 0, high = p->n;
    while (name && low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(p->at[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return name && low < p->n && !strcmp(p->at[low].name, name) ? &p->at[low] : NULL;
}

/* --- a row: a query, and what was found ------------------------------------------------- */

static void tell_unread(counts *n, int64_t image, const char *name, const taper_error *why) {
    if (n->is_told && n->is_told[image]) return;
    cli_error("search", name, "the page shows no picture of it: %s", cli_explain(why).text);
    if (n->is_told) n->is_told[image] = true;
    n->unread++;
}

/* A box with its name where its picture is not at hand. */
static taper_status put_image(const cli_code_set *set, int64_t image, const char *name,
                              const char *cost, const char *class, counts *n, FILE *to) {
    char plain[2 * CLI_IMAGE_NAME], worth[CAPTION + 64];
    taper_image picture = {.pixels = NULL};
    taper_error error = {0};
    const bool is_there = set && image >= 0;
    cli_plain_text(plain, sizeof plain, name);
    if (is_there) TAPER_TRY(cli_thumbnail_read(set, (size_t)image, &picture, &error));
    if (is_there && !picture.pixels) tell_unread(n, image, name, &error);
    const char *file = strrchr(plain, '/') ? strrchr(plain, '/') + 1 : plain;
    snprintf(worth, sizeof worth, "%s%s%.40s", class ? class : "", class ? ", " : "", file);
    n->shown += picture.pixels != NULL;
    const cli_page_picture p = {.image = picture.pixels ? &picture : NULL,
                                .why = plain,
                                .alt = plain,
                                .first = cost,
                                .second = worth};
    const taper_status status = cli_page_put_picture(to, &p, NULL);
    formats_image_free(&picture);
    return status == TAPER_ERR_NOMEM ? status : TAPER_OK;
}

static const char *class_of(const taper_index *index, uint32_t image, char room[CAPTION]) {
    const int32_t label = taper_index_label(index, image);
    const char *class = label < 0 ? NULL : taper_index_class_name(index, (uint32_t)label);
    if (!class) return NULL;
    cli_plain_text(room, CAPTION, class);
    return room;
}

static taper_status put_query(const cli_found *f, size_t i, const picture_names *names, counts *n,
                              FILE *to) {
    const cli_query_codes *q = f->queries;
    const bool is_member = q->self[i] >= 0;
    const named_image *own = is_member ? find(names, q->name[i]) : NULL;
    const cli_code_set *set = is_member ? names->set : q->set;
    const int64_t image = !is_member ? q->image[i] : own ? (int64_t)own->image : -1;
    counts own_counts = {.is_told = is_member ? n->is_told : NULL};
    const taper_status status =
        put_image(set, image, q->name[i], "the query", NULL, &own_counts, to);
    n->unread += own_counts.unread; /* a query's picture is none of those found */
    return status;
}

static taper_status put_found(const cli_found *f, size_t at, const picture_names *names, counts *n,
                              FILE *to) {
    char room[CAPTION], distance[32];
    const uint32_t image = f->image[at];
    if (image == UINT32_MAX) return TAPER_OK;
    const char *name = taper_index_name(f->index, image);
    const named_image *picture = find(names, name);
    snprintf(distance, sizeof distance, f->least ? "%u bit%s" : "distance %u", f->distance[at],
             formats_plural(f->distance[at], "s"));
    return put_image(names->set, picture ? (int64_t)picture->image : -1, name ? name : "", distance,
                     class_of(f->index, image, room), n, to);
}

/* The name of the query above its first row; of neighbourhoods what each row is. */
static taper_status put_row(const cli_found *f, size_t row, size_t columns,
                            const picture_names *names, counts *n, FILE *to) {
    char plain[2 * CLI_IMAGE_NAME];
    const size_t query = row / f->rows_a_query;
    const bool is_first = row % f->rows_a_query == 0;
    taper_status status = TAPER_OK;
    if (is_first) {
        cli_plain_text(plain, sizeof plain, f->queries->name[query]);
        cli_page_subheading(to, plain);
    }
    if (f->least) cli_page_label(to, f->label[row]);
    cli_page_pictures_begin(to, true);
    if (is_first) status = put_query(f, query, names, n, to);
    for (size_t j = 0; j < columns && !status; j++)
        status = put_found(f, row * f->k + j, names, n, to);
    cli_page_pictures_end(to);
    return status;
}

/* What was searched for. */
static void put_beginning(const cli_found *f, FILE *to) {
    const taper_index_info info = cli_index_info(f->index);
    char about[280];
    if (f->least)
        snprintf(about, sizeof about,
                 "Of %llu images with codes of %u bits, those that share a query's first bits: the "
                 "smallest neighbourhood of at least %llu, then of four times as many, and so on.",
                 (unsigned long long)info.images, info.bits, (unsigned long long)f->least);
    else
        snprintf(about, sizeof about,
                 "The nearest of %llu images by codes of %u bits%s. Distances count differing "
                 "bits%s.",
                 (unsigned long long)info.images, info.bits,
                 f->is_filtered ? ", of the class that was asked for" : "",
                 info.is_weighted ? ", earlier ones more" : "");
    cli_page_begin(to, f->least ? "Neighbourhoods" : "Neighbours", about);
}

static taper_status put_page(const cli_found *f, const cli_code_set *pictures, counts *n,
                             FILE *to) {
    const size_t columns = f->k < MOST_COLUMNS ? f->k : MOST_COLUMNS;
    const size_t queries = f->queries->n < MOST_QUERIES ? f->queries->n : MOST_QUERIES;
    char more[120];
    picture_names names;
    taper_status status = names_open(&names, pictures);
    n->is_told = calloc(names.n + 1, sizeof *n->is_told);
    if (!n->is_told) status = TAPER_ERR_NOMEM;
    put_beginning(f, to);
    if (queries < f->queries->n) {
        snprintf(more, sizeof more, "The first %zu of %zu queries.", queries, f->queries->n);
        cli_page_text(to, more);
    }
    for (size_t row = 0; row < queries * f->rows_a_query && !status; row++)
        if (!f->least || f->label[row][0]) status = put_row(f, row, columns, &names, n, to);
    cli_page_end(to, f->least ? "Below each image stands how many leading bits it shares with the "
                                "query, and its label where it has one, and its file's name."
                              : "Below each neighbour stands its distance, and its label where it "
                                "has one, and its file's name.");
    names_close(&names);
    free(n->is_told);
    return status;
}

int cli_search_page_write(const cli_found *found, const cli_code_set *pictures, const char *path,
                          const cli_common *common) {
    cli_output out;
    cli_text text;
    counts n = {0};
    int code = cli_output_open(&out, "search", path, common);
    if (code != CLI_DONE) return code;
    const taper_sink sink = cli_output_sink(&out);
    taper_status status = cli_text_open(&text);
    if (!status) {
        status = put_page(found, pictures, &n, text.to);
        if (!status)
            status = cli_text_write(&text, &sink);
        else
            cli_text_free(&text);
    }
    code = cli_output_close(&out, NULL, status, NULL);
    if (code == CLI_DONE && n.unread) return CLI_SOME_FAILED;
    if (code == CLI_DONE && !n.shown)
        cli_warning("search", strcmp(path, "-") != 0 ? path : "the page",
                    "none of what was found has its picture there: give what was indexed with "
                    "--images, by the same paths");
    return code;
}

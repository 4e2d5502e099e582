/* error_page.c -- see error_page.h. */
#include "cli/search/error_page.h"
#include "cli/common/outputs.h"
#include "cli/common/page.h"
#include "cli/common/plain_text.h"
#include "cli/search/thumbnail.h"
#include "formats/bytes.h"
#include "formats/image.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_PAIRS = 12,   /* confusions that have examples */
    PER_PAIR = 4,      /* examples of each */
    MOST_RIGHT = 12,   /* classes with an example that is right */
    MOST_COLUMNS = 20, /* classes of a matrix */
    NAME_ROOM = 80,
    SHOWN = CLI_PAGE_NEIGHBOURS
};

/* An image and its neighbours. */
typedef struct example {
    size_t image;
    int32_t truth, guess;
    uint32_t votes;
    uint32_t n, near[SHOWN]; /* rows of the labelled codes */
    float distance[SHOWN];
} example;

struct cli_error_page {
    const cli_labelled_codes *known;
    const cli_class_names *classes;
    const cli_code_set *set; /* of the images */
    cli_output out;
    taper_status status; /* of writing */
    size_t k;            /* votes */
    example *wrong;
    size_t n_wrong, room;
    example right[MOST_RIGHT];
    size_t n_right;
    uint8_t *is_right; /* [classes]: has one */
    size_t unshown;    /* pictures that could not be read */
};

/* Wrong labels of one kind: wrong[first .. first + n - 1]. */
typedef struct pair {
    size_t first, n;
} pair;

/* --- examples ------------------------------------------------------------------------------- */

static taper_status make_room(cli_error_page *p) {
    if (p->n_wrong < p->room) return TAPER_OK;
    const size_t room = p->room ? 2 * p->room : 64;
    example *wrong = realloc(p->wrong, room * sizeof *wrong);
    if (!wrong) return TAPER_ERR_NOMEM;
    p->wrong = wrong, p->room = room;
    return TAPER_OK;
}

taper_status cli_error_page_take(cli_error_page *p, const cli_code_set *set, size_t image,
                                 int32_t truth, const cli_neighbour_votes *v, size_t row) {
    example e = {.image = image,
                 .truth = truth,
                 .guess = v->label[row],
                 .votes = (uint32_t)cli_neighbour_votes_for(v, row),
                 .n = (uint32_t)formats_smaller(SHOWN, v->most_k)};
    p->set = set, p->k = v->k[0];
    for (uint32_t j = 0; j < e.n; j++) {
        e.near[j] = v->neighbour[row * v->most_k + j];
        e.distance[j] = (float)sqrt(v->distance[row * v->most_k + j]);
    }
    if (e.guess != truth) {
        TAPER_TRY(make_room(p));
        p->wrong[p->n_wrong++] = e;
    } else if (p->n_right < MOST_RIGHT && !p->is_right[truth]) {
        p->is_right[truth] = 1;
        p->right[p->n_right++] = e;
    }
    return TAPER_OK;
}

/* By kind; of one kind those first that most neighbours agree on. */
static int by_kind(const void *a, const void *b) {
    const example *x = a, *y = b;
    if (x->truth != y->truth) return x->truth < y->truth ? -1 : 1;
    if (x->guess != y->guess) return x->guess < y->guess ? -1 : 1;
    if (x->votes != y->votes) return x->votes > y->votes ? -1 : 1;
    return x->image < y->image ? -1 : x->image > y->image;
}

static int by_size(const void *a, const void *b) {
    const pair *x = a, *y = b;
    if (x->n != y->n) return x->n > y->n ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* The kinds of errors, the most frequent first. */
static taper_status find_pairs(cli_error_page *p, pair **pairs, size_t *count) {
    *count = 0;
    *pairs = malloc((p->n_wrong + 1) * sizeof **pairs);
    if (!*pairs) return TAPER_ERR_NOMEM;
    if (p->n_wrong) qsort(p->wrong, p->n_wrong, sizeof *p->wrong, by_kind);
    for (size_t i = 0; i < p->n_wrong; i++) {
        const example *e = &p->wrong[i];
        const bool is_new = !i || e->truth != e[-1].truth || e->guess != e[-1].guess;
        if (is_new) (*pairs)[(*count)++] = (pair){i, 0};
        (*pairs)[*count - 1].n++;
    }
    qsort(*pairs, *count, sizeof **pairs, by_size);
    return TAPER_OK;
}

/* --- a strip: an image, and its neighbours -------------------------------------------------- */

static const char *class_of(const cli_error_page *p, int32_t label, char room[NAME_ROOM]) {
    cli_plain_text(room, NAME_ROOM, p->classes->name[label]);
    return room;
}

/* An image whose picture cannot be read is named in a message, and has a blank box. */
static taper_status put_picture(cli_error_page *p, const cli_code_set *set, size_t image,
                                const char *caption, const char *second, bool marked, FILE *to) {
    char name[CLI_IMAGE_NAME], plain[2 * CLI_IMAGE_NAME];
    taper_image picture;
    taper_error why = {0};
    TAPER_TRY(cli_thumbnail_read(set, image, &picture, &why));
    cli_plain_text(plain, sizeof plain, cli_code_set_name(set, image, name));
    if (!picture.pixels) {
        cli_error(set->verb, name, "the page shows no picture of it: %s", cli_explain(&why).text);
        p->unshown++;
    }
    const taper_status status = cli_page_strip_picture(to, picture.pixels ? &picture : NULL, plain,
                                                       caption, second, marked, NULL);
    formats_image_free(&picture);
    return status;
}

static taper_status put_strip(cli_error_page *p, const example *e, FILE *to) {
    char own[NAME_ROOM + 8], room[NAME_ROOM], text[NAME_ROOM + 48];
    snprintf(own, sizeof own, "%s", class_of(p, e->truth, room));
    snprintf(text, sizeof text, "labelled %s, %u of %zu votes", class_of(p, e->guess, room),
             e->votes, p->k);
    cli_page_strip_begin(to);
    TAPER_TRY(put_picture(p, p->set, e->image, own, text, false, to));
    for (uint32_t j = 0; j < e->n; j++) {
        const int32_t label = p->known->label[e->near[j]];
        snprintf(text, sizeof text, e->distance[j] < 1000.0F ? "%.3g" : "%.0f",
                 (double)e->distance[j]);
        TAPER_TRY(put_picture(p, p->known->set, p->known->image[e->near[j]],
                              class_of(p, label, room), text, label != e->truth, to));
    }
    cli_page_strip_end(to);
    return TAPER_OK;
}

static taper_status put_pair(cli_error_page *p, const pair *kind, FILE *to) {
    const example *e = p->wrong + kind->first;
    char truth[NAME_ROOM], guess[NAME_ROOM], text[2 * NAME_ROOM + 48];
    taper_status status = TAPER_OK;
    snprintf(text, sizeof text, "%s taken for %s: %zu time%s", class_of(p, e->truth, truth),
             class_of(p, e->guess, guess), kind->n, formats_plural(kind->n, "s"));
    cli_page_subheading(to, text);
    cli_page_beside_begin(to);
    for (size_t i = 0; i < kind->n && i < PER_PAIR && !status; i++)
        status = put_strip(p, e + i, to);
    cli_page_beside_end(to);
    return status;
}

static taper_status put_examples(cli_error_page *p, FILE *to) {
    pair *pairs;
    size_t n;
    char text[240], all[64] = "The most frequent ones first";
    taper_status status = find_pairs(p, &pairs, &n);
    if (n > MOST_PAIRS)
        snprintf(all, sizeof all, "The %d most frequent ones of %zu", MOST_PAIRS, n);
    if (status == TAPER_OK && n) {
        cli_page_heading(to, "Confusions");
        snprintf(text, sizeof text,
                 "%s; of each the images on which most neighbours agree. Neighbours with a frame "
                 "are of another class than the image.",
                 all);
        cli_page_text(to, text);
    }
    for (size_t i = 0; i < n && i < MOST_PAIRS && !status; i++) status = put_pair(p, &pairs[i], to);
    free(pairs);
    if (status || !p->n_right) return status;
    cli_page_heading(to, "Labelled correctly");
    cli_page_text(to, "The first image of each class that got its own label, twelve at most.");
    cli_page_beside_begin(to);
    for (size_t i = 0; i < p->n_right && !status; i++) status = put_strip(p, &p->right[i], to);
    cli_page_beside_end(to);
    return status;
}

/* --- numbers -------------------------------------------------------------------------------- */

static taper_status put_rates(const cli_error_report *r, FILE *to) {
    enum { COLUMNS = 5, ROOM = 40 };
    static const char *const head[COLUMNS] = {"votes", "error", "95 % interval", "wrong", "tested"};
    char(*text)[COLUMNS][ROOM] = malloc(r->n * sizeof *text);
    const char **cell = malloc(r->n * COLUMNS * sizeof *cell);
    const cli_page_table table = {COLUMNS, r->n, head, cell, 0, NULL, NULL};
    for (size_t i = 0; i < r->n && text && cell; i++) {
        const taper_error_rate *rate = &r->rate[i];
        snprintf(text[i][0], ROOM, "%zu", r->k[i]);
        snprintf(text[i][1], ROOM, "%.2f %%", rate->rate * 100);
        snprintf(text[i][2], ROOM, "%.2f to %.2f %%", rate->low * 100, rate->high * 100);
        snprintf(text[i][3], ROOM, "%llu", (unsigned long long)rate->wrong);
        snprintf(text[i][4], ROOM, "%llu", (unsigned long long)rate->tested);
        for (size_t c = 0; c < COLUMNS; c++) cell[i * COLUMNS + c] = text[i][c];
    }
    const bool has_room = text && cell;
    if (has_room) cli_page_put_table(to, &table);
    free(text), free(cell);
    return has_room ? TAPER_OK : TAPER_ERR_NOMEM;
}

typedef struct matrix {
    size_t used[MOST_COLUMNS], n; /* classes */
    char name[MOST_COLUMNS][NAME_ROOM];
    char number[MOST_COLUMNS][MOST_COLUMNS][24];
    const char *head[MOST_COLUMNS + 1], *cell[MOST_COLUMNS * (MOST_COLUMNS + 1)];
    double shade[MOST_COLUMNS * (MOST_COLUMNS + 1)];
} matrix;

/* Row i: numbers, and how large a share of the row each that is wrong is. */
static void fill_row(const cli_error_report *r, matrix *m, size_t i) {
    const uint64_t *row = r->confusion + m->used[i] * r->classes;
    const size_t at = i * (m->n + 1);
    uint64_t all = 0;
    for (size_t j = 0; j < m->n; j++) all += row[m->used[j]];
    m->cell[at] = m->name[i], m->shade[at] = 0.0;
    for (size_t j = 0; j < m->n; j++) {
        const uint64_t here = row[m->used[j]];
        const double share = all ? (double)here / (double)all : 0.0;
        snprintf(m->number[i][j], sizeof m->number[i][j], "%llu", (unsigned long long)here);
        m->cell[at + 1 + j] = here ? m->number[i][j] : NULL;
        m->shade[at + 1 + j] = i == j || !here ? 0.0 : 0.08 + 0.9 * sqrt(share);
    }
}

static taper_status put_matrix(const cli_error_report *r, FILE *to) {
    matrix *m = malloc(sizeof *m);
    if (!m) return TAPER_ERR_NOMEM;
    m->n = cli_error_report_used(r, m->used, MOST_COLUMNS);
    if (m->n <= MOST_COLUMNS) {
        m->head[0] = "true label";
        for (size_t i = 0; i < m->n; i++) {
            cli_plain_text(m->name[i], NAME_ROOM, r->name[m->used[i]]);
            m->head[i + 1] = m->name[i];
            fill_row(r, m, i);
        }
        const cli_page_table table = {m->n + 1, m->n, m->head, m->cell, 1, NULL, m->shade};
        cli_page_heading(to, "What is taken for what");
        cli_page_text(to, "A row for each true label; columns are the labels that were voted for. "
                          "The stronger its colour, the larger a cell's share of its row.");
        cli_page_put_table(to, &table);
    }
    free(m);
    return TAPER_OK;
}

/* --- the page ------------------------------------------------------------------------------- */

static taper_status put_page(cli_error_page *p, const cli_error_report *r, const char *about,
                             FILE *to) {
    char lead[240];
    snprintf(lead, sizeof lead,
             "%.2f %% of %llu images get a wrong label by the votes of their %zu nearest of %zu "
             "labelled images; the 95 %% interval is %.2f to %.2f %%.",
             r->rate[0].rate * 100, (unsigned long long)r->rate[0].tested, r->k[0], p->known->n,
             r->rate[0].low * 100, r->rate[0].high * 100);
    cli_page_begin(to, "Labels by nearest neighbours", lead);
    TAPER_TRY(put_rates(r, to));
    if (r->confusion) TAPER_TRY(put_matrix(r, to));
    TAPER_TRY(put_examples(p, to));
    cli_page_end(to, about);
    return TAPER_OK;
}

void cli_error_page_write(cli_error_page *p, const cli_error_report *report, const char *about) {
    cli_text text;
    char plain[2 * CLI_IMAGE_NAME];
    const taper_sink sink = cli_output_sink(&p->out);
    p->status = cli_text_open(&text);
    if (p->status != TAPER_OK) return;
    cli_plain_text(plain, sizeof plain, about);
    p->status = put_page(p, report, plain, text.to);
    const taper_status written = cli_text_write(&text, &sink);
    if (p->status == TAPER_OK) p->status = written;
}

int cli_error_page_open(cli_error_page **out, const cli_labelled_codes *known,
                        const cli_class_names *classes, const char *path) {
    const cli_code_set *set = known->set;
    cli_error_page *p = *out = calloc(1, sizeof *p);
    if (p) p->is_right = calloc(classes->count, 1);
    int code = p && p->is_right ? cli_output_open(&p->out, set->verb, path, set->common)
                                : (int)cli_fail(set->verb, NULL, TAPER_ERR_NOMEM, NULL);
    if (p) p->known = known, p->classes = classes;
    if (code == CLI_DONE) return code;
    if (p) free(p->is_right);
    free(p), *out = NULL;
    return code;
}

int cli_error_page_finish(cli_error_page *p) {
    return p ? cli_output_finish(&p->out, NULL, p->status, NULL) : CLI_DONE;
}

int cli_error_page_close(cli_error_page *p, int code) {
    if (!p) return code;
    if (code == CLI_DONE)
        code = cli_output_close(&p->out, NULL, TAPER_OK, NULL);
    else
        formats_atomic_file_abort(p->out.file);
    if (code == CLI_DONE && p->unshown) code = CLI_SOME_FAILED;
    free(p->wrong), free(p->is_right), free(p);
    return code;
}

/* groups.c -- see groups.h. "Subjects" are the images that are compared: of equal ones the first,
 * and of these the ones with structure. */
#include "cli/copies/groups.h"
#include "cli/common/parallel.h"
#include "cli/common/progress.h"
#include "cli/copies/check.h"
#include "formats/bytes.h"
#include <stdlib.h>
#include <string.h>

enum { CENTRES_AT_ONCE = 256, NONE = UINT32_MAX };

/* A candidate that is checked, seen from one of its images. */
typedef struct trial {
    uint32_t pair;  /* number of the candidate */
    uint32_t from;  /* subject: a centre, or an image that is left */
    uint32_t other; /* subject */
    uint32_t group; /* the centre of the group of `other`, in join_groups */
    float score;
} trial;

/* Which candidates of a subject are tried: those without a group, those that belong to a centre,
 * those of groups other than its own. */
typedef enum other_images { ALONE, MEMBERS, OTHER_GROUPS } other_images;

typedef struct grouping {
    const cli_small_set *set;
    uint32_t *first;   /* [images] see cli_small_set_find_equal */
    uint32_t *subject; /* [subjects] their images, ascending */
    size_t subjects;
    cli_candidates candidates;
    size_t *begin;    /* [subjects + 1] of each subject where its candidates begin in `of` */
    uint32_t *of;     /* numbers of candidates */
    uint32_t *centre; /* [subjects] the centre that it belongs to, perhaps itself; NONE: alone */
    float *score;     /* [subjects] of that */
    uint32_t *order;  /* [waiting] subjects that are not centres yet, the next ones first */
    size_t waiting;
    trial *trial;
    size_t trials, room;
    unsigned threads;
    cli_progress progress;
} grouping;

/* --- subjects and their candidates --- */

static bool has_structure(const uint8_t grey[CLI_GREY_PIXELS]) {
    cli_template template;
    cli_template_make(&template, grey);
    return cli_check_is_possible(&template);
}

static taper_status choose_subjects(grouping *g) {
    g->subject = malloc((g->set->n + 1) * sizeof *g->subject);
    if (!g->subject) return TAPER_ERR_NOMEM;
    for (size_t i = 0; i < g->set->n; i++)
        if (g->first[i] == i && has_structure(g->set->grey[i]))
            g->subject[g->subjects++] = (uint32_t)i;
    return TAPER_OK;
}

static taper_status find_candidates(grouping *g, bool are_turned, const cli_common *common,
                                    taper_error *error) {
    cli_cosines *cosines = malloc(sizeof *cosines);
    cli_descriptor *of = malloc((g->subjects + 1) * sizeof *of);
    taper_status status = cosines && of ? TAPER_OK : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) {
        cli_cosines_make(cosines);
        for (size_t i = 0; i < g->subjects; i++)
            cli_descriptor_make(&of[i], cosines, g->set->grey[g->subject[i]]);
        status = cli_candidates_find(&g->candidates, of, g->subjects, are_turned, common, error);
    }
    free(cosines), free(of);
    return status;
}

/* List the candidates of each subject. */
static taper_status list_candidates(grouping *g) {
    const cli_candidates *c = &g->candidates;
    if (c->n >= NONE) return TAPER_ERR_LIMIT;
    g->begin = calloc(g->subjects + 2, sizeof *g->begin);
    g->of = malloc((2 * c->n + 1) * sizeof *g->of);
    if (!g->begin || !g->of) return TAPER_ERR_NOMEM;
    size_t *count = g->begin + 1; /* becomes the ends, then the beginnings of the next */
    for (size_t i = 0; i < c->n; i++) count[c->pair[i].a]++, count[c->pair[i].b]++;
    for (size_t i = 0; i < g->subjects; i++) g->begin[i + 1] += g->begin[i];
    for (size_t i = c->n; i-- > 0;) {
        g->of[--g->begin[c->pair[i].a + 1]] = (uint32_t)i;
        g->of[--g->begin[c->pair[i].b + 1]] = (uint32_t)i;
    }
    memmove(g->begin, g->begin + 1, g->subjects * sizeof *g->begin);
    g->begin[g->subjects] = 2 * c->n;
    return TAPER_OK;
}

static size_t degree(const grouping *g, size_t subject) {
    return g->begin[subject + 1] - g->begin[subject];
}

/* --- trials --- */

static float try_pair(const cli_small_set *set, const cli_candidate *pair, uint32_t image_a,
                      uint32_t image_b, bool from_a) {
    uint8_t turned[CLI_GREY_PIXELS];
    cli_template a, b;
    if (pair->turn) cli_grey_turn(set->grey[image_a], pair->turn, turned);
    cli_template_make(&a, pair->turn ? turned : set->grey[image_a]);
    cli_template_make(&b, set->grey[image_b]);
    cli_template_take_slopes(from_a ? &a : &b);
    const cli_map map = from_a ? cli_part_map(pair->part_a, pair->part_b)
                               : cli_part_map(pair->part_b, pair->part_a);
    return from_a ? cli_check(&a, &b, &map) : cli_check(&b, &a, &map);
}

static void run_trial(void *user, size_t item, unsigned thread) {
    grouping *g = user;
    trial *t = &g->trial[item];
    const cli_candidate *pair = &g->candidates.pair[t->pair];
    (void)thread;
    t->score = try_pair(g->set, pair, g->subject[pair->a], g->subject[pair->b], pair->a == t->from);
}

static bool is_wanted(const grouping *g, uint32_t from, uint32_t other, other_images which) {
    const uint32_t centre = g->centre[other];
    if (which == ALONE) return centre == NONE;
    return centre != NONE && (which == MEMBERS ? centre != other : centre != g->centre[from]);
}

static taper_status add_trials(grouping *g, uint32_t from, other_images which) {
    for (size_t i = g->begin[from]; i < g->begin[from + 1]; i++) {
        const cli_candidate *pair = &g->candidates.pair[g->of[i]];
        const uint32_t other = pair->a == from ? pair->b : pair->a;
        if (!is_wanted(g, from, other, which)) continue;
        if (!formats_grow(&g->trial, g->trials, &g->room, sizeof *g->trial)) return TAPER_ERR_NOMEM;
        g->trial[g->trials++] = (trial){.pair = g->of[i], .from = from, .other = other};
    }
    return TAPER_OK;
}

static void run_trials(grouping *g) { cli_parallel(g->threads, g->trials, run_trial, g); }

/* --- centres --- */

typedef struct ranked {
    size_t degree;
    uint32_t subject;
} ranked;

static int by_degree(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->degree != y->degree) return x->degree > y->degree ? -1 : 1;
    return (x->subject > y->subject) - (x->subject < y->subject);
}

/* The subjects with candidates, those with the most first. */
static taper_status rank_subjects(grouping *g) {
    ranked *all = malloc((g->subjects + 1) * sizeof *all);
    g->order = malloc((g->subjects + 1) * sizeof *g->order);
    g->centre = malloc((g->subjects + 1) * sizeof *g->centre);
    g->score = calloc(g->subjects + 1, sizeof *g->score);
    if (!all || !g->order || !g->centre || !g->score) {
        free(all);
        return TAPER_ERR_NOMEM;
    }
    for (size_t i = 0; i < g->subjects; i++) {
        g->centre[i] = NONE;
        if (degree(g, i)) all[g->waiting++] = (ranked){degree(g, i), (uint32_t)i};
    }
    qsort(all, g->waiting, sizeof *all, by_degree);
    for (size_t i = 0; i < g->waiting; i++) g->order[i] = all[i].subject;
    free(all);
    return TAPER_OK;
}

/* Take the next centres, of which none is a candidate of another, and their trials. near[subject]:
 * the last round in which it was a candidate of a centre. */
static taper_status take_centres(grouping *g, uint32_t round, uint32_t *near) {
    size_t kept = 0, centres = 0;
    g->trials = 0;
    for (size_t i = 0; i < g->waiting; i++) {
        const uint32_t subject = g->order[i];
        if (g->centre[subject] != NONE) continue;
        if (centres == CENTRES_AT_ONCE || near[subject] == round) {
            g->order[kept++] = subject;
            continue;
        }
        centres++;
        for (size_t k = g->begin[subject]; k < g->begin[subject + 1]; k++) {
            const cli_candidate *pair = &g->candidates.pair[g->of[k]];
            near[pair->a] = near[pair->b] = round;
        }
        TAPER_TRY(add_trials(g, subject, ALONE));
    }
    g->waiting = kept;
    return TAPER_OK;
}

/* Let each image join the centre, or the group, with which it agrees best. */
static void join_best(grouping *g, bool are_left) {
    for (size_t i = 0; i < g->trials; i++) {
        const trial *t = &g->trial[i];
        const uint32_t joins = are_left ? t->from : t->other, with = are_left ? t->other : t->from;
        if (!(t->score >= CLI_COPY_SCORE) || !(t->score > g->score[joins])) continue;
        g->score[joins] = t->score;
        g->centre[joins] = are_left ? g->centre[with] : with;
    }
}

/* A centre belongs to itself if another image does so. */
static void name_centres(grouping *g) {
    for (size_t i = 0; i < g->trials; i++) {
        const trial *t = &g->trial[i];
        if (g->centre[t->other] == t->from) g->centre[t->from] = t->from;
    }
}

static taper_status find_centres(grouping *g) {
    uint32_t *near = calloc(g->subjects + 1, sizeof *near);
    taper_status status = near ? TAPER_OK : TAPER_ERR_NOMEM;
    for (uint32_t round = 1; g->waiting && !status; round++) {
        const size_t before = g->waiting;
        status = take_centres(g, round, near);
        if (status) break;
        run_trials(g);
        join_best(g, false);
        name_centres(g);
        cli_progress_add(&g->progress, before - g->waiting);
    }
    free(near);
    return status;
}

/* --- groups of one original ------------------------------------------------------------- */

static int by_group(const void *a, const void *b) {
    const trial *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    return (x->pair > y->pair) - (x->pair < y->pair);
}

/* The trials of the centres with the images of other groups. */
static taper_status try_other_groups(grouping *g) {
    g->trials = 0;
    for (uint32_t i = 0; i < g->subjects; i++)
        if (g->centre[i] == i) TAPER_TRY(add_trials(g, i, OTHER_GROUPS));
    run_trials(g);
    for (size_t i = 0; i < g->trials; i++) g->trial[i].group = g->centre[g->trial[i].other];
    if (g->trials) qsort(g->trial, g->trials, sizeof *g->trial, by_group);
    return TAPER_OK;
}

static uint32_t root_of(const uint32_t *joins, uint32_t centre) {
    while (joins[centre] != centre) centre = joins[centre];
    return centre;
}

/* joins[centre]: the centre of the group that a group joins, perhaps itself. Its centre must agree
 * with most of those images of the other group that may be copies; one that agrees by chance joins
 * nothing. */
static void choose_joins(const grouping *g, uint32_t *joins) {
    for (size_t i = 0, n; i < g->trials; i += n) {
        const trial *t = &g->trial[i];
        size_t agree = 0;
        for (n = 0; i + n < g->trials && t[n].from == t->from && t[n].group == t->group; n++)
            agree += t[n].score >= CLI_COPY_SCORE;
        const uint32_t from = root_of(joins, t->from), to = root_of(joins, t->group);
        if (joins[t->from] == t->from && from != to && 2 * agree > n) joins[from] = to;
    }
}

/* Copies that differ much from a centre may have become a group of their own: it joins that of the
 * centre. */
static taper_status join_groups(grouping *g) {
    uint32_t *joins = malloc((g->subjects + 1) * sizeof *joins);
    taper_status status = joins ? try_other_groups(g) : TAPER_ERR_NOMEM;
    for (uint32_t i = 0; joins && i < g->subjects; i++) joins[i] = i;
    if (status == TAPER_OK) choose_joins(g, joins);
    for (size_t i = 0; status == TAPER_OK && i < g->subjects; i++)
        if (g->centre[i] != NONE) g->centre[i] = root_of(joins, g->centre[i]);
    free(joins);
    return status;
}

/* --- what is left ------------------------------------------------------------------------ */

/* Images that are alone join the group of an image that is no centre. The groups of others are
 * those of before, so that no chains grow. */
static taper_status join_left(grouping *g) {
    g->trials = 0;
    for (uint32_t i = 0; i < g->subjects; i++)
        if (g->centre[i] == NONE) TAPER_TRY(add_trials(g, i, MEMBERS));
    run_trials(g);
    join_best(g, true);
    return TAPER_OK;
}

/* --- results --- */

static uint64_t pixels_of(const cli_small_set *set, size_t i) {
    return (uint64_t)set->width[i] * set->height[i];
}

/* Number the groups by their first images; until then out->group has numbers of centres' images. */
static taper_status number_groups(const grouping *g, cli_groups *out) {
    const cli_small_set *set = g->set;
    uint32_t *number = malloc((set->n + 1) * sizeof *number);
    out->keep = malloc((set->n + 1) * sizeof *out->keep);
    for (size_t i = 0; number && i < set->n; i++) number[i] = NONE;
    for (size_t i = 0; number && out->keep && i < set->n; i++) {
        uint32_t *group = &out->group[i];
        if (*group == CLI_NO_GROUP) continue;
        if (number[*group] == NONE) {
            number[*group] = (uint32_t)out->count;
            out->keep[out->count++] = (uint32_t)i;
        }
        *group = number[*group];
        if (pixels_of(set, i) > pixels_of(set, out->keep[*group])) out->keep[*group] = (uint32_t)i;
    }
    free(number);
    return number && out->keep ? TAPER_OK : TAPER_ERR_NOMEM;
}

static taper_status take_groups(const grouping *g, cli_groups *out) {
    const size_t n = g->set->n;
    out->group = malloc((n + 1) * sizeof *out->group);
    if (!out->group) return TAPER_ERR_NOMEM;
    for (size_t i = 0; i < n; i++) out->group[i] = CLI_NO_GROUP;
    for (size_t i = 0; i < g->subjects; i++)
        if (g->centre[i] != NONE) out->group[g->subject[i]] = g->subject[g->centre[i]];
    for (size_t i = 0; i < n; i++) {
        const uint32_t first = g->first[i];
        if (first == NONE || first == i) continue;
        if (out->group[first] == CLI_NO_GROUP) out->group[first] = first;
        out->group[i] = out->group[first];
    }
    return number_groups(g, out);
}

static taper_status find_groups(grouping *g, bool are_turned, const cli_common *common,
                                cli_groups *out, taper_error *error) {
    g->first = malloc((g->set->n + 1) * sizeof *g->first);
    if (!g->first) return TAPER_ERR_NOMEM;
    TAPER_TRY(cli_small_set_find_equal(g->set, g->first));
    TAPER_TRY(choose_subjects(g));
    TAPER_TRY(find_candidates(g, are_turned, common, error));
    TAPER_TRY(list_candidates(g));
    TAPER_TRY(rank_subjects(g));
    cli_progress_start(&g->progress, common, "checking", g->waiting, "images");
    taper_status status = find_centres(g);
    if (status == TAPER_OK) status = join_groups(g);
    if (status == TAPER_OK) status = join_left(g);
    cli_progress_end(&g->progress);
    return status == TAPER_OK ? take_groups(g, out) : status;
}

taper_status cli_groups_find(cli_groups *out, const cli_small_set *set, bool are_turned,
                             const cli_common *common, taper_error *error) {
    grouping g = {.set = set, .threads = cli_threads(common)};
    taper_error why = {0};
    *out = (cli_groups){.count = 0};
    const taper_status status = find_groups(&g, are_turned, common, out, &why);
    free(g.first), free(g.subject), free(g.begin), free(g.of);
    free(g.centre), free(g.score), free(g.order), free(g.trial);
    cli_candidates_free(&g.candidates);
    if (status == TAPER_OK) return TAPER_OK;
    cli_groups_free(out);
    if (!why.text[0]) formats_fail(&why, status, "no memory to compare %zu images", set->n);
    if (error) *error = why;
    return status;
}

void cli_groups_free(cli_groups *groups) {
    free(groups->group), free(groups->keep);
    *groups = (cli_groups){.count = 0};
}

cli_agreement cli_agreement_of(const cli_small_set *set, const cli_cosines *cosines, size_t a,
                               size_t b, bool are_turned) {
    static const uint8_t opposite[CLI_TURNS] = {0, 3, 2, 1, 4, 5, 6, 7};
    cli_descriptor of_a, of_b, turned;
    cli_agreement best = {.score = -1};
    if (set->digest[a] == set->digest[b]) return (cli_agreement){.score = 1, .is_equal = true};
    cli_descriptor_make(&of_a, cosines, set->grey[a]);
    cli_descriptor_make(&of_b, cosines, set->grey[b]);
    for (unsigned turn = 0; turn < (are_turned ? CLI_TURNS : 1); turn++) {
        cli_candidate pair = {.turn = (uint8_t)turn};
        cli_descriptor_turn(&of_b, turn, &turned);
        if (!cli_parts_agree(&turned, &of_a, &pair.part_a, &pair.part_b) && turn) continue;
        const float score = try_pair(set, &pair, (uint32_t)b, (uint32_t)a, false);
        if (score > best.score) best = (cli_agreement){.score = score, .turn = opposite[turn]};
    }
    return best;
}

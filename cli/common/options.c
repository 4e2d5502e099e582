/* options.c -- parsing of a verb's options from its table, and its --help; see options.h. */
#include "cli/common/options.h"
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MAX_OPTIONS = 64, /* most options of a verb */
    FIRST_VALUE =
        1000, /* getopt_long returns FIRST_VALUE + i for table entry i, which is never a letter */
    HELP_VALUE = FIRST_VALUE + MAX_OPTIONS,
    HELP_ALL_VALUE,
    HELP_COLUMN = 27, /* column of the explanations in --help */
    HELP_WIDTH = 80,  /* width of its paragraphs */
    HELP_MOST = 100,  /* width of the lines of options */
    MAX_WORD = 64     /* longest word for "did you mean" */
};

const char *const cli_layouts[] = {"set", "image", "gallery", NULL};
const char *const cli_frames[] = {"first", "all", NULL};
const char *const cli_alphas[] = {"refuse", "drop", "white", "keep", NULL};

/* Options of the last command line, for cli_options_given. */
static struct {
    const cli_option *table;
    bool given[MAX_OPTIONS];
    int verbose;
} last;

static size_t count_options(const cli_option *options) {
    size_t n = 0;
    while (options[n].name) n++;
    return n;
}

/* --- did you mean --- */

/* Edit distance (insert, delete, replace, transpose) of two words shorter than MAX_WORD. */
static int edit_distance(const char *a, const char *b) {
    int rows[3][MAX_WORD +
                1]; /* the last three rows of the dynamic programming table, reused cyclically */
    size_t na = strlen(a), nb = strlen(b);
    for (size_t j = 0; j <= nb; j++) rows[0][j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int *row = rows[i % 3], *above = rows[(i - 1) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int best = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (above[j] + 1 < best) best = above[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && above2[j - 2] + 1 < best) best = above2[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[na % 3][nb];
}

const char *cli_nearest(const char *word, const char *const *candidates) {
    if (strlen(word) >= MAX_WORD) return NULL;
    int best = 1 + (int)strlen(word) / 3; /* one error per three letters, plus one */
    if (best > 3) best = 3;
    const char *found = NULL;
    for (; *candidates; candidates++) {
        if (strlen(*candidates) >= MAX_WORD) continue;
        int distance = edit_distance(word, *candidates);
        if (distance < best || (distance == best && !found)) {
            best = distance;
            found = *candidates;
        }
    }
    return found && best < (int)strlen(word) ? found : NULL;
}

/* --- usage errors --- */

int cli_usage(const cli_verb *verb, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cli_error(verb->name, NULL, "%s (see: taper %s --help)", text, verb->name);
    return CLI_USAGE;
}

/* Hints for options of other encoders. */
static const char quality_words[] =
    "quality is set by --psnr DB (40 is hard to tell from the original), --bpp or --bytes; or, for "
    "each image, by --quality visual, high, best or a PSNR of 20 to 60";

static bool has_option(const cli_verb *verb, const char *name) {
    for (const cli_option *o = verb->options; o->name; o++)
        if (!strcmp(o->name, name)) return true;
    return false;
}

static bool has_quality(const cli_verb *verb) { return has_option(verb, "psnr"); }

static int unknown_option(const cli_verb *verb, const char *word) {
    const char *names[MAX_OPTIONS + 3];
    size_t n = 0;
    for (const cli_option *o = verb->options; o->name && n < MAX_OPTIONS; o++) names[n++] = o->name;
    names[n++] = "help";
    names[n++] = "help-all";
    names[n] = NULL;
    char bare[MAX_WORD];
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    if (!strcmp(bare, "quality") && has_quality(verb))
        return cli_usage(verb, "unknown option '--quality'; %s", quality_words);
    for (const cli_verb *const *other = verb->relatives; other && *other; other++)
        if (has_option(*other, bare))
            return cli_usage(verb, "unknown option '--%s'; `taper %s` has it", bare,
                             (*other)->name);
    const char *near = cli_nearest(bare, names);
    if (near) return cli_usage(verb, "unknown option '--%s'; did you mean '--%s'?", bare, near);
    return cli_usage(verb, "unknown option '--%s'", bare);
}

/* Is the word with this letter rather a name: "-dash.png"? */
static bool looks_like_name(char **argv, int letter) {
    for (; *argv; argv++)
        if (argv[0][0] == '-' && argv[0][1] == letter && strpbrk(*argv, "./*")) return true;
    return false;
}

/* getopt_long returned '?': an unknown option, an ambiguous one, or an argument to a flag. */
static int bad_option(const cli_verb *verb, char **argv) {
    const char *word = argv[optind - 1];
    if (optopt >= FIRST_VALUE)
        return cli_usage(verb, "option '%.*s' takes no argument", (int)strcspn(word, "="), word);
    if (optopt && strchr("0123456789", optopt) && cli_options_given("quiet") && has_quality(verb))
        return cli_usage(verb, "-q means quiet and takes no number; %s", quality_words);
    if (optopt && looks_like_name(argv, optopt))
        return cli_usage(verb,
                         "unknown option '-%c'; of names that begin with a dash, write -- before "
                         "the first",
                         optopt);
    if (optopt) return cli_usage(verb, "unknown option '-%c'", optopt);
    size_t length = strcspn(word, "="), hits = 0;
    for (const cli_option *o = verb->options; o->name; o++)
        hits += length > 2 && !strncmp(o->name, word + 2, length - 2);
    if (hits > 1) return cli_usage(verb, "option '%.*s' is ambiguous", (int)length, word);
    return unknown_option(verb, word);
}

/* --- storing values --- */

static bool in_range(const cli_option *o, double value) {
    return (o->min == 0 && o->max == 0) || (value >= o->min && value <= o->max);
}

static bool store_double(const cli_option *o, const char *text, double *to) {
    return cli_parse_double(text, to) && in_range(o, *to);
}

static bool store_choice(const cli_option *o, const char *text, int *to) {
    for (int i = 0; o->choices[i]; i++) {
        if (strcmp(o->choices[i], text) != 0) continue;
        *to = i;
        return true;
    }
    return false;
}

static bool store_string_item(const char *text, cli_strings *to) {
    const char **grown = realloc(to->item, (to->count + 1) * sizeof *grown);
    if (!grown) return false;
    to->item = grown;
    to->item[to->count++] = text;
    return true;
}

static bool store_numbers(const cli_option *o, const char *text, cli_numbers *to) {
    for (;;) {
        char one[40];
        size_t length = strcspn(text, ",");
        if (length >= sizeof one || to->count == CLI_MAX_NUMBERS) return false;
        memcpy(one, text, length);
        one[length] = 0;
        if (!store_double(o, one, &to->item[to->count])) return false;
        to->count++;
        if (!text[length]) return true;
        text += length + 1;
    }
}

/* Store the argument `text` in the settings. False if it is not a legal value. */
static bool store(const cli_option *o, const char *text, void *settings) {
    void *to = (char *)settings + o->offset;
    switch (o->kind) {
    case CLI_FLAG: ++*(int *)to; return true;
    case CLI_INT: return cli_parse_int(text, to) && in_range(o, (double)*(int64_t *)to);
    case CLI_SIZE: return cli_parse_size(text, to) && in_range(o, (double)*(uint64_t *)to);
    case CLI_AMOUNT: return cli_parse_amount(text, to) && in_range(o, *(double *)to);
    case CLI_DOUBLE: return store_double(o, text, to);
    case CLI_STRING: *(const char **)to = text; return true;
    case CLI_CHOICE: return store_choice(o, text, to);
    case CLI_STRINGS: return store_string_item(text, to);
    case CLI_NUMBERS: return store_numbers(o, text, to);
    }
    return false;
}

/* A description of legal values for error messages: "a whole number from 1 to 64". */
static void describe_value(const cli_option *o, char *to, size_t room) {
    static const char *const what[] = {[CLI_INT] = "a whole number",
                                       [CLI_SIZE] = "a size such as 64K or 1.5M",
                                       [CLI_AMOUNT] = "a size such as 61.5 or 50K",
                                       [CLI_DOUBLE] = "a number",
                                       [CLI_NUMBERS] = "numbers with commas between them"};
    if (o->kind == CLI_CHOICE) {
        size_t used = (size_t)snprintf(to, room, "one of");
        for (int i = 0; o->choices[i] && used < room; i++)
            used += (size_t)snprintf(to + used, room - used, "%s %s", i ? "," : "", o->choices[i]);
        return;
    }
    const char *kind =
        o->kind < sizeof what / sizeof *what && what[o->kind] ? what[o->kind] : "a value";
    if (o->min == 0 && o->max == 0)
        snprintf(to, room, "%s", kind);
    else
        snprintf(to, room, "%s from %.10g to %.10g", kind, o->min, o->max);
}

static int bad_value(const cli_verb *verb, const cli_option *o, const char *text) {
    if (o->kind == CLI_STRINGS) /* the list could not grow */
        return cli_fail(verb->name, NULL, TAPER_ERR_NOMEM, NULL);
    char wanted[256];
    describe_value(o, wanted, sizeof wanted);
    const char *near = o->kind == CLI_CHOICE ? cli_nearest(text, o->choices) : NULL;
    if (near)
        return cli_usage(verb, "--%s takes %s, not '%s'; did you mean '%s'?", o->name, wanted, text,
                         near);
    return cli_usage(verb, "--%s takes %s, not '%s'", o->name, wanted, text);
}

/* --- parsing --- */

typedef struct getopt_tables {
    struct option longs[MAX_OPTIONS + 3];
    char shorts[2 * MAX_OPTIONS + 4];
} getopt_tables;

/* Make the arguments of getopt_long from our table. Values are indices, so that letter and long
 * name give the same entry. */
static void fill_tables(const cli_option *options, getopt_tables *t) {
    size_t n = count_options(options), s = 0;
    memset(t, 0, sizeof *t);
    t->shorts[s++] =
        ':'; /* report a missing argument apart from an unknown option, and print nothing */
    for (size_t i = 0; i < n; i++) {
        int takes = options[i].kind == CLI_FLAG ? no_argument : required_argument;
        t->longs[i] = (struct option){options[i].name, takes, NULL, FIRST_VALUE + (int)i};
        if (!options[i].letter) continue;
        t->shorts[s++] = options[i].letter;
        if (takes == required_argument) t->shorts[s++] = ':';
    }
    t->shorts[s] = 'h';
    t->longs[n] = (struct option){"help", no_argument, NULL, HELP_VALUE};
    t->longs[n + 1] = (struct option){"help-all", no_argument, NULL, HELP_ALL_VALUE};
}

static const cli_option *option_of_value(const cli_option *options, int value) {
    if (value >= FIRST_VALUE) return &options[value - FIRST_VALUE];
    for (; options->name; options++)
        if (options->letter == value) return options;
    return NULL;
}

static void store_defaults(const cli_verb *verb, void *settings) {
    for (const cli_option *o = verb->options; o->name; o++)
        if (o->initial && !store(o, o->initial, settings)) abort(); /* error in the table */
}

static void start_getopt(void) {
    opterr = 0;
#ifdef __GLIBC__
    optind = 0; /* glibc: also reset the state of an earlier command line */
#else
    optind = 1;
#endif
}

/* A list given on the command line replaces its default instead of being added to it. */
static void drop_default(const cli_option *o, void *settings) {
    if (o->kind == CLI_NUMBERS) ((cli_numbers *)(void *)((char *)settings + o->offset))->count = 0;
    if (o->kind == CLI_STRINGS) ((cli_strings *)(void *)((char *)settings + o->offset))->count = 0;
}

/* Store these words like defaults of the table. */
static void store_words(const cli_verb *verb, const char *const *words, void *settings) {
    while (*words) {
        const cli_option *o = verb->options;
        while (o->name && strcmp(o->name, *words + 2) != 0) o++;
        if (!o->name) abort(); /* error in the verb */
        drop_default(o, settings);
        if (!store(o, o->kind == CLI_FLAG ? NULL : words[1], settings)) abort();
        words += o->kind == CLI_FLAG ? 1 : 2;
    }
}

int cli_options_parse(const cli_verb *verb, int argc, char **argv, void *settings, int *first) {
    static const char *const none[] = {NULL};
    return cli_options_parse_over(verb, none, argc, argv, settings, first);
}

int cli_options_parse_over(const cli_verb *verb, const char *const *words, int argc, char **argv,
                           void *settings, int *first) {
    if (count_options(verb->options) > MAX_OPTIONS) abort();
    getopt_tables t;
    fill_tables(verb->options, &t);
    memset(&last, 0, sizeof last);
    last.table = verb->options;
    store_defaults(verb, settings);
    store_words(verb, words, settings);
    start_getopt();
    for (;;) {
        int value = getopt_long(argc, argv, t.shorts, t.longs, NULL);
        if (value == -1) break;
        if (value == '?') return bad_option(verb, argv);
        if (value == ':') return cli_usage(verb, "option '%s' needs an argument", argv[optind - 1]);
        const bool helps = value == HELP_VALUE || value == HELP_ALL_VALUE;
        const cli_option *o = helps ? NULL : option_of_value(verb->options, value);
        if (!o) { /* --help, or -h where the verb has no -h of its own */
            cli_options_help(verb, value == HELP_ALL_VALUE, stdout);
            return CLI_DONE;
        }
        bool *given = &last.given[o - verb->options];
        if (!*given) drop_default(o, settings);
        *given = true;
        last.verbose += !strcmp(o->name, "verbose");
        if (!store(o, optarg, settings)) return bad_value(verb, o, optarg);
    }
    *first = optind;
    return -1;
}

bool cli_options_given(const char *name) {
    for (size_t i = 0; last.table && last.table[i].name; i++)
        if (!strcmp(last.table[i].name, name)) return last.given[i];
    return false;
}

int cli_options_verbose(void) { return cli_options_given("quiet") ? 0 : last.verbose; }

/* Append "--hidden (for --family dense)" at to[used]; returns the new length. */
static size_t put_idle(const cli_verb *verb, const cli_option *o, char *to, size_t used,
                       size_t room) {
    const char *before = " (for ";
    used += (size_t)snprintf(to + used, room - used, "%s--%s", used ? ", " : "", o->name);
    for (unsigned k = 0; verb->uses && verb->uses[k] && used < room; k++) {
        if (!(o->uses >> k & 1)) continue;
        used += (size_t)snprintf(to + used, room - used, "%s%s", before, verb->uses[k]);
        before = " or ";
    }
    before = o->uses ? " with " : before;
    if (o->with && used < room)
        used += (size_t)snprintf(to + used, room - used, "%s--%s", before, o->with);
    if (used < room) used += (size_t)snprintf(to + used, room - used, ")");
    return used < room ? used : room - 1;
}

static bool is_idle(const cli_option *o, unsigned uses) {
    return (o->uses && !(o->uses & uses)) || (o->with && !cli_options_given(o->with));
}

void cli_options_name_idle(const cli_verb *verb, unsigned uses) {
    char text[900] = "";
    size_t used = 0;
    for (size_t i = 0; verb->options[i].name; i++)
        if (last.given[i] && is_idle(&verb->options[i], uses))
            used = put_idle(verb, &verb->options[i], text, used, sizeof text);
    if (used) cli_warning(verb->name, NULL, "without effect here: %s", text);
}

int cli_options_check_quality(const cli_verb *verb, char *const *operands, size_t n) {
    double number;
    for (size_t i = 0; i < n && cli_options_given("quiet"); i++)
        if (cli_parse_double(operands[i], &number) && access(operands[i], F_OK) != 0)
            return cli_usage(verb,
                             "-q means quiet and takes no number, and there is no file '%s'; %s",
                             operands[i], quality_words);
    return CLI_DONE;
}

void cli_options_free(const cli_verb *verb, void *settings) {
    for (const cli_option *o = verb->options; o->name; o++) {
        if (o->kind != CLI_STRINGS) continue;
        cli_strings *list = (cli_strings *)(void *)((char *)settings + o->offset);
        free(list->item);
        *list = (cli_strings){0};
    }
}

/* --- help --- */

/* Print text of an option, with continuation lines if it exceeds HELP_MOST. */
static void help_words(FILE *to, const char *text, int *column) {
    while (*text) {
        const int space = *text == ' ', length = space + (int)strcspn(text + space, " ");
        if (*column + length > HELP_MOST) {
            fprintf(to, "\n%*s%.*s", HELP_COLUMN, "", length - space, text + space);
            *column = HELP_COLUMN + length - space;
        } else {
            fprintf(to, "%.*s", length, text);
            *column += length;
        }
        text += length;
    }
}

/* Print the help of an option, its choices and its default. */
static void help_text(FILE *to, const cli_option *o) {
    int column = HELP_COLUMN;
    char word[160];
    help_words(to, o->help, &column);
    if (o->kind == CLI_CHOICE) fputc(':', to), column++;
    for (int i = 0; o->kind == CLI_CHOICE && o->choices[i]; i++) {
        snprintf(word, sizeof word, " %s%s", o->choices[i], o->choices[i + 1] ? "," : "");
        help_words(to, word, &column);
    }
    if (!o->initial) return;
    snprintf(word, sizeof word, " [%s]", o->initial);
    help_words(to, word, &column);
}

static void help_line(FILE *to, const cli_option *o) {
    char left[80];
    char letter[] = {'-', o->letter, ',', ' ', 0};
    int width = snprintf(left, sizeof left, "  %s--%s%s%s", o->letter ? letter : "    ", o->name,
                         o->argument ? " " : "", o->argument ? o->argument : "");
    fputs(left, to);
    if (width > HELP_COLUMN - 2) {
        fputc('\n', to);
        width = 0;
    }
    fprintf(to, "%*s", HELP_COLUMN - width, "");
    help_text(to, o);
    fputc('\n', to);
}

/* Print paragraphs wrapped at HELP_WIDTH, with an empty line before each. */
static void help_paragraphs(FILE *to, const char *text) {
    int column = 0;
    fputc('\n', to);
    while (*(text += strspn(text, " \n"))) {
        int length = (int)strcspn(text, " \n");
        bool fits = column + 1 + length <= HELP_WIDTH;
        if (column) fputc(fits ? ' ' : '\n', to);
        column = column && fits ? column + 1 + length : length;
        fprintf(to, "%.*s", length, text);
        text += length;
        if (strncmp(text, "\n\n", 2) != 0 || !text[2]) continue;
        fputs("\n\n", to);
        column = 0;
    }
    fputc('\n', to);
}

bool cli_options_begins_group(const cli_verb *verb, const cli_option *o) {
    return o->group && (o == verb->options || !o[-1].group || strcmp(o[-1].group, o->group) != 0);
}

/* The lines of --help and --help-all. The latter names the groups that only it lists. */
static void help_on_help(const cli_verb *verb, FILE *to) {
    int column = HELP_COLUMN;
    const char *before = ", with those of ";
    fprintf(to, "  -h, --help%*sthe usual options\n", HELP_COLUMN - 12, "");
    fprintf(to, "      --help-all%*s", HELP_COLUMN - 16, "");
    help_words(to, "all options", &column);
    for (const cli_option *o = verb->options; o->name; o++) {
        if (!cli_options_begins_group(verb, o)) continue;
        char words[80];
        snprintf(words, sizeof words, "%s%s", before, o->group);
        help_words(to, words, &column);
        before = ", ";
    }
    fputc('\n', to);
}

void cli_options_help(const cli_verb *verb, bool all, FILE *to) {
    fprintf(to, "taper %s: %s\n\nusage: taper %s %s\n", verb->name, verb->what, verb->name,
            verb->synopsis);
    if (verb->about) help_paragraphs(to, verb->about);
    if (verb->details) help_paragraphs(to, verb->details);
    fputs("\noptions [default]:\n", to);
    for (const cli_option *o = verb->options; o->name; o++)
        if (!o->group) help_line(to, o);
    help_on_help(verb, to);
    for (const cli_option *o = verb->options; o->name && all; o++) {
        if (cli_options_begins_group(verb, o)) fprintf(to, "\n%s:\n", o->group);
        if (o->group) help_line(to, o);
    }
    if (verb->examples) {
        fputs("\nexamples:\n", to);
        for (const char *line = verb->examples; *line;) {
            int n = (int)strcspn(line, "\n");
            fprintf(to, "  %.*s\n", n, line);
            line += n + (line[n] == '\n');
        }
    }
}

int cli_strings_append(const char *verb, cli_strings *to, char **words, size_t n) {
    if (!n) return CLI_DONE;
    const char **item = realloc(to->item, (to->count + n) * sizeof *item);
    if (!item) return cli_fail(verb, NULL, TAPER_ERR_NOMEM, NULL);
    to->item = item;
    for (size_t k = 0; k < n; k++) item[to->count++] = words[k];
    return CLI_DONE;
}

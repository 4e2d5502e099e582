/* options.h -- one table of options per verb, from which come parsing, --help, the manual page and
 * the shell completions, so that they cannot drift apart.
 *
 * A verb looks like this:
 *
 *     typedef struct settings {
 *         cli_common common;
 *         const char *output;
 *         int64_t units;
 *         int family;
 *     } settings;
 *     static const char *const families[] = {"pca", "dense", NULL};
 *     static const cli_option options[] = {
 *         {"output", 'o', CLI_STRING, "FILE", offsetof(settings, output),
 *          .help = "write the model here"},
 *         {"units", 'k', CLI_INT, "N", offsetof(settings, units), .initial = "1024",
 *          .min = 1, .max = 65536, .help = "length of the code"},
 *         {"family", 0, CLI_CHOICE, "NAME", offsetof(settings, family), .initial = "pca",
 *          .choices = families, .help = "kind of model"},
 *         CLI_OUTPUT_OPTIONS(settings), CLI_TALK_OPTIONS(settings), CLI_WORK_OPTIONS(settings),
 *         CLI_LIMIT_OPTIONS(settings), {0}};
 *     const cli_verb cli_verb_train = {
 *         .name = "train", .run = cmd_train, .what = "learn a model from images",
 *         .synopsis = "[options] -o MODEL INPUT...", .options = options,
 *         .about = "...", .examples = "..."};
 *
 *     int cmd_train(int argc, char **argv) {
 *         settings s = {0};
 *         int first, stop = cli_options_parse(&cli_verb_train, argc, argv, &s, &first);
 *         if (stop >= 0) return stop;
 *         ... argv[first] .. argv[argc - 1] are the operands ...
 *     }
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H
#include "cli/common/messages.h"
#include <stdio.h>

typedef enum cli_option_kind { /* what the settings' member is */
    CLI_FLAG,    /* int: how often it was given; takes no argument */
    CLI_INT,     /* int64_t */
    CLI_SIZE,    /* uint64_t, written as cli_parse_size takes it */
    CLI_AMOUNT,  /* double, written as cli_parse_amount takes it */
    CLI_DOUBLE,  /* double */
    CLI_STRING,  /* const char *, into argv */
    CLI_CHOICE,  /* int: index into choices */
    CLI_STRINGS, /* cli_strings: may be given several times */
    CLI_NUMBERS  /* cli_numbers: "0.25,0.5,1", or several times, or both */
} cli_option_kind;

typedef struct cli_strings {
    const char **item; /* [count], into argv; the array is freed by cli_options_free */
    size_t count;
} cli_strings;

enum { CLI_MAX_NUMBERS = 64 };
typedef struct cli_numbers {
    double item[CLI_MAX_NUMBERS];
    size_t count;
} cli_numbers;

typedef struct cli_option {
    const char *name;           /* long name without the dashes; NULL ends the table */
    char letter;                /* short form, or 0 */
    cli_option_kind kind;
    const char *argument;       /* its name in the help; NULL for flags. For "FILE", "DIR", "MODEL"
                                   and "CONTAINER" the completions offer paths */
    size_t offset;              /* of the member in the verb's settings */
    const char *initial;        /* the default as one would write it: stored before parsing, and
                                   shown; NULL: the member stays as it is and nothing is shown */
    double min, max;            /* inclusive range of what is a number or several; both 0: any */
    const char *const *choices; /* CLI_CHOICE: NULL-ended */
    const char *help;           /* one line, lower case, no full stop */
    unsigned uses;              /* settings, as bits of the verb's own, of which one must hold for
                                   the option to count; 0: it always does */
    const char *with;           /* the option without which this one does nothing; or NULL */
} cli_option;

typedef struct cli_verb {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;          /* one line for `taper --help`: lower case, no full stop */
    const char *synopsis;      /* what follows "taper NAME" in the usage line */
    const cli_option *options; /* ended by {0} */
    const char *about;         /* sentences for --help and the manual, an empty line between two
                                  paragraphs; or NULL */
    const char *examples;      /* lines "command    # what it does", each ended by \n; or NULL */
    const char *const *uses;   /* of bit k of cli_option.uses: what it is for, "--family dense";
                                  NULL-ended; NULL where no option has any */
} cli_verb;

extern const char *const cli_layouts[]; /* in the order of taper_layout */
extern const char *const cli_alphas[];  /* of formats_alpha */

/* Entries that most verbs share; S is the verb's settings type, with `cli_common common` in it. */
#define CLI_OUTPUT_OPTIONS(S)                                                                      \
    {"force", 'f', CLI_FLAG, .offset = offsetof(S, common.force),                                  \
     .help = "overwrite existing outputs"}
#define CLI_TALK_OPTIONS(S)                                                                        \
    {"quiet", 'q', CLI_FLAG, .offset = offsetof(S, common.quiet),                                  \
     .help = "no progress and no notes"},                                                          \
    {"verbose", 'v', CLI_FLAG, .offset = offsetof(S, common.verbose),                              \
     .help = "say more; twice for even more"}
#define CLI_NULL_OPTION(S)                                                                         \
    {"null", 0, CLI_FLAG, .offset = offsetof(S, null_list), .with = "filelist",                    \
     .help = "names in --filelist end in a NUL byte, as those of `find -print0`"}

#define CLI_FOLLOW_OPTION(S)                                                                       \
    {"follow-links", 0, CLI_FLAG, .offset = offsetof(S, follow_links),                             \
     .help = "enter links to folders too, within the folder given"}
#define CLI_JSON_OPTION(S)                                                                         \
    {"json", 0, CLI_FLAG, .offset = offsetof(S, common.json),                                      \
     .help = "JSON lines on standard output"}
#define CLI_THREADS_OPTION(S)                                                                      \
    {"threads", 'T', CLI_INT, "N", offsetof(S, common.threads), .initial = "0",                    \
     .min = 0, .max = 1024, .help = "worker threads; 0: one per processor"}
#define CLI_ALPHA_OPTION(S)                                                                        \
    {"alpha", 0, CLI_CHOICE, "WHAT", offsetof(S, alpha), .initial = "refuse",                      \
     .choices = cli_alphas, .help = "images with transparency"}
#define CLI_WORK_OPTIONS(S)                                                                        \
    CLI_THREADS_OPTION(S),                                                                         \
    {"device", 0, CLI_STRING, "NAME", offsetof(S, common.device), .initial = "auto",               \
     .help = "auto, cpu, cuda or cuda:N; shadow: a slow cpu, for tests"}
#define CLI_CODING_OPTIONS(S)                                                                      \
    CLI_THREADS_OPTION(S),                                                                         \
    {"device", 0, CLI_STRING, "NAME", offsetof(S, common.device), .initial = "auto",               \
     .help = "auto or cpu: coding runs on the processor"}
#define CLI_LIMIT_OPTIONS(S)                                                                       \
    {"max-pixels", 0, CLI_SIZE, "N", offsetof(S, common.max_pixels), .initial = "256M",            \
     .help = "refuse images of more pixels"},                                                      \
    {"max-images", 0, CLI_SIZE, "N", offsetof(S, common.max_images),                               \
     .help = "refuse sets of more images; default: 64M, of small files fewer"},                    \
    {"max-memory", 0, CLI_SIZE, "SIZE", offsetof(S, common.max_memory), .initial = "4G",           \
     .help = "refuse inputs that need more memory"},                                               \
    {"max-model", 0, CLI_SIZE, "SIZE", offsetof(S, common.max_model),                              \
     .help = "refuse models of more bytes unpacked; default: 512M, of small files less"},          \
    {"max-work", 0, CLI_SIZE, "N", offsetof(S, common.max_work), .initial = "200000",              \
     .help = "refuse models that may take more multiply-adds a pixel"}

/* Store the defaults, then the options of argv (argv[0] is the verb). Operands and options may be
 * mixed; argv is permuted so that the operands are argv[*first] .. argv[argc - 1]. Returns -1 to go
 * on; else an exit code to return at once: CLI_DONE after --help, CLI_USAGE after one sentence and
 * a hint on standard error. Not for several threads at once (getopt_long). */
int cli_options_parse(const cli_verb *verb, int argc, char **argv, void *settings, int *first);

/* The same with other defaults: words as one would type them, "--family", "pca", NULL-ended, which
 * do not count as given. */
int cli_options_parse_over(const cli_verb *verb, const char *const *words, int argc, char **argv,
                           void *settings, int *first);

/* Was the option given, as opposed to defaulted? Answers for the last cli_options_parse. */
bool cli_options_given(const char *name);

/* How often -v was given, less -q. Answers for the last cli_options_parse. */
int cli_options_verbose(void);

/* Where -q is followed by a number that names no file: say what -q means and what sets the quality,
 * and return CLI_USAGE; else CLI_DONE. In other encoders -q sets it. For verbs with --psnr. */
int cli_options_check_quality(const cli_verb *verb, char *const *operands, size_t n);

/* Name in one line on standard error the options that were given but do nothing, as none of their
 * uses is among those of this run, or as the one that they go with was not given. Answers for the
 * last cli_options_parse. */
void cli_options_name_idle(const cli_verb *verb, unsigned uses);

/* Free the arrays of CLI_STRINGS options. */
void cli_options_free(const cli_verb *verb, void *settings);

/* Say why this verb's command line cannot be carried out, and where to look; returns CLI_USAGE. */
int cli_usage(const cli_verb *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* `taper VERB --help`. */
void cli_options_help(const cli_verb *verb, FILE *to);

/* Of a NULL-ended list, the candidate nearest to word by edit distance, when it is near enough to
 * be meant; else NULL. */
const char *cli_nearest(const char *word, const char *const *candidates);

#endif

/* options.h -- one table of options per verb. Parsing, --help, the manual page and the shell
 * completions all use it.
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
 *         CLI_OUTPUT_OPTIONS(settings), CLI_MESSAGE_OPTIONS(settings), CLI_WORK_OPTIONS(settings),
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

/* Type of the member in the settings, and syntax of the argument. */
typedef enum cli_option_kind {
    CLI_FLAG,    /* int: how often the option was given; no argument */
    CLI_INT,     /* int64_t */
    CLI_SIZE,    /* uint64_t; syntax of cli_parse_size */
    CLI_AMOUNT,  /* double; syntax of cli_parse_amount */
    CLI_DOUBLE,  /* double */
    CLI_STRING,  /* const char *, into argv */
    CLI_CHOICE,  /* int: index into choices */
    CLI_STRINGS, /* cli_strings: may be given several times */
    CLI_NUMBERS  /* cli_numbers: "0.25,0.5,1"; may be given several times */
} cli_option_kind;

typedef struct cli_strings {
    const char **item; /* [count], into argv; the array is freed by cli_options_free */
    size_t count;
} cli_strings;

/* Append operands to the values of an option, which cli_options_free frees. Returns an exit code,
 * after a message. */
int cli_strings_append(const char *verb, cli_strings *to, char **words, size_t n);

enum { CLI_MAX_NUMBERS = 64 };
typedef struct cli_numbers {
    double item[CLI_MAX_NUMBERS];
    size_t count;
} cli_numbers;

typedef struct cli_option {
    const char *name; /* long name without the dashes; NULL ends the table */
    char letter;      /* short form, or 0 */
    cli_option_kind kind;
    /* Name of the argument in the help; NULL for flags. Completions offer paths for "FILE", "DIR",
     * "MODEL" and "CONTAINER". */
    const char *argument;
    size_t offset; /* of the member in the settings of the verb */
    /* The default, as on a command line: stored before parsing, and shown in the help. NULL: the
     * member is unchanged and nothing is shown. */
    const char *initial;
    double min, max;            /* inclusive range of numbers; both 0: any */
    const char *const *choices; /* CLI_CHOICE: NULL-terminated */
    const char *help;           /* one line, lower case, no full stop */
    /* Bits of cli_verb.uses. The option has an effect only if one of these uses applies; 0: always.
     */
    unsigned uses;
    const char *with; /* the option without which this one has no effect; or NULL */
    /* Heading of a group of options that --help leaves out and --help-all lists; NULL: in --help.
     * Options of a group follow each other in the table. */
    const char *group;
} cli_option;

typedef struct cli_verb {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *what;          /* one line for `taper --help`: lower case, no full stop */
    const char *synopsis;      /* follows "taper NAME" in the usage line */
    const cli_option *options; /* ended by {0} */
    const char *about;         /* text for --help and the manual; "\n\n" separates paragraphs */
    const char *details;       /* more such text, as literals have at most 4,095 bytes; or NULL */
    const char *examples;      /* lines "command    # comment\n"; or NULL */
    /* Description of each bit of cli_option.uses, such as "--family dense"; NULL-terminated. NULL
     * if no option has uses. */
    const char *const *uses;
    /* Verbs that are named if one of their options is given to this one; NULL-terminated. NULL:
     * none. */
    const struct cli_verb *const *relatives;
} cli_verb;

extern const char *const cli_layouts[]; /* in the order of taper_layout */
extern const char *const cli_alphas[];  /* in the order of formats_alpha */
extern const char *const cli_frames[];  /* 0: the first; 1: all */

/* Entries that most verbs share. S: the type of the settings, with a member `cli_common common`. */
#define CLI_OUTPUT_OPTIONS(S)                                        \
    {                                                                \
        "force", 'f', CLI_FLAG, .offset = offsetof(S, common.force), \
                                .help = "overwrite existing outputs" \
    }
#define CLI_MESSAGE_OPTIONS(S)                                           \
    {"quiet", 'q', CLI_FLAG, .offset = offsetof(S, common.quiet),        \
     .help = "print no progress and no notes"},                          \
    {                                                                    \
        "verbose", 'v', CLI_FLAG, .offset = offsetof(S, common.verbose), \
                                  .help = "print more; twice: even more" \
    }
#define CLI_NULL_OPTION(S)                                                           \
    {                                                                                \
        "null", 0, CLI_FLAG,                                                         \
            .offset = offsetof(S, null_list), .with = "filelist", .group = "inputs", \
            .help = "paths in --filelist end in a NUL byte, as with `find -print0`"  \
    }

#define CLI_FOLLOW_OPTION(S)                                                                  \
    {                                                                                         \
        "follow-links", 0, CLI_FLAG,                                                          \
            .offset = offsetof(S, follow_links), .group = "inputs",                           \
            .help = "also enter links to folders that lead to a place below the given folder" \
    }
#define CLI_FRAMES_OPTION(S)                                                                     \
    {                                                                                            \
        "frames", 0, CLI_CHOICE, "WHICH", offsetof(S, frames),                                   \
            .initial = "first", .choices = cli_frames, .group = "inputs",                        \
            .help = "of animations and files of pages: the first picture, or all, each an image" \
    }
#define CLI_JSON_OPTION(S)                                                 \
    {                                                                      \
        "json", 0, CLI_FLAG, .offset = offsetof(S, common.json),           \
                             .help = "print JSON lines on standard output" \
    }
#define CLI_THREADS_OPTION(S)                                                                     \
    {                                                                                             \
        "threads", 'T', CLI_INT, "N", offsetof(S, common.threads),                                \
            .initial = "0", .min = 0, .max = 1024, .help = "worker threads; 0: one per processor" \
    }
#define CLI_ALPHA_OPTION(S, INITIAL)                                      \
    {                                                                     \
        "alpha", 0, CLI_CHOICE, "WHAT", offsetof(S, alpha),               \
            .initial = INITIAL, .choices = cli_alphas, .group = "inputs", \
            .help = "how to handle transparency"                          \
    }
#define CLI_WORK_OPTIONS(S)                                                                       \
    CLI_THREADS_OPTION(S), {                                                                      \
        "device", 0, CLI_STRING, "NAME", offsetof(S, common.device),                              \
            .initial = "auto", .help = "auto, cpu, cuda or cuda:N; shadow: a slow cpu, for tests" \
    }
#define CLI_CODING_OPTIONS(S)                                                                    \
    CLI_THREADS_OPTION(S), {                                                                     \
        "device", 0, CLI_STRING, "NAME", offsetof(S, common.device),                             \
            .initial = "auto", .help = "auto or cpu; encoding and decoding run on the processor" \
    }
#define CLI_LIMIT_OPTIONS(S)                                                                      \
    {"max-pixels",                                                                                \
     0,                                                                                           \
     CLI_SIZE,                                                                                    \
     "N",                                                                                         \
     offsetof(S, common.max_pixels),                                                              \
     .initial = "256M",                                                                           \
     .group = "limits",                                                                           \
     .help = "refuse images of more pixels"},                                                     \
        {"max-images",                                                                            \
         0,                                                                                       \
         CLI_SIZE,                                                                                \
         "N",                                                                                     \
         offsetof(S, common.max_images),                                                          \
         .group = "limits",                                                                       \
         .help = "refuse sets of more images; default: 64M, less for small files"},               \
        {"max-memory",                                                                            \
         0,                                                                                       \
         CLI_SIZE,                                                                                \
         "SIZE",                                                                                  \
         offsetof(S, common.max_memory),                                                          \
         .initial = "4G",                                                                         \
         .group = "limits",                                                                       \
         .help = "refuse inputs that need more memory"},                                          \
        {"max-model",                                                                             \
         0,                                                                                       \
         CLI_SIZE,                                                                                \
         "SIZE",                                                                                  \
         offsetof(S, common.max_model),                                                           \
         .group = "limits",                                                                       \
         .help = "refuse models that unpack to more bytes; default: 512M, less for small files"}, \
    {                                                                                             \
        "max-work", 0, CLI_SIZE, "N", offsetof(S, common.max_work),                               \
            .initial = "200000", .group = "limits",                                               \
            .help = "refuse models that may need more multiply-adds per pixel"                    \
    }

/* Store the defaults, then the options of argv (argv[0] is the verb). Operands and options may be
 * mixed; argv is permuted so that the operands are argv[*first] .. argv[argc - 1]. Returns -1 on
 * success. Otherwise returns an exit code for the verb: CLI_DONE after --help or --help-all,
 * CLI_USAGE after an error message. Not thread-safe (getopt_long). */
int cli_options_parse(const cli_verb *verb, int argc, char **argv, void *settings, int *first);

/* The same with other defaults. words: options as on a command line ("--family", "pca"),
 * NULL-terminated; they do not count as given. */
int cli_options_parse_over(const cli_verb *verb, const char *const *words, int argc, char **argv,
                           void *settings, int *first);

/* True if the option was given in the last cli_options_parse. */
bool cli_options_given(const char *name);

/* How often -v was given, minus -q, in the last cli_options_parse. */
int cli_options_verbose(void);

/* In other encoders -q sets the quality. If -q is followed by a number that is not a file, print
 * what -q means and which option sets the quality, and return CLI_USAGE; else CLI_DONE. For verbs
 * with --psnr. */
int cli_options_check_quality(const cli_verb *verb, char *const *operands, size_t n);

/* Warn about options of the last cli_options_parse that have no effect: none of their uses is in
 * `uses`, or the option `with` was not given. */
void cli_options_name_idle(const cli_verb *verb, unsigned uses);

/* Free the arrays of CLI_STRINGS options. */
void cli_options_free(const cli_verb *verb, void *settings);

/* Print why the command line is wrong, with a reference to --help; returns CLI_USAGE. */
int cli_usage(const cli_verb *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* `taper VERB --help`; all: `taper VERB --help-all`. */
void cli_options_help(const cli_verb *verb, bool all, FILE *to);

/* True if the option begins a group. */
bool cli_options_begins_group(const cli_verb *verb, const cli_option *option);

/* The candidate with the smallest edit distance to word, if that is small; else NULL. candidates:
 * NULL-terminated. */
const char *cli_nearest(const char *word, const char *const *candidates);

#endif

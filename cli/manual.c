/* manual.c -- manual pages from the option tables; see manual.h. */
#include "cli/manual.h"
#include <ctype.h>
#include <string.h>

/* Write text as roff, with hyphens that can be copied and no accidental requests. n < 0: the whole
 * text. */
static void roff(FILE *to, const char *text, int n) {
    for (int i = 0; text[i] && (n < 0 || i < n); i++) {
        bool line_start = i == 0 || text[i - 1] == '\n';
        if (line_start && (text[i] == '.' || text[i] == '\'')) fputs("\\&", to);
        if (text[i] == '-')
            fputs("\\-", to);
        else if (text[i] == '\\')
            fputs("\\e", to);
        else
            fputc(text[i], to);
    }
}

/* Write paragraphs, which are separated by empty lines. */
static void paragraphs(FILE *to, const char *text) {
    while (*text) {
        const char *end = strstr(text, "\n\n");
        int n = end ? (int)(end - text) : (int)strlen(text);
        roff(to, text, n);
        fputs("\n", to);
        text += n;
        text += strspn(text, "\n");
        if (*text) fputs(".PP\n", to);
    }
}

static void heading(FILE *to, const char *name, const char *what) {
    fputs(".TH ", to);
    for (const char *c = name; *c; c++) fputc(toupper((unsigned char)*c), to);
    fprintf(to, " 1 \"\" \"taper %s\" \"taper manual\"\n.SH NAME\n", TAPER_VERSION);
    roff(to, name, -1);
    fputs(" \\- ", to);
    roff(to, what, -1);
    fputs("\n", to);
}

static void option_entry(FILE *to, const cli_option *o) {
    fputs(".TP\n", to);
    if (o->letter) fprintf(to, "\\fB\\-%c\\fR, ", o->letter);
    fputs("\\fB\\-\\-", to);
    roff(to, o->name, -1);
    fputs("\\fR", to);
    if (o->argument) fprintf(to, " \\fI%s\\fR", o->argument);
    fputs("\n", to);
    roff(to, o->help, -1);
    if (o->kind == CLI_CHOICE) {
        fputs(": ", to);
        for (int i = 0; o->choices[i]; i++)
            fprintf(to, "%s\\fB%s\\fR", i ? ", " : "", o->choices[i]);
    }
    fputs(".\n", to);
    if (o->kind == CLI_STRINGS || o->kind == CLI_NUMBERS)
        fputs("May be given several times.\n", to);
    if (o->kind != CLI_CHOICE && !(o->min == 0 && o->max == 0))
        fprintf(to, "From %.10g to %.10g.\n", o->min, o->max);
    if (o->initial) {
        fputs("Default: ", to);
        roff(to, o->initial, -1);
        fputs(".\n", to);
    }
}

static void exit_codes(FILE *to) {
    static const char *const codes[][2] = {
        {"0", "Done."},
        {"1", "Some inputs failed and were named; the rest was done."},
        {"2", "The command line cannot be carried out as written."},
        {"3", "An input is damaged, too short to hold its header, or of another version."},
        {"4", "An input was cut; only under \\-\\-strict, as a cut file is normal."},
        {"5",
         "The operating system or a device refused, or the target exists and \\-f was not given."},
        {"6", "Above a limit, or out of memory."},
        {"130, 143", "Ended by SIGINT or SIGTERM; nothing half\\-written is left."}};
    fputs(".SH EXIT STATUS\n", to);
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        fprintf(to, ".TP\n\\fB%s\\fR\n%s\n", codes[i][0], codes[i][1]);
}

void cli_manual_verb(const cli_verb *verb, FILE *to) {
    char name[64];
    snprintf(name, sizeof name, "taper-%s", verb->name);
    heading(to, name, verb->what);
    fprintf(to, ".SH SYNOPSIS\n\\fBtaper %s\\fR ", verb->name);
    roff(to, verb->synopsis, -1);
    fputs("\n", to);
    if (verb->about) {
        fputs(".SH DESCRIPTION\n", to);
        paragraphs(to, verb->about);
    }
    if (verb->details) {
        fputs(".PP\n", to);
        paragraphs(to, verb->details);
    }
    fputs(".SH OPTIONS\nSizes take the suffixes K, M, G, T (powers of 1024).\n", to);
    fputs(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nPrint a summary of the usual options.\n"
          ".TP\n\\fB\\-\\-help\\-all\\fR\nPrint a summary of all options.\n",
          to);
    for (const cli_option *o = verb->options; o->name; o++) {
        if (cli_options_begins_group(verb, o)) fprintf(to, ".SS %s\n", o->group);
        option_entry(to, o);
    }
    if (verb->examples) {
        fputs(".SH EXAMPLES\n.nf\n", to);
        roff(to, verb->examples, -1);
        fputs(".fi\n", to);
    }
    exit_codes(to);
    fputs(".SH SEE ALSO\n.BR taper (1)\n", to);
}

void cli_manual_main(const cli_verb *const *verbs, FILE *to) {
    heading(to, "taper", "sets of images in one file that can be cut anywhere");
    fputs(".SH SYNOPSIS\n\\fBtaper\\fR \\fIVERB\\fR [options] ...\n.br\n\\fBtaper help\\fR "
          "\\fIVERB\\fR\n.br\n"
          "\\fBtaper \\-\\-version\\fR [\\fB\\-v\\fR]\n.SH DESCRIPTION\n",
          to);
    paragraphs(
        to,
        "taper turns a set of images into one file of which every prefix is a complete, coarser "
        "copy "
        "of the whole set; every further byte makes it better.\n\n"
        "Data goes to standard output, words to standard error. \"-\" stands for standard input or "
        "output. Outputs appear whole or not at all; nothing is overwritten without -f.");
    fputs(".SH VERBS\n", to);
    for (; *verbs; verbs++) {
        fprintf(to, ".TP\n\\fB%s\\fR\n", (*verbs)->name);
        roff(to, (*verbs)->what, -1);
        fprintf(to, ": see \\fBtaper\\-%s\\fR(1).\n", (*verbs)->name);
    }
    fputs(".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nWhen set, messages carry no colour.\n", to);
    exit_codes(to);
}

/* test_options.c -- the option tables: parsing, refusals with their sentences, help, manual and
 * completions. */
#include "cli/manual.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* after the four headers it needs */
#include <cmocka.h>

typedef struct settings {
    cli_common common;
    int64_t units;
    uint64_t bytes;
    double rate;
    const char *output;
    int family;
    cli_strings inputs;
    cli_numbers bpp;
    int before; /* a flag that is not in CLI_MESSAGE_OPTIONS */
} settings;

static int run_probe(int argc, char **argv) {
    (void)argv;
    return argc;
}

static const char *const families[] = {"pca", "dense", NULL};
static const cli_option options[] = {
    {"units", 'k', CLI_INT, "N", offsetof(settings, units), .initial = "64", .min = 1, .max = 4096,
     .help = "length of the code"},
    {"bytes", 'b', CLI_SIZE, "SIZE", offsetof(settings, bytes), .min = 1, .max = 1e9,
     .help = "size of the result"},
    {"rate", 'r', CLI_DOUBLE, "R", offsetof(settings, rate), .initial = "0.5", .min = 0, .max = 24,
     .help = "bits per pixel"},
    {"output", 'o', CLI_STRING, "FILE", offsetof(settings, output), .help = "write here"},
    {"family", 0, CLI_CHOICE, "NAME", offsetof(settings, family), .initial = "dense",
     .choices = families, .help = "kind of model"},
    {"input", 'i', CLI_STRINGS, "FILE", offsetof(settings, inputs), .help = "read this too"},
    {"bpp", 0, CLI_NUMBERS, "LIST", offsetof(settings, bpp), .initial = "1,2", .min = 0, .max = 24,
     .help = "rates"},
    {"before", 0, CLI_FLAG, .offset = offsetof(settings, before),
     .help = "it's a flag: with [brackets]"},
    CLI_OUTPUT_OPTIONS(settings),
    CLI_MESSAGE_OPTIONS(settings),
    CLI_JSON_OPTION(settings),
    CLI_WORK_OPTIONS(settings),
    CLI_LIMIT_OPTIONS(settings),
    {0}};
static const cli_verb probe = {.name = "probe",
                               .run = run_probe,
                               .what = "try the options",
                               .synopsis = "[options] FILE...",
                               .options = options,
                               .about = "First paragraph.\n\n.Second, with a \\ and a - in it.",
                               .examples = "taper probe x    # try\ntaper probe y    # again\n"};

/* Parse a command line given as words; what is printed on stdout and stderr lands in `said`. */
static char said[8192];
static int parse(settings *s, int *first, char ***argv_out, ...) {
    static char *argv[32];
    int argc = 0;
    va_list words;
    va_start(words, argv_out);
    for (char *word; (word = va_arg(words, char *)) != NULL;) argv[argc++] = word;
    va_end(words);
    argv[argc] = NULL;
    memset(s, 0, sizeof *s);
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stdout);
    int out = dup(1), err = dup(2);
    dup2(fileno(file), 1);
    dup2(fileno(file), 2);
    int result = cli_options_parse(&probe, argc, argv, s, first);
    fflush(stdout);
    dup2(out, 1);
    dup2(err, 2);
    close(out);
    close(err);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = 0;
    fclose(file);
    if (argv_out) *argv_out = argv;
    return result;
}

static void defaults_are_stored(void **state) {
    (void)state;
    settings s;
    int first;
    assert_int_equal(parse(&s, &first, NULL, "probe", NULL), -1);
    assert_int_equal(first, 1);
    assert_int_equal(s.units, 64);
    assert_true(s.rate == 0.5);
    assert_int_equal(s.family, 1);
    assert_int_equal(s.bpp.count, 2);
    assert_null(s.output);
    assert_string_equal(s.common.device, "auto");
    assert_int_equal(s.common.max_memory, (uint64_t)1 << 32);
    assert_int_equal(s.common.max_pixels, (uint64_t)1 << 28);
    assert_false(cli_options_given("units"));
    /* the limits shown in the help are those of the library */
    taper_limits library = formats_limits_or_default(NULL), shown = cli_limits(&s.common);
    assert_memory_equal(&library, &shown, sizeof library);
}

static void every_kind_is_stored(void **state) {
    (void)state;
    settings s;
    int first;
    char **argv;
    assert_int_equal(parse(&s, &first, &argv, "probe", "a.png", "-k", "12", "--bytes=1.5K", "b.png",
                           "--rate", "2e-1", "-oout", "--family", "pca", "-i", "x", "-iy", "--bpp",
                           "0.25,0.5", "--bpp=4", "-fvv", "--before", "-T3", "--", "-k", NULL),
                     -1);
    assert_int_equal(s.units, 12);
    assert_int_equal(s.bytes, 1536);
    assert_true(s.rate == 0.2);
    assert_string_equal(s.output, "out");
    assert_int_equal(s.family, 0);
    assert_int_equal(s.inputs.count, 2);
    assert_string_equal(s.inputs.item[1], "y");
    assert_int_equal(s.bpp.count, 3);
    assert_true(s.bpp.item[0] == 0.25 && s.bpp.item[2] == 4);
    assert_int_equal(s.common.force, 1);
    assert_int_equal(s.common.verbose, 2);
    assert_int_equal(s.before, 1);
    assert_int_equal(cli_threads(&s.common), 3);
    assert_true(cli_options_given("units") && !cli_options_given("quiet"));
    assert_string_equal(argv[first], "a.png");
    assert_string_equal(argv[first + 1], "b.png");
    assert_string_equal(argv[first + 2], "-k");
    assert_null(argv[first + 3]);
    cli_options_free(&probe, &s);
    assert_null(s.inputs.item);
}

static void bad_usage_says_what_to_do(void **state) {
    (void)state;
    static const struct {
        const char *words[2], *sentence;
    } cases[] = {
        {{"--unots", "3"}, "unknown option '--unots'; did you mean '--units'?"},
        {{"--unots=3", NULL}, "unknown option '--unots'; did you mean '--units'?"},
        {{"--zzzzzzzz", NULL}, "unknown option '--zzzzzzzz' (see: taper probe --help)"},
        {{"-Z", NULL}, "unknown option '-Z'"},
        {{"--units", NULL}, "option '--units' needs an argument"},
        {{"-k", NULL}, "option '-k' needs an argument"},
        {{"--quiet=3", NULL}, "option '--quiet' takes no argument"},
        {{"--max", "3"}, "option '--max' is ambiguous"},
        {{"--units", "0"}, "--units takes a whole number from 1 to 4096, not '0'"},
        {{"--units", "4097"}, "--units takes a whole number from 1 to 4096, not '4097'"},
        {{"--rate", "24.01"}, "--rate takes a number from 0 to 24, not '24.01'"},
        {{"--units", "12x"}, "--units takes a whole number from 1 to 4096, not '12x'"},
        {{"--units", "99999999999999999999"}, "--units takes a whole number from 1 to 4096"},
        {{"--rate", "nan"}, "--rate takes a number from 0 to 24, not 'nan'"},
        {{"--rate", "0x3"}, "--rate takes a number from 0 to 24, not '0x3'"},
        {{"--bpp", "1,,2"},
         "--bpp takes numbers with commas between them from 0 to 24, not '1,,2'"},
        {{"--bytes", "12Q"},
         "--bytes takes a size such as 64K or 1.5M from 1 to 1000000000, not '12Q'"},
        {{"--family", "dens"},
         "--family takes one of pca, dense, not 'dens'; did you mean 'dense'?"},
        {{"--rate", "\033[31m"}, "not '\\x1b[31m'"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        settings s;
        int first;
        assert_int_equal(
            parse(&s, &first, NULL, "probe", cases[i].words[0], cases[i].words[1], NULL),
            CLI_USAGE);
        if (!strstr(said, cases[i].sentence))
            fail_msg("'%s' does not hold '%s'", said, cases[i].sentence);
        assert_non_null(strstr(said, "taper probe: "));
        assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1); /* one line */
    }
}

static void help_lists_the_table(void **state) {
    (void)state;
    settings s;
    int first;
    assert_int_equal(parse(&s, &first, NULL, "probe", "--help", NULL), CLI_DONE);
    assert_non_null(strstr(said, "usage: taper probe [options] FILE...\n"));
    assert_non_null(strstr(said, "  -k, --units N            length of the code [64]\n"));
    assert_non_null(strstr(said, "      --family NAME        kind of model: pca, dense [dense]\n"));
    for (const cli_option *o = options; o->name; o++)
        if (!o->group) assert_non_null(strstr(said, o->name));
    char once[sizeof said];
    memcpy(once, said, sizeof once);
    assert_int_equal(parse(&s, &first, NULL, "probe", "-h", NULL), CLI_DONE);
    assert_string_equal(said, once);
}

/* Options of a group are shown by --help-all only. */
static void groups_are_in_the_long_help(void **state) {
    (void)state;
    settings s;
    int first;
    assert_int_equal(parse(&s, &first, NULL, "probe", "--help", NULL), CLI_DONE);
    assert_null(strstr(said, "--max-pixels"));
    assert_non_null(strstr(said, "--help-all           all options, with those of limits\n"));
    assert_int_equal(parse(&s, &first, NULL, "probe", "--help-all", NULL), CLI_DONE);
    const char *heading = strstr(said, "\nlimits:\n      --max-pixels N ");
    assert_non_null(heading);
    assert_null(strstr(heading + 2, "\nlimits:"));
    assert_true(strstr(said, "--force") < heading);
    assert_non_null(strstr(heading, "--max-work N "));
}

/* What write prints, as text to be freed. */
static char *text_of(void (*write)(FILE *to)) {
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    write(to);
    fclose(to);
    return text;
}
static const cli_verb *const probes[] = {&probe, NULL};
static void write_verb(FILE *to) { cli_manual_verb(&probe, to); }
static void write_main(FILE *to) { cli_manual_main(probes, to); }
static void write_bash(FILE *to) { cli_completion_bash(probes, to); }
static void write_zsh(FILE *to) { cli_completion_zsh(probes, to); }

static void manual_is_made_from_the_table(void **state) {
    (void)state;
    char *text = text_of(write_verb);
    assert_memory_equal(text, ".TH TAPER-PROBE 1 ", 18);
    assert_non_null(strstr(
        text, "\\fB\\-k\\fR, \\fB\\-\\-units\\fR \\fIN\\fR\nlength of the code.\nFrom 1 to 4096."));
    assert_non_null(strstr(text, ".PP\n\\&.Second, with a \\e and a \\- in it.\n"));
    assert_non_null(strstr(text, ".SS limits\n.TP\n\\fB\\-\\-max\\-pixels"));
    assert_non_null(strstr(text, ".SH EXIT STATUS"));
    free(text);
    text = text_of(write_main);
    assert_non_null(strstr(text, ".TP\n\\fBprobe\\fR\ntry the options: see"));
    free(text);
}

/* Run a shell on the script with `then` behind it; skip when the shell is not installed. */
static void run_shell(const char *shell, char *script, const char *then) {
    char command[64];
    snprintf(command, sizeof command, "command -v %.*s >/dev/null 2>&1", (int)strcspn(shell, " "),
             shell);
    if (system(command) != 0) {
        free(script);
        print_message("SKIP %s is not installed\n", shell);
        skip();
    }
    char path[] = "/tmp/taper-options-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *to = fdopen(fd, "w");
    fprintf(to, "%s\n%s\n", script, then);
    fclose(to);
    free(script);
    snprintf(command, sizeof command, "%s %s", shell, path);
    int result = system(command);
    unlink(path);
    assert_int_equal(result, 0);
}

static void bash_completion_works(void **state) {
    (void)state;
    run_shell(
        "bash", text_of(write_bash),
        "COMP_WORDS=(taper pr); COMP_CWORD=1; _taper; [ \"${COMPREPLY[*]}\" = probe ] || exit 1\n"
        "COMP_WORDS=(taper probe --un); COMP_CWORD=2; _taper; [ \"${COMPREPLY[*]}\" = --units ] || "
        "exit 2\n"
        "COMP_WORDS=(taper probe --family d); COMP_CWORD=3; _taper; [ \"${COMPREPLY[*]}\" = dense "
        "] || exit 3\n"
        "COMP_WORDS=(taper probe -o /et); COMP_CWORD=3; _taper; [ \"${COMPREPLY[*]}\" = /etc ] || "
        "exit 4\n");
}

static void zsh_completion_parses(void **state) {
    (void)state;
    char *script = text_of(write_zsh);
    assert_non_null(strstr(script, "'--family[kind of model]:NAME:(pca dense)'"));
    assert_non_null(strstr(script, "'--before[it'\\''s a flag\\: with \\[brackets\\]]'"));
    run_shell("zsh -n", script, ""); /* -n: its functions only run inside the line editor */
}

static void sizes_parse(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {{"0", 0},          {"4096", 4096},
                {"64K", 65536},    {"64k", 65536},
                {"1.5M", 1572864}, {"2GiB", 2147483648u},
                {"1kB", 1000},     {"3MB", 3000000},
                {".5K", 512},      {"1T", (uint64_t)1 << 40},
                {"7B", 7},         {"9007199254740993", 9007199254740993u},
                {"1e3", 1000},     {"1 MB", 1000000},
                {"1 K", 1024},     {"50 kib", 51200},
                {"2mb", 2000000},  {"10 b", 10}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        uint64_t value = 77;
        if (!cli_parse_size(good[i].text, &value)) fail_msg("%s was refused", good[i].text);
        assert_int_equal(value, good[i].value);
    }
    static const char *const bad[] = {
        "",    "K",     "-1",    "-1K",          "1Q",
        "1KK", "1  K",  " 1",    "1 ",           "inf",
        "nan", "0x10",  "1.5.2", "99999999999T", "99999999999999999999",
        "+",   "1e999", "1Kib2", "--1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint64_t value = 77;
        if (cli_parse_size(bad[i], &value))
            fail_msg("'%s' was taken as %llu", bad[i], (unsigned long long)value);
        assert_int_equal(value, 77);
    }
}

static void amounts_parse_as_sizes_do(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"61.5", 61.5}, {"50K", 51200}, {"1 MB", 1e6}, {"0.5", 0.5}, {".5 kB", 500}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        double value = 77;
        if (!cli_parse_amount(good[i].text, &value)) fail_msg("%s was refused", good[i].text);
        assert_true(value == good[i].value);
    }
    static const char *const bad[] = {"", "K", "-1", "1 ", "1  K", "50X", "nan", "1e999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double value = 77;
        if (cli_parse_amount(bad[i], &value)) fail_msg("'%s' was taken as %g", bad[i], value);
        assert_true(value == 77);
    }
}

static void sizes_show(void **state) {
    (void)state;
    char text[16];
    assert_string_equal(cli_show_size(0, text), "0 B");
    assert_string_equal(cli_show_size(1023, text), "1023 B");
    assert_string_equal(cli_show_size(1024, text), "1.0 KiB");
    assert_string_equal(cli_show_size(1048575, text), "1.0 MiB");
    assert_string_equal(cli_show_size(UINT64_MAX, text), "16.0 EiB");
}

static void exit_codes_follow_the_status(void **state) {
    (void)state;
    assert_int_equal(cli_exit_code(TAPER_OK), 0);
    assert_int_equal(cli_exit_code(TAPER_ERR_MODEL), 2);
    assert_int_equal(cli_exit_code(TAPER_ERR_CORRUPT), 3);
    assert_int_equal(cli_exit_code(TAPER_ERR_IO), 5);
    assert_int_equal(cli_exit_code(TAPER_ERR_EXISTS), 5);
    assert_int_equal(cli_exit_code(TAPER_ERR_LIMIT), 6);
}

/* Each fact has its remedy, here and in no text of the library. */
static void facts_become_remedies(void **state) {
    (void)state;
    static const struct {
        taper_fact fact;
        uint64_t needed;
        const char *said;
    } cases[] = {
        {TAPER_FACT_NONE, 0, "no"},
        {TAPER_FACT_MAX_PIXELS, 12, "no; give --max-pixels 12 if you trust the input"},
        {TAPER_FACT_MAX_IMAGES, 13, "no; give --max-images 13 if you trust the input"},
        {TAPER_FACT_MAX_MEMORY, 300 << 20, "no; give --max-memory 300M if you trust the input"},
        {TAPER_FACT_MAX_MODEL_BYTES, 14, "no; give --max-model 14 if you trust the input"},
        {TAPER_FACT_MAX_WORK, 15, "no; give --max-work 15 if you trust the input"},
        {TAPER_FACT_MODEL, 16, "no; give the container's model with -m"},
        {TAPER_FACT_ALPHA, 0, "no; give --alpha white or --alpha drop"},
        {TAPER_FACT_IMAGE_SIZE, 0,
         "no; bring it to that size, or train a model with --window whole on images of its own"},
        {TAPER_FACT_ALLOCATION, 0, "no; give --allocation even"},
        {TAPER_FACT_THREADS, 1, "no; give -T 1"},
        {TAPER_FACT_BYTES_MISSING, 9,
         "no; fetch them, or make it whole with `taper truncate --fraction 1`"},
        {TAPER_FACT_LAYOUT, 1, "no; `taper repack` changes it"},
        {TAPER_FACT_SEARCH_CODES, 1, "no; encode all with the same --embed-with, or none"},
        {TAPER_FACT_LAYERS, 16,
         "no; encode each with --shard 1/1, which gives all the same layers, then merge"},
        {TAPER_FACT_OVERWRITE, 0, "no (-f)"},
        {TAPER_FACT_NO_MODEL, 0, "no; make one with `taper train`"},
        {TAPER_FACT_NO_INDEX, 0, "no; make one with `taper index`"},
        {(taper_fact)1000, 0, "no"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const taper_error error = {.fact = cases[i].fact, .needed = cases[i].needed, .text = "no"};
        assert_string_equal(cli_explain(&error).text, cases[i].said);
    }
    const taper_error silent = {.status = TAPER_ERR_NOMEM};
    assert_string_equal(cli_explain(&silent).text, "out of memory");
}

static void nearest_word(void **state) {
    (void)state;
    static const char *const verbs[] = {"train", "encode", "decode", "truncate", "info", NULL};
    assert_string_equal(cli_nearest("tarin", verbs), "train");
    assert_string_equal(cli_nearest("trunctae", verbs), "truncate");
    assert_string_equal(cli_nearest("inf", verbs), "info");
    assert_string_equal(cli_nearest("encod", verbs), "encode");
    assert_null(cli_nearest("xyz", verbs));
    assert_null(cli_nearest("", verbs));
    assert_null(
        cli_nearest("a-very-long-word-that-nobody-would-mean-to-be-a-verb-of-this-program", verbs));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(defaults_are_stored),
                                       cmocka_unit_test(every_kind_is_stored),
                                       cmocka_unit_test(bad_usage_says_what_to_do),
                                       cmocka_unit_test(help_lists_the_table),
                                       cmocka_unit_test(manual_is_made_from_the_table),
                                       cmocka_unit_test(bash_completion_works),
                                       cmocka_unit_test(zsh_completion_parses),
                                       cmocka_unit_test(sizes_parse),
                                       cmocka_unit_test(amounts_parse_as_sizes_do),
                                       cmocka_unit_test(sizes_show),
                                       cmocka_unit_test(exit_codes_follow_the_status),
                                       cmocka_unit_test(nearest_word),
                                       cmocka_unit_test(facts_become_remedies),
                                       cmocka_unit_test(groups_are_in_the_long_help)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

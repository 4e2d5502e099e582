/* completion.c -- shell completions from the option tables; see manual.h. */
#include "cli/manual.h"
#include <string.h>

static bool takes_path(const cli_option *o) {
    return o->argument && (!strcmp(o->argument, "FILE") || !strcmp(o->argument, "DIR") ||
                           !strcmp(o->argument, "MODEL") || !strcmp(o->argument, "CONTAINER"));
}

/* --- bash --- */

static void bash_choices(const cli_option *o, FILE *to) {
    fprintf(to, "        --%s", o->name);
    if (o->letter) fprintf(to, "|-%c", o->letter);
    if (o->kind == CLI_CHOICE) {
        fputs(") COMPREPLY=($(compgen -W '", to);
        for (int i = 0; o->choices[i]; i++) fprintf(to, "%s%s", i ? " " : "", o->choices[i]);
        fputs("' -- \"$cur\")); return ;;\n", to);
    } else if (takes_path(o)) {
        fputs(") COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n", to);
    } else {
        fputs(") return ;;\n", to);
    }
}

static void bash_verb(const cli_verb *verb, FILE *to) {
    fprintf(to, "    %s)\n        case $prev in\n", verb->name);
    for (const cli_option *o = verb->options; o->name; o++)
        if (o->kind != CLI_FLAG) bash_choices(o, to);
    fputs("        esac\n        options='--help --help-all", to);
    for (const cli_option *o = verb->options; o->name; o++) fprintf(to, " --%s", o->name);
    fputs("' ;;\n", to);
}

void cli_completion_bash(const cli_verb *const *verbs, FILE *to) {
    fputs("# bash completion for taper; written by `taper __completion bash`\n_taper() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} options=\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ] || [ \"${COMP_WORDS[1]}\" = help ]; then\n"
          "        COMPREPLY=($(compgen -W '",
          to);
    for (const cli_verb *const *v = verbs; *v; v++) fprintf(to, "%s ", (*v)->name);
    fputs("help --help --version' -- \"$cur\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} "
          "in\n",
          to);
    for (; *verbs; verbs++) bash_verb(*verbs, to);
    fputs("    esac\n    case $cur in\n"
          "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$cur\")) ;;\n"
          "    *) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
          "    esac\n}\ncomplete -o filenames -F _taper taper\n",
          to);
}

/* --- zsh --- */

/* Inside '...' of an _arguments specification: quotes, colons and brackets are special. */
static void zsh_text(const char *text, FILE *to) {
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", to);
        else {
            if (strchr(":[]\\", *text)) fputc('\\', to);
            fputc(*text, to);
        }
    }
}

static void zsh_spec(const cli_option *o, const char *dashes, const char *name, FILE *to) {
    bool many = o->kind == CLI_STRINGS || o->kind == CLI_NUMBERS ||
                (o->kind == CLI_FLAG && o->letter == 'v');
    fprintf(to, " \\\n            '%s%s%s[", many ? "*" : "", dashes, name);
    zsh_text(o->help, to);
    fputs("]", to);
    if (o->kind != CLI_FLAG) {
        fprintf(to, ":%s:", o->argument ? o->argument : "value");
        if (o->kind == CLI_CHOICE) {
            fputs("(", to);
            for (int i = 0; o->choices[i]; i++) fprintf(to, "%s%s", i ? " " : "", o->choices[i]);
            fputs(")", to);
        } else if (takes_path(o)) {
            fputs("_files", to);
        }
    }
    fputs("'", to);
}

static void zsh_verb(const cli_verb *verb, FILE *to) {
    fprintf(to, "        %s)\n            _arguments -s", verb->name);
    for (const cli_option *o = verb->options; o->name; o++) {
        char letter[2] = {o->letter, 0};
        zsh_spec(o, "--", o->name, to);
        if (o->letter) zsh_spec(o, "-", letter, to);
    }
    fputs(" \\\n            '--help[print a summary]' '--help-all[print all options]' "
          "'*:file:_files' ;;\n",
          to);
}

void cli_completion_zsh(const cli_verb *const *verbs, FILE *to) {
    fputs("#compdef taper\n# zsh completion for taper; written by `taper __completion "
          "zsh`\n_taper() {\n"
          "    local -a verbs\n    verbs=(\n",
          to);
    for (const cli_verb *const *v = verbs; *v; v++) {
        fprintf(to, "        '%s:", (*v)->name);
        zsh_text((*v)->what, to);
        fputs("'\n", to);
    }
    fputs("    )\n    if (( CURRENT == 2 )); then\n        _describe verb verbs\n        return\n  "
          "  fi\n"
          "    local verb=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $verb in\n",
          to);
    for (; *verbs; verbs++) zsh_verb(*verbs, to);
    fputs("    esac\n}\n_taper \"$@\"\n", to);
}

#!/bin/sh
# all.sh -- a C source of the program that many tests are linked into: it runs the test that it is called by.
#
#   sh tests/all.sh test_X...    to standard output; the main of test_X is called main_of_test_X
printf '/* made by tests/all.sh */\n#include <stdio.h>\n#include <string.h>\n'
for test; do echo "int main_of_$test(void);"; done
echo 'static const struct { const char *name; int (*run)(void); } tests[] = {'
for test; do echo "    {\"$test\", main_of_$test},"; done
cat <<'END'
};
int main(int argc, char **argv) {
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *name = slash ? slash + 1 : argc > 0 ? argv[0] : "";
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (!strcmp(name, tests[i].name)) return tests[i].run();
    fprintf(stderr, "%s: call this program by the name of a test, as its links do\n", name);
    return 2;
}
END

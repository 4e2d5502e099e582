/* rivals.c -- the table of other codecs. */
#include "cli/compare/rival.h"
#include <stdlib.h>
#include <string.h>

const cli_rival *const cli_rivals[] = {&cli_rival_jpeg, &cli_rival_jpeg2000, &cli_rival_webp,
                                       &cli_rival_avif, &cli_rival_jxl,      NULL};

const cli_rival *cli_rival_find(const char *name) {
    for (size_t i = 0; cli_rivals[i]; i++)
        if (strcmp(cli_rivals[i]->name, name) == 0) return cli_rivals[i];
    return NULL;
}

int cli_rivals_have_room(void) {
    /* Half a gigabyte to work in and 32 MiB of code; allocated and freed, to test the address
     * space. */
    enum { ROOM = 544 << 20 };
    void *volatile room = malloc(ROOM); /* prevents compilers from removing the allocation */
    free(room);
    return room != NULL;
}

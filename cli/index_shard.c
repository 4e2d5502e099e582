/* index_shard.c -- see index_shard.h. */
#include "cli/index_shard.h"
#include "cli/index/index_file.h"
#include <stdio.h>

static uint64_t mix(uint64_t a, uint64_t b) {
    char text[40];
    snprintf(text, sizeof text, "%016llx %016llx", (unsigned long long)a, (unsigned long long)b);
    return formats_digest_text(text);
}

/* Of the paths from which an index makes names: these have the folders above the images, too. */
static uint64_t digest_paths(const cli_code_set *set) {
    char room[CLI_IMAGE_NAME];
    uint64_t digest = 0;
    for (size_t i = 0; i < cli_code_set_images(set); i++)
        digest = mix(digest, formats_digest_text(cli_index_path(set, i, room)));
    return digest;
}

/* Images that a shard of encode left out, or stored as further names, are in no index of it. */
static void take_part(cli_shard *shard, const taper_part *part) {
    const uint64_t how = shard->part.how_digest;
    shard->part = *part;
    shard->part.how_digest = mix(how, part->how_digest);
    shard->part.left_out = cli_shard_part(shard, shard->end - shard->first).left_out;
}

static int take_containers(cli_shard *shard, const cli_code_set *set, const char *how) {
    taper_part *p = &shard->part;
    taper_error error = {0};
    uint64_t contents;
    p->images = cli_code_set_images(set);
    shard->first = cli_shard_first(p->images, p, p->part);
    shard->end = cli_shard_first(p->images, p, p->part + 1);
    if (!cli_shard_is_told(shard)) return CLI_DONE;
    const taper_status status = cli_container_set_digest(set->containers, &contents, &error);
    if (status != TAPER_OK) return cli_fail("index", NULL, status, &error);
    const taper_part given = cli_container_set_part(set->containers);
    p->how_digest = formats_digest_text(how);
    p->set_digest = mix(contents, digest_paths(set));
    if (!shard->is_shard && given.parts > 1) take_part(shard, &given);
    p->inputs_digest = mix(contents, digest_paths(set));
    return CLI_DONE;
}

int cli_index_shard_take(cli_shard *shard, cli_code_set *set, const char *how) {
    const int code = set->containers ? take_containers(shard, set, how)
                                     : cli_shard_take(shard, "index", set->set, how, set->common);
    if (code == CLI_DONE && set->set && cli_shard_is_told(shard))
        shard->part.set_digest = mix(shard->part.set_digest, digest_paths(set));
    set->first = shard->first, set->end = shard->end;
    return code;
}

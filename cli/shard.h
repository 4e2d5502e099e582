/* shard.h -- --shard and --resume of `encode` and `index`: which images of a set are this job's,
 * and whether its output is there already.
 *
 *     int code = cli_shard_parse(verb, s.shard, s.resume, CLI_IS_CONTAINER, &shard);
 *     if (code == CLI_DONE) code = cli_shard_take(&shard, "encode", set, how, common);
 *     bool done;
 *     if (code == CLI_DONE) code = cli_shard_look(&shard, "encode", output, &common, &done);
 *     if (code != CLI_DONE || done) return code;
 *     ... images shard.first .. shard.end - 1 ... */
#ifndef CLI_SHARD_H
#define CLI_SHARD_H
#include "cli/common/inputs.h"
#include "codec/taper.h"
#include "formats/imageset/imageset.h"

typedef struct cli_shard {
    bool is_shard;     /* --shard was given */
    bool resumes;      /* --resume was given */
    cli_kind makes;    /* what the verb writes, a container or an index */
    taper_part part;   /* left_out: 0, or what no run can change */
    size_t first, end; /* images of the set */
} cli_shard;

#define CLI_SHARD_OPTIONS(S)                                                             \
    {"shard",                                                                            \
     0,                                                                                  \
     CLI_STRING,                                                                         \
     "I/N",                                                                              \
     offsetof(S, shard),                                                                 \
     .group = "many machines",                                                           \
     .help = "take part I of N of the images, I from 1 to N: those that follow on part " \
             "I - 1"},                                                                   \
    {                                                                                    \
        "resume", 0, CLI_FLAG,                                                           \
            .offset = offsetof(S, resume), .group = "many machines",                     \
            .help = "do nothing if the output is whole and was made of the same inputs " \
                    "with the same model and options; else make it again"                \
    }

/* Read "I/N"; text NULL: 1/1. CLI_USAGE, after a message. */
int cli_shard_parse(const cli_verb *verb, const char *text, int resume, cli_kind makes,
                    cli_shard *shard);
/* Nonzero: the output says what it was made of. */
bool cli_shard_is_told(const cli_shard *shard);

/* Choose the shard's images; if the output is to say what it was made of, read their files for
 * that. how: the model and all options on which the output depends, as a text. Returns an exit
 * code. */
int cli_shard_take(cli_shard *shard, const char *verb, const formats_imageset *set, const char *how,
                   const cli_common *common);

/* What is at `output`? *done: there is nothing to do, and a note has said why: the output is made
 * already, or the shard has no images. Else what is there is to be overwritten, if it is of the
 * kind that is made and --resume was given: common->force is set then. CLI_IO, after a message: it
 * does not say what it was made of or is of another kind, and --force was not given. Returns an
 * exit code. */
int cli_shard_look(const cli_shard *shard, const char *verb, const char *output, cli_common *common,
                   bool *done);

/* The number of the first image of a part of so many images. */
size_t cli_shard_first(uint64_t images, const taper_part *part, uint32_t number);
/* The part for the container or index: `stored` images, with further names, were stored. */
taper_part cli_shard_part(const cli_shard *shard, uint64_t stored);

#endif

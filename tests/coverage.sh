#!/bin/sh
# coverage.sh -- which lines of the readers of untrusted bytes the corpora of the fuzz targets reach.
#
#   sh tests/coverage.sh [-v] [FILE...]     default: all readers, listed below; -v: each line not reached
#
# Builds the replays with gcc's --coverage under build/cov (a minute), runs each on its corpus, and counts what gcov says.
# A line counts as reached where any corpus reaches it in any copy of its function. Counted apart, in the second number,
# are lines that no input reaches: what follows from short memory or a refusal of the system (a line that names such a
# status, and the lines that free before it), and functions that only write or that take no bytes of a file (`apart`).
# FLOOR: exit code 1 where a group has less, in per cent of its lines; 95 unless told. FLOOR=0: none.
set -eu
cd "$(dirname "$0")/.."

# Containers: what decodes them, and what passes them on without an encoder.
decoder='codec/chunks/byte_store.c codec/decoder/decoder.c codec/chunks/checked_blocks.c codec/decoder/front_load.c
    codec/decoder/group_reader.c codec/decoder/kept_groups.c
    codec/decoder/levels.c codec/decoder/open_container.c codec/decoder/planned.c codec/decoder/planned_images.c codec/decoder/pushed.c codec/decoder/rendering.c codec/decoder/supplied.c
    codec/decoder/verify.c codec/container/recut.c codec/container/merge.c codec/container/merge_layers.c
    codec/bitplane/chunk_coder.c codec/bitplane/raised_planes.c codec/bitplane/strips.c codec/entropy/interleave.c
    codec/parking/awake_strips.c codec/parking/packed_rows.c codec/parking/parked_strips.c
    codec/entropy/range_coder.c'
# Models and checkpoints: what their files say. Not here: what works with numbers that have been read (network, contexts and others).
model='codec/model/architecture.c codec/model/linear_rows.c codec/model/model_read.c codec/model/embedding_record.c codec/model/work.c codec/bitplane/code_tables.c
    codec/bitplane/unit_sets.c codec/entropy/rans.c codec/entropy/weights_coder.c formats/model_file.c
    train/optimise/checkpoint.c'
# Indexes, used where they are mapped. Not here: what builds them (index_build, cascade_shares), and what works on numbers
# in memory alone (knn, votes, centring).
search='codec/search/bit_codes.c codec/search/cascade.c codec/search/cascade_measure.c codec/search/cascade_sample.c
    codec/search/index.c codec/search/index_merge.c codec/search/margins.c codec/search/nearest_list.c
    codec/search/ordered_index.c'
# Files, names and text. Not here: what only writes (atomic_file, npy), tables (decompositions), messages (status), and
# what passes bytes on without a look at them (file).
formats='formats/also.c formats/set_part.c formats/bytes.c formats/images/cifar.c formats/container.c formats/directory.c formats/metadata/exif.c formats/imageset/folder_walk.c
    formats/images/foreign.c formats/front.c formats/images/gzip.c formats/holds.c formats/metadata/icc.c formats/images/idx.c formats/image.c
    formats/imageset/frame_cursor.c formats/imageset/image_list.c formats/imageset/image_names.c formats/imageset/imageset.c formats/imageset/imageset_inputs.c formats/imageset/imageset_labels.c
    formats/imageset/imageset_names.c formats/index_file.c formats/images/jpeg.c formats/images/jpeg_noise.c formats/imageset/label_index.c formats/imageset/label_names.c formats/imageset/labels.c
    formats/leaf.c formats/metadata_reader.c formats/name_pages.c formats/packed.c formats/paging.c formats/root.c
    formats/merge_metadata.c formats/merge_names.c formats/metadata/metadata.c formats/name_block.c formats/name_escape.c formats/imageset/name_key.c formats/images/png.c
    formats/metadata/pieces.c formats/metadata/png_text.c formats/metadata/read_payloads.c formats/metadata/settle.c formats/metadata/tiff_exif.c formats/images/pnm.c formats/imageset/recognise.c formats/metadata/xmp.c
    formats/readers/apng.c formats/readers/bmp.c formats/readers/find_reader.c formats/readers/av1_noise.c formats/readers/vp8_noise.c formats/readers/reader.c'
# What a server answers.
remote='remote/response.c'
# Functions that write, convert what was read, or work on the caller's numbers.
apart='codec_bits_pack codec_bits_add_distances add_distances codec_embedding_record_write codec_order_make_apart
    ideal_bits formats_idx_encode_images formats_idx_encode_labels formats_cifar_encode formats_image_flatten
    formats_image_apply_alpha drop_alpha formats_image_to_8bit write_program flush_output train_checkpoint_beside moved
    codec_unit_sets_choose touch codec_linear_rows_write codec_linear_rows_steps write_rows without_bits'

# What is no reader, of the folders that are mostly readers: a new file is to be put into a list.
others='formats/atomic_file.c formats/metadata_writer.c formats/layout.c formats/metadata/picture_metadata.c formats/metadata/public_metadata.c
    formats/metadata/write_payloads.c formats/imageset/decompositions.c formats/file.c formats/images/npy.c formats/images/own_mark.c formats/images/row_writer.c formats/sized.c
    formats/late/late_library.c formats/late/srgb.c formats/readers/avif.c formats/readers/gif.c formats/readers/heic.c
    formats/readers/jxl.c formats/readers/archive.c formats/readers/spool.c formats/imageset/archive_inputs.c formats/readers/samples.c formats/readers/tiff.c formats/readers/webp.c
    formats/writers/jpeg_writer.c formats/writers/picture_writer.c formats/writers/tiff_writer.c formats/writers/webp_writer.c
    formats/status.c
    codec/decoder/batch.c codec/decoder/container_file.c codec/decoder/parts.c codec/decoder/strip_reader.c
    codec/search/cascade_shares.c codec/search/centring.c codec/search/index_build.c codec/search/knn.c
    codec/search/votes.c'
# shellcheck disable=SC2086
for file in formats/*.c formats/*/*.c codec/chunks/*.c codec/decoder/*.c codec/search/*.c; do
    is_listed=0
    for listed in $decoder $model $search $formats $others; do [ "$listed" != "$file" ] || is_listed=1; done
    [ $is_listed -eq 1 ] || { echo "$file is in no list of tests/coverage.sh" >&2; exit 1; }
done

verbose=0
[ "${1:-}" != -v ] || { verbose=1; shift; }
B=build/cov
names=$(for f in tests/fuzz/fuzz_*.c; do f=${f##*/fuzz_}; echo "${f%.c}"; done)
# shellcheck disable=SC2046
make -s B=$B CUDA=0 CFLAGS="-O0 -g" SANFLAGS=--coverage $(for name in $names; do echo "$B/tests/fuzz/fuzz_$name"; done)
find $B -name '*.gcda' -delete
for name in $names; do $B/tests/fuzz/fuzz_"$name" "tests/fuzz/corpus/$name" >/dev/null; done

# One file: "reached lines apart file", and under -v what is not reached.
measure() {
    gcov -t -o "$B/${1%.c}.o" "$1" 2>/dev/null | awk -v file="$1" -v verbose=$verbose -v apart="$apart" '
        BEGIN { n = split(apart, a); for (i = 1; i <= n; i++) is_apart[a[i]] = 1 }
        { count = $0; sub(/:.*/, "", count); gsub(/[ *]/, "", count)
          rest = substr($0, index($0, ":") + 1); number = rest + 0
          text = substr(rest, index(rest, ":") + 1) }
        !number { if (text ~ /^Source:/) mine = text == "Source:" file; next }
        !mine { next }
        { if (number > last) last = number; line[number] = text }
        count == "-" { next }
        { has[number] = 1; if (count + 0 > 0) hit[number] = 1 }
        END {
            for (i = 1; i <= last; i++) {
                if (line[i] ~ /^[a-z].*\(/ && match(line[i], /[a-z0-9_]+\(/))
                    inside = substr(line[i], RSTART, RLENGTH - 1) in is_apart
                if (has[i] && !hit[i] && (inside || line[i] ~ /NOMEM|no_memory|no memory|ERR_IO|fail_errno|report_errno/)) {
                    unreachable[i] = 1
                    for (k = i - 1; has[k] && !hit[k] && line[k] ~ /free\(|close\(|_give\(/; k--) unreachable[k] = 1
                }
            }
            for (i = 1; i <= last; i++)
                if (unreachable[i]) others++
                else if (has[i]) {
                    lines++
                    if (hit[i]) reached++
                    else if (verbose) printf "%s:%d:%s\n", file, i, line[i]
                }
            if (lines) print reached + 0, lines, others + 0, file
        }'
}

status=0
group() { # title, files
    title=$1
    shift
    for file in "$@"; do measure "$file"; done | awk -v title="$title" -v floor="${FLOOR:-95}" '
        NF != 4 || $1 !~ /^[0-9]+$/ { print; next }
        { printf "%6.1f %% of %4d, %3d apart  %s\n", 100 * $1 / $2, $2, $3, $4; reached += $1; lines += $2; others += $3 }
        END { share = lines ? 100 * reached / lines : 0
              printf "%6.1f %% of %4d, %3d apart  all of %s\n", share, lines, others, title; exit share < floor }' || status=1
}
if [ $# -gt 0 ]; then
    group "these" "$@"
else
    # shellcheck disable=SC2086
    {
        group "containers" $decoder
        group "models and checkpoints" $model
        group "indexes" $search
        group "files, names and text" $formats
        group "answers of servers" $remote
    }
fi
exit $status

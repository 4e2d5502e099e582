#!/bin/sh
# style.sh -- checks style rules: sizes, banned calls, and which directory may include which.
#
#   sh tests/style.sh        prints one line "FILE:LINE: problem" per problem; exit code 1 if there are any
#
# Limits: 120 lines per function, 1,200 lines per file, 100 columns; 8 parameters per function, but for
# those in `many`. Generated tables are named *_table.h and may be longer. The package for Python: 120 columns.
cd "$(dirname "$0")/.." || exit 1
export LC_ALL=C # the columns of UTF-8 are counted without it
found=$(mktemp) || exit 1
trap 'rm -f "$found" "$found.except" "$found.includes"' EXIT

sources() { find "$@" \( -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' \) -type f 2>/dev/null | sort; }
all=$(sources formats codec remote serve web train cli samples tests bench)

# sizes; a function starts at a line that begins with a letter and ends in "{", and ends at "}"
awk '
    function say(line, what) { printf "%s:%d: %s\n", FILENAME, line, what }
    FNR == 1 { if (lines > 1200 && !table) printf "%s:%d: a file of %d lines: split it\n", last, lines, lines
               start = 0; table = FILENAME ~ /_table\.h$/ }
    { last = FILENAME; lines = FNR
      text = $0; gsub(/[\200-\277]/, "", text)      # count characters, not bytes of UTF-8
      if (length(text) > 100 && !table) say(FNR, "a line of " length(text) " columns")
      if ($0 ~ /\t/) say(FNR, "a tab")
      if ($0 ~ /[ \r]$/) say(FNR, "a blank at the end") }
    /^[A-Za-z_].*\{$/ && !/^(typedef|struct|enum|union|extern "C")/ && !/=.*\{$/ { start = FNR }
    /^\}/ { if (start && FNR - start + 1 > 120) say(start, "a function of " FNR - start + 1 " lines: split it")
            start = 0 }
    END { if (lines > 1200 && !table) printf "%s:%d: a file of %d lines: split it\n", last, lines, lines }
' $all >>"$found"

# the package for Python and its tests
awk '{ text = $0; gsub(/[\200-\277]/, "", text) }
     length(text) > 120 { printf "%s:%d: a line of %d columns\n", FILENAME, FNR, length(text) }
     /[ \r]$/ { printf "%s:%d: a blank at the end\n", FILENAME, FNR }' \
    $(find bindings/python tests/python -name '*.py' -type f | sort) /dev/null >>"$found"

# notebooks are kept without what they print, and are short
for notebook in samples/*.ipynb; do
    grep -nE '"(outputs|execution_count)": ' "$notebook" | grep -vE '"outputs": \[\],?$|"execution_count": null,?$' |
        sed "s|^\([0-9]*\):.*|$notebook:\1: a notebook with outputs: clear them|" >>"$found"
    cells=$(grep -c '"cell_type": ' "$notebook")
    [ "$cells" -ge 20 ] && [ "$cells" -le 26 ] || echo "$notebook:1: $cells cells; 20 to 26 can be read in ten minutes" >>"$found"
done

# parameters: of definitions, which begin at a line that begins with a letter. The products keep BLAS's ten, in
# its order: a struct would make each of their hundred calls longer, and needs names for what the order says.
many='codec_plain_gemm|gemm_256|gemm_512|train_plain_gemm|train_cuda_gemm'
awk -v many="^($many)\$" '
    /^[A-Za-z_]/ && !/^(typedef|struct|enum|union) [^(]*\{/ && !/=/ { begun = FNR; text = "" }
    begun { text = text " " $0 }
    begun && /\{/ {
        sub(/\{.*/, "", text); gsub(/\/\*[^*]*\*\//, "", text)
        if (match(text, /[A-Za-z0-9_]+\(/)) {
            name = substr(text, RSTART, RLENGTH - 1); text = substr(text, RSTART + RLENGTH)
            while (match(text, /\([^()]*\)/)) text = substr(text, 1, RSTART - 1) substr(text, RSTART + RLENGTH)
            n = gsub(/,/, "", text) + 1
            if (n > 8 && name !~ many) printf "%s:%d: %s has %d parameters: give it a struct\n", FILENAME, begun, name, n
        } }
    /[{};]/ { begun = 0 }
' $(sources formats codec remote serve web train cli) >>"$found"

# calls that overflow or hide errors; matches calls only, so that comments may contain the names
grep -nE '(^|[^A-Za-z0-9_.>])(atoi|atol|atof|strcpy|strcat|sprintf|vsprintf|gets|alloca|strtok)[[:space:]]*\(' $all |
    sed 's/$/   <- banned call/' >>"$found"
# sh -e ignores the status of a command after `!`
grep -nE '^[[:space:]]*! ' tests/cli/*.sh samples/*.sh /dev/null |
    sed 's/$/   <- has no effect under sh -e: not, of cli_helpers.sh/' >>"$found"
# a long of 32 bits limits offsets to 2 GiB
grep -nE '(^|[^A-Za-z0-9_.>])(fseek|ftell)[[:space:]]*\(' $(sources formats codec remote serve web train cli) /dev/null |
    sed 's/$/   <- fseeko and ftello/' >>"$found"
# library code never prints and never exits
grep -nE '(^|[^A-Za-z0-9_.>])(printf|fprintf|puts|fputs|putchar|perror|exit|_exit|abort|assert)[[:space:]]*\(' \
    $(sources formats codec remote serve train) /dev/null | grep -vE '^[^:]*:[0-9]+:[[:space:]]*(/?\*|//)' |
    sed 's/$/   <- library code never prints and never exits/' >>"$found"

# errors of the library carry facts, and cli/common/messages.c names the options
grep -nE '"[^"]*([^A-Za-z0-9_-]--?[a-zA-Z]|[`'"'"']taper [a-z])' $(find formats -maxdepth 1 -name '*.c') $(sources codec) /dev/null |
    grep -vE 'ulimit -|#include|^[^:]*:[0-9]+:[[:space:]]*(/?\*|//)' |
    sed 's/$/   <- a word of the command line in the library/' >>"$found"

# formats <- codec <- train <- cli and formats <- codec <- remote, serve <- cli, and the directories in them: no directory includes a higher one,
# and paths in includes begin at the root
grep -nE '^#include "' $(sources formats codec remote serve web train cli) >"$found.includes"
upward() { # directory, what it must not include
    grep -E "^$1/[^:]*:[0-9]+:#include \"($2)" "$found.includes" |
        sed "s|\$|   <- $1 must not include upward|" >>"$found"
}
upward formats '(codec|remote|serve|web|train|cli|samples|tests|bench)/'
grep -nE '^#include "formats/(late|metadata|readers|image(s|set))/' $(find formats -maxdepth 1 -name '*.[ch]') $(sources codec) /dev/null |
    sed 's|$|   <- files of other programs are not read by the library|' >>"$found"
upward formats/metadata 'formats/(readers|image(s|set))/'
upward formats/late 'formats/(metadata|readers|image(s|set))/'
upward formats/images 'formats/(readers|imageset)/'
upward formats/readers 'formats/imageset/'
upward formats/writers 'formats/(images|imageset|readers)/'
upward codec '(remote|serve|web|train|cli|samples|tests|bench)/'
upward remote '(codec/[a-z_]*/|serve|web|train|cli|samples|tests|bench)/'
upward serve '(codec/[a-z_]*/|remote|web|train|cli|samples|tests|bench)/'
upward web '(remote|serve|train|cli|samples|tests|bench)/'
upward train '(remote|serve|web|cli|samples|tests|bench)/'
upward cli '(web|samples|tests|bench)/'
upward cli/common 'cli/([a-z_]*\.h|labels/|compare/|search/|index/|train/)'
upward cli/labels 'cli/([a-z_]*\.h|compare/|search/|index/|train/)'
upward cli/compare 'cli/([a-z_]*\.h|search/|index/|train/)'
upward cli/search 'cli/([a-z_]*\.h|compare/|train/|index/)'
upward cli/index 'cli/([a-z_]*\.h|compare/|train/)'
upward cli/copies 'cli/([a-z_]*\.h|compare/|train/|index/)'
upward cli/train 'cli/([a-z_]*\.h|compare/|search/|index/)'
upward cli/viewer 'cli/([a-z_]*\.h|compare/|search/|index/|train/)'
upward codec/backend 'codec/(entropy|bitplane|transform|quality|model|render|decoder|groups|container|search)/'
upward codec/entropy 'codec/(backend|bitplane|transform|quality|model|render|decoder|groups|container|search)/'
upward codec/quality 'codec/(backend|entropy|bitplane|transform|model|render|decoder|groups|container|search)/'
upward codec/bitplane 'codec/(parking|transform|quality|model|render|decoder|groups|container|search)/'
upward codec/parking 'codec/(transform|quality|model|render|decoder|groups|container|search)/'
upward codec/transform 'codec/(bitplane|quality|model|render|decoder|groups|container|search)/'
upward codec/model 'codec/(quality|render|decoder|groups|container|search)/'
upward codec/render 'codec/(quality|decoder|groups|container|search)/'
upward codec/search 'codec/(entropy|bitplane|transform|quality|model|render|decoder|groups|container)/'
upward codec/exact 'codec/(transform|quality|model|render|decoder|groups|container|search)/'
upward codec/chunks 'codec/(backend|entropy|bitplane|transform|quality|model|render|decoder|groups|container|search)/'
upward codec/decoder 'codec/(quality|groups|container|search)/'
upward codec/groups 'codec/(decoder|container|search)/'
upward codec/container 'codec/(search|contents)/'
upward codec/contents 'codec/(search|container)/'
learners='train/([a-z_]*\.h|linear/|calibrate/|dense/|nested/|conditional/|restoration/|rbm/|embedding/|labelling/|supervised/)'
upward train/parallel "$learners|train/(optimise|objectives|device|processor|sampling)/"
upward train/sampling "$learners|train/(optimise|objectives|device|processor)/"
upward train/device "$learners|train/(optimise|objectives|processor)/"
upward train/processor "$learners|train/(optimise|objectives)/"
upward train/objectives "$learners|train/(optimise|processor)/"
upward train/optimise "$learners|train/(objectives|processor)/"
for learner in linear calibrate dense nested rbm; do
    upward train/$learner "$(echo "$learners" | sed "s#$learner/|##")"
done
upward train/embedding 'train/([a-z_]*\.h|calibrate/|dense/|nested/|conditional/|restoration/|rbm/|labelling/|supervised/)'
upward train/labelling 'train/([a-z_]*\.h|calibrate/|dense/|nested/|conditional/|restoration/|rbm/|supervised/)'
upward train/supervised 'train/([a-z_]*\.h|calibrate/|dense/|nested/|conditional/|restoration/)'
upward train/conditional 'train/([a-z_]*\.h|linear/|dense/|nested/|restoration/|rbm/)'
upward train/restoration 'train/([a-z_]*\.h|linear/|dense/|nested/|rbm/)'
# The tool is a client of the library: it includes the public headers, of formats/ what knows nothing of the formats, and
# simd.h, which only marks functions. Exceptions, FILE HEADER: what `train`, `decode --levels` and `decode --image` need.
sed 's/ *#.*//' >"$found.except" <<'EXCEPT'
cli/decode_levels.c codec/decoder/levels.h
cli/planned.c codec/decoder/container_file.h
cli/device.h codec/backend/backend.h # threads of `train`
EXCEPT
grep -nE '^#include "(codec/[^"]*/|codec/window|formats/[^"/]*\.h")' $(sources cli) /dev/null |
    grep -vE '"(formats/(atomic_file|bytes|file|image|name_escape|path_lines|status)|codec/backend/simd)\.h"' |
    while IFS=: read -r file line text; do
        header=${text#*\"}
        grep -qxF "$file ${header%%\"*}" "$found.except" ||
            echo "$file:$line: $text   <- the tool includes public headers of the library"
    done >>"$found"
while read -r file header; do
    grep -qF "#include \"$header\"" "$file" || echo "$file: $header   <- an exception that is not needed"
done <"$found.except" >>"$found"
# the public headers of each directory: other directories may include only these. A directory for one
# stage has one or two; a directory of tools has one per tool.
doors() { # directory, headers
    grep -E ":#include \"$1/[^/]*\"" "$found.includes" | grep -vE "^$1/[^/:]*:" |
        grep -vE "\"$1/($(echo "$2" | tr ' ' '|'))\.h\"" |
        sed "s|\$|   <- not a public header of $1|" >>"$found"
}
doors codec 'taper taper_model taper_search taper_index taper_quality window'
doors codec/backend 'backend operations activation pool queue simd x86 wasm int8_dot int_convolution sparse_sum'
doors codec/entropy 'range_coder interleave mixed_bit fixed_log int_matrix weights_coder'
doors codec/quality ''
doors codec/bitplane 'code_tables conditional conditional_state unit_sets group quantiser head chunk_coder strips raised_planes'
doors codec/parking 'parked_strips awake_strips'
doors codec/transform 'network triangle windows lap restoration pseudo_inverse synthesis picture small_basis convolution gradients cells gradient_votes'
doors codec/model 'model work builtin_models'
doors codec/render 'window_renderer strip_renderer picture_renderer small_renderer row_renderer'
doors codec/chunks 'byte_store checked_blocks'
doors codec/decoder 'open_container container_file group_reader front_load levels verify'
doors codec/groups 'group_writer strip_writer allocation assemble stage_layers chunk_padding aim'
doors codec/exact 'exact exact_images'
doors codec/container ''
doors codec/contents ''
doors codec/search 'votes'
doors remote 'remote pool'
doors serve 'serve'
doors serve/content 'answer files text'
doors serve/request 'target query range conditions iiif media'
upward serve/request 'serve/([a-z_]*\.h|content/)'
upward serve/content 'serve/[a-z_]*\.h'
doors train 'train builtin_comparison'
doors train/supervised 'train_embedding'
doors train/linear 'pca lda lapack sparse_basis lap_design'
doors train/calibrate 'calibrate evaluate ms_ssim_gain'
doors train/dense 'dense_trainer'
doors train/nested 'nested_trainer'
doors train/conditional 'conditional_trainer conditional_batch'
doors train/restoration 'restoration_trainer restoration_network'
doors train/rbm 'rbm_trainer rbm_unroll'
doors train/embedding 'class_tally embedding_rows embedding_trainer linear_start embedding_errors drawn_start row_codes'
doors train/labelling 'labelling teaching'
doors train/device 'device feed group operations elements(_[a-z]*)?'
doors train/processor 'processor'
doors train/objectives 'objective reconstruction rate neighbours prefixes decoding stack shared_weights'
doors train/optimise 'loop run weights checkpoint adam conjugate_gradient steps rank_sums'
doors train/parallel 'ranks mpi_ranks'
doors train/sampling 'dataset own_rows philox numbers truncation corruption jitter quantile thresholds gradient_rows'
doors cli/compare 'comparison subject originals report'
doors cli/labels 'class_errors label_warnings'
doors cli/search 'code_set embedder labelling suggestions map container_set thumbnail image_choice'
doors cli/index 'index_file index_info search_layer search_lines search_page nested_rows duplicates'
doors cli/train 'common labelled_set labels_report processes reporter request targets'
doors cli/copies 'copies'
doors cli/viewer 'viewer_page'
grep -nE '^#include "(\.|[^"/]*")' $(sources formats codec remote serve web train cli) /dev/null |
    sed 's/$/   <- includes run from the root/' >>"$found"

# files that comments and documents name exist
grep -noE '(^|[^A-Za-z0-9_/])(formats|codec|train|cli|tests|bench)/[a-z0-9_/]+\.(c|h|py|sh|md)([^A-Za-z0-9_]|$)' \
    $all ./*.md formats/*.md bench/results/*.md /dev/null | grep -vE '#include|build/' |
    sed -E 's/^([^:]*:[0-9]+):[^a-z]*(.*\.(c|h|py|sh|md)).?$/\1 \2/' |
    while read -r place named; do
        [ -e "$named" ] || echo "$place: $named   <- there is no such file"
    done >>"$found"
# fast arithmetic would break bit-exact decoding; options that disable it are allowed
grep -nE '(^|[^o])-f(fast-math|unsafe-math|associative-math)|-Ofast|--use_fast_math' Makefile |
    sed 's/^/Makefile:/; s/$/   <- no fast math/' >>"$found"
# no open tasks in the sources
grep -nE '(TODO|FIXME)([^A-Za-z]|$)' $all Makefile |
    sed 's/$/   <- finish it or remove it/' >>"$found"

cat "$found"
[ ! -s "$found" ]

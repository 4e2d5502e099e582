# cli_helpers.sh -- read by the tests in tests/cli with `. "$ROOT/tests/cli_helpers.sh"`.

# A small labelled set (set/png, set/idx, set/cifar) and a model of it, model.tpm. The first test that
# asks for this many images makes them for all tests of a run.
small_set() { # count
    made=${WORK:-.}/small-$1
    if [ ! -d "$made" ]; then
        mkdir "$made.$$"
        "$SAMPLES" small "$made.$$/set" --count "$1"
        "$TAPER" train -q --window 8 -o "$made.$$/model.tpm" "$made.$$/set/png"
        mv -T "$made.$$" "$made" 2>/dev/null || rm -r "$made.$$" # another test was quicker
    fi
    cp -r "$made/." .
}

# Folders of five classes out of small_set's: known/ with eight images each, new/ with two others.
known_and_new() {
    mkdir known new
    for class in arrow bolt cross ring star; do
        mkdir known/$class new/$class
        cp set/png/$class/000[1-8].png known/$class
        cp set/png/$class/0009.png set/png/$class/0010.png new/$class
    done
}

# 8 x 8 pixels with a bar that lies, stands, or both, under noise
bars() { # folder, images of each class
    for class in lying standing both; do
        mkdir -p "$1/$class"
        for n in $(seq 101 $((100 + $2))); do
            LC_ALL=C awk -v class=$class -v seed=$((n + 1000 * ${#class})) 'BEGIN {
                srand(seed); x = int(8 * rand()); y = int(8 * rand())
                printf "P5 8 8 255\n"
                for (i = 0; i < 64; i++) {
                    on = class != "standing" && int(i / 8) == y || class != "lying" && i % 8 == x
                    printf "%c", (on ? 60 : 20) + 60 * rand()
                }
            }' >"$1/$class/$n.pgm"
        done
    done
}

# Run a command that must end with this exit code and say a line like this pattern on standard error
# (anything or nothing: '*').
expect() { # code, pattern, command...
    want=$1 like=$2
    shift 2
    got=0
    "$@" >expect.out 2>expect.err || got=$?
    if [ "$got" -ne "$want" ]; then
        echo "exit code $got instead of $want: $*"
        cat expect.err
        exit 1
    fi
    [ "$like" != '*' ] || return 0
    while read -r line; do
        # shellcheck disable=SC2254  # it is meant as a pattern
        case $line in $like) return 0 ;; esac
    done <expect.err
    echo "no line like: $like"
    echo "on standard error of: $*"
    cat expect.err
    exit 1
}

# Run a command that must fail. (A line `! command` passes either way under `sh -e`: style.sh finds such lines.)
not() { # command...
    if "$@"; then
        echo "succeeded: $*"
        exit 1
    fi
}

# No temporary file is left here or below.
nothing_left() {
    left=$(find . -name '.taper-*')
    [ -z "$left" ] || { echo "left behind: $left"; exit 1; }
}

# A number out of a line of JSON on standard input: `json_number bytes <line`.
json_number() { # key
    tr "{,}" "\n\n\n" | sed -n "s/^\"$1\":\\(-\\{0,1\\}[0-9][0-9.e+-]*\\).*/\\1/p" | head -n 1
}

# How many PNG files are below a folder.
count_png() { # folder
    find "$1" -name '*.png' | wc -l
}

# A training on the processor and on the GPU's kernels, on set/png: the same log, but for times. KERNELS: a program
# with a GPU (tests/gpu.sh); without it the execution model, in one order (others are tried operation by operation).
learn_on_both() { # precision, how far figures may be apart, verb, options...
    kernels=${KERNELS:-$(dirname "$TAPER")/tests/taper_model}
    precision=$1 apart=$2
    shift 2
    rm -f cpu.jsonl cuda.jsonl
    "$TAPER" "$@" -q -f --device cpu -o cpu.tpm --log cpu.jsonl set/png
    TAPER_MODEL_ORDERS=1 "$kernels" "$@" -q -f --device cuda --precision "$precision" -o cuda.tpm \
        --log cuda.jsonl set/png 2>err || { cat err; echo "$*: failed"; exit 1; }
    python3 - cpu.jsonl cuda.jsonl "$apart" <<'END' || { echo "$*: other figures"; exit 1; }
import json, sys
runs = [[json.loads(line) for line in open(path)] for path in sys.argv[1:3]]
assert runs[0] and len(runs[0]) == len(runs[1]), "other steps"
for here, there in zip(*runs):
    for key in here:
        if "second" in key or not isinstance(here[key], (int, float)):
            continue
        near = abs(here[key] - there[key]) <= float(sys.argv[3]) * (1e-6 + abs(here[key]))
        assert near, f"{key}: {here[key]} on the processor, {there[key]}"
END
}

# The test is skipped where one of these commands is missing.
needs() { # command:package...
    for tool in "$@"; do
        command -v "${tool%%:*}" >/dev/null || { echo "SKIP ${tool%%:*} (package ${tool#*:}) is not installed"; exit 0; }
    done
}

# A file and a picture (PNG, PNM, JPEG) are read alike: they decode to the same pixels, or to those that differ by at
# most so many levels. Options of encode may follow.
read_alike() { # file, picture, levels, options...
    file=$1 picture=$2 levels=$3
    shift 3
    rm -rf alike
    mkdir alike
    for one in "$file" "$picture"; do
        "$TAPER" encode -q -f -m tiny --best --alpha white "$@" -o alike/one.taper "$one"
        "$TAPER" decode -q -o alike/out alike/one.taper
        [ "$(find alike/out -type f | wc -l)" -eq 1 ] || { echo "$one: not one image"; exit 1; }
        to=alike/a
        [ "$one" = "$file" ] || to=alike/b
        mkdir $to
        mv alike/out/*.png $to/image.png
        rmdir alike/out
    done
    python3 "$ROOT/tests/same_pixels.py" alike/a alike/b "$levels" || { echo "$file is not read as $picture"; exit 1; }
}

# Wait until a file is there, which another process writes.
await() { # file
    for _ in $(seq 300); do
        [ ! -s "$1" ] || return 0
        sleep 0.1
    done
    echo "no $1 after 30 seconds"
    exit 1
}

# The step of a checkpoint, if it is there: a number behind the magic, a version and a fingerprint.
checkpoint_step() { # file
    [ ! -e "$1" ] || od -An -t u8 -j 22 -N 8 "$1" | tr -d ' '
}

# Wait until a program that trains listens to SIGUSR1, by its mask of caught signals.
await_listening() { # process
    until grep -q '^SigCgt:.*[2367abef]..$' "/proc/$1/status"; do
        kill -0 "$1"
        sleep 0.02
    done
}

# SIGUSR1 until there is a checkpoint of a later step, which $saved then is. Signals have no effect before the first step.
save_now() { # process, checkpoint, step
    while saved=$(checkpoint_step "$2") && [ "${saved:-0}" -le "$3" ]; do
        kill -USR1 "$1" || { echo "no checkpoint after that of step $3"; exit 1; }
        sleep 0.02
    done
}

# nginx for the folder www/ on a port of its own, $url; it ends with the test. needs nginx:nginx-light first.
serve_www() {
    mkdir -p www nginx
    for port in $(shuf -i 20000-50000 -n 20); do
        cat >nginx/conf <<END
user $(id -un) $(id -gn); worker_processes 1; pid $PWD/nginx/pid; error_log $PWD/nginx/error;
events { worker_connections 256; }
http {
    access_log $PWD/nginx/access;
    client_body_temp_path $PWD/nginx/a; proxy_temp_path $PWD/nginx/b; fastcgi_temp_path $PWD/nginx/c;
    uwsgi_temp_path $PWD/nginx/d; scgi_temp_path $PWD/nginx/e;
    server { listen 127.0.0.1:$port; root $PWD/www; ${1:-} }
}
END
        if nginx -e "$PWD/nginx/error" -c "$PWD/nginx/conf" -p "$PWD/nginx" 2>nginx/said; then
            await nginx/pid
            trap 'kill "$(cat nginx/pid)" 2>/dev/null' EXIT
            # shellcheck disable=SC2034  # for the test
            url=http://127.0.0.1:$port
            return 0
        fi
    done
    cat nginx/said
    exit 1
}

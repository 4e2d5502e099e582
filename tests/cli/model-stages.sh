# A model of which the first stages are there: decode draws what they allow, with a warning, and finds the levels of the
# whole model; the teaching decoder finds the same; info tells of it; what needs all of it says so.
. "$ROOT/tests/cli_helpers.sh"
files=$ROOT/tests/conformance/files
model=$files/stages.tpm
size=$(wc -c <"$model")
"$SAMPLES" scenes scene --count 1
stages=$("$TAPER" info --json "$model" | json_number stages)
test "$stages" -eq 6

# where stage N ends: the shortest prefix that info takes for N stages
end_of() {
    low=1 high=$size
    while [ "$low" -lt "$high" ]; do
        middle=$(((low + high) / 2))
        head -c "$middle" "$model" >some.tpm
        if [ "$("$TAPER" info --json some.tpm 2>/dev/null | json_number stages_known)" -ge "$1" ] 2>/dev/null; then
            high=$middle
        else
            low=$((middle + 1))
        fi
    done
    echo "$low"
}
end=$(end_of 1)
head -c $((end - 1)) "$model" >less.tpm
expect 3 '*its first stage are missing*' "$TAPER" decode -m less.tpm -o none "$files/stages.taper"

before=0
for stage in 1 2 3 4 5; do
    head -c "$(end_of $stage)" "$model" >part.tpm
    "$TAPER" info part.tpm | grep -q "stages    $stage of 6"
    "$TAPER" decode --levels -m part.tpm "$files/stages.taper" >ours 2>words
    grep -q "warning: the model has $stage of its 6 stages" words
    if command -v python3 >/dev/null; then
        python3 -B "$ROOT/formats/teaching_decoder.py" --levels -m part.tpm "$files/stages.taper" >theirs
        cmp ours theirs
    fi
    passes=$(head -n 1 ours | cut -d' ' -f4)
    test "$passes" -ge $((before + (stage != 2))) # the second stage restores
    before=$passes
    expect 3 '*model is cut*' "$TAPER" encode -m part.tpm -o new.taper scene
    expect 3 '*model is cut*' "$TAPER" train -q --from part.tpm --restore 8 -o new.tpm scene
    expect 3 '*model is cut*' "$TAPER" index -m part.tpm -o new.tpx scene
    expect 3 '*model is cut*' "$TAPER" verify part.tpm
done

# the built-in model: with its first stage, a cut of few passes has the levels of the whole model, and a picture
photo=$ROOT/models/photo.tpm
python3 - "$photo" first.tpm <<'END' 2>/dev/null || { echo "SKIP no python3 here"; exit 0; }
import struct, sys
data = open(sys.argv[1], "rb").read()
stages = struct.unpack("<H", data[10:12])[0]
first = struct.unpack("<Q", data[24:32])[0]
open(sys.argv[2], "wb").write(data[:24 + 20 * stages + first])
END
test "$(wc -c <first.tpm)" -lt 90000
"$TAPER" encode -q --bpp 0.25 -o scene.taper scene
passes=$("$TAPER" info --json first.tpm | json_number passes_known)
front=$("$TAPER" info --json scene.taper | json_number front_bytes)
for bytes in $((front + 900)) $((front + 200)) $((front + 60)); do
    "$TAPER" decode --levels -b "$bytes" scene.taper >whole
    "$TAPER" decode -q --levels -m first.tpm -b "$bytes" scene.taper >part 2>words
    n=$(head -n 1 whole | cut -d' ' -f4)
    if [ "$n" -lt "$passes" ]; then cmp whole part; fi
    "$TAPER" decode -q -f -m first.tpm -b "$bytes" -o pictures scene.taper 2>words
    grep -q '1 of its 6 stages' words
done
test "$n" -lt "$passes"
test -s pictures/*.png

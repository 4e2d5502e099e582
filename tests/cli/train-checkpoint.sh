# `--checkpoint` with `--window auto` and `dense`: each window has a file of its own, so that a run that was
# killed anywhere goes on, and ends in the model of a run that was not.
. "$ROOT/tests/cli_helpers.sh"
"$SAMPLES" small set --count 48 --format png
planes='train --family dense' units='train-bits --code units'
run() { # verb, model, options...
    verb=$1 model=$2
    shift 2
    "$TAPER" $verb -q --units 12 --hidden 16 --epochs 2 --batch 64 \
        --set-images 1000000 -o "$model" "$@" set/png
}
# kill the run as soon as a file is there
kill_at() { # file, verb, options...
    file=$1 verb=$2
    shift 2
    "$TAPER" $verb -q -f --units 12 --hidden 16 --epochs 2 --batch 64 \
        --set-images 1000000 -o killed.tpm "$@" set/png &
    running=$!
    while [ ! -e "$file" ] && kill -0 $running 2>/dev/null; do sleep 0.02; done
    kill -KILL $running 2>/dev/null || true
    wait $running 2>/dev/null || true
}

for kind in "$planes" "$units"; do
    predict=
    [ "$kind" = "$units" ] || predict='--conditional 8 --head 8 --predict-epochs 1'
    # shellcheck disable=SC2086
    run "$kind" unbroken.tpm $predict --checkpoint whole
    test -s whole.8x8
    test -s whole.16x16
    for at in .8x8 .16x16 .32x32; do
        # shellcheck disable=SC2086
        kill_at part$at "$kind" $predict --checkpoint part
        test -s part$at
    done
    # shellcheck disable=SC2086
    run "$kind" resumed.tpm $predict --checkpoint part --resume
    cmp unbroken.tpm resumed.tpm
    rm -f killed.tpm unbroken.tpm resumed.tpm part.* whole.*
done

# A network that restores is saved sixteen times, and each minute: killed at several steps it goes on from there.
restore() { # model, options...
    model=$1
    shift
    $exec "$TAPER" train -q -f --window 8 --units 12 --family conv --restore 8 --restore-steps 64 --checkpoint restoring \
        -o "$model" "$@" set/png
}
exec=
restore unbroken.tpm
rm restoring.conv
least=0
for at in 1 20 40; do
    { exec=exec; restore killed.tpm --resume; } & # no shell between, which would be killed in its place
    running=$!
    while now=$(checkpoint_step restoring.conv) && [ "${now:-0}" -lt $at ] && kill -0 $running 2>/dev/null; do sleep 0.02; done
    kill -KILL $running 2>/dev/null || true
    wait $running 2>/dev/null || true
    test ! -e killed.tpm
    now=$(checkpoint_step restoring.conv)
    test "$now" -ge $at || { echo "killed at step $now"; exit 1; }
    test "$now" -gt $least || { echo "step $now after $least: began anew"; exit 1; }
    least=$now
done
restore resumed.tpm --resume
cmp unbroken.tpm resumed.tpm

# with one window, the file is what was asked for
run "$planes" one.tpm -w 8 --checkpoint one
test -s one

# a checkpoint that was cut is refused by its own name, and stays as it was
head -c 17 one >cut
cp cut before
code=0
run "$planes" other.tpm -w 8 --checkpoint cut --resume 2>words || code=$?
test "$code" -eq 3 || { echo "exit code $code"; cat words; exit 1; }
grep -q '^taper train: cut: the checkpoint ends at byte 17' words || { cat words; exit 1; }
cmp cut before
test ! -e other.tpm

# In an epoch of many steps, SIGUSR1 saves a checkpoint, each time, and training goes on; SIGTERM saves one and ends.
"$SAMPLES" small more --count 100 --format png
long() { # model, options...
    model=$1
    shift
    $exec "$TAPER" train -q -f -T1 --quick --fast --window 8 --units 12 --family dense --hidden 512,256 --batch 1 --epochs 1 \
        -o "$model" "$@" more/png
}
begin_long() { # until the program listens
    { exec=exec; long "$@" 2>said; } &
    running=$!
    await_listening $running
}
exec=
long unbroken.tpm
begin_long asked.tpm --checkpoint asked
save_now $running asked 0
save_now $running asked "$saved"
wait $running
test "$saved" -lt "$(checkpoint_step asked)" || { echo "step $saved is the last"; exit 1; }
cmp unbroken.tpm asked.tpm
rm asked asked.tpm
begin_long asked.tpm --checkpoint asked
save_now $running asked 0
kill -TERM $running
code=0
wait $running || code=$?
test $code -eq 143 || { echo "exit code $code after SIGTERM"; cat said; exit 1; }
grep -q "^taper train: asked: warning: stopped by a signal after step $(checkpoint_step asked) of " said || { cat said; exit 1; }
test "$(checkpoint_step asked)" -gt "$saved"
test ! -e asked.tpm
long asked.tpm --checkpoint asked --resume
cmp unbroken.tpm asked.tpm

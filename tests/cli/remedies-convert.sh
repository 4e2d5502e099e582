# Formats that are not read: the command is taken from the message and run, and encode takes what it wrote. Transparency
# is no obstacle.
. "$ROOT/tests/cli_helpers.sh"
command -v convert >/dev/null || { echo "SKIP convert (package imagemagick) is not installed"; exit 0; }
case $(convert -version) in *ImageMagick*) ;; *) echo "SKIP convert is not of imagemagick"; exit 0 ;; esac
small_set 60
cp set/png/arrow/0001.png IN.png

# As the message of IN.$1 proposes.
remedy() { # ending
    expect 2 "*is not read: convert it to PNG first, for example *" "$TAPER" encode -m tiny -o set.taper "IN.$1"
    command=$(sed -n 's/.* for example \(.*\) (package [a-z]*).*/\1/p' expect.err)
    rm -f OUT.png
    sh -c "$command" || { echo "IN.$1: $command failed"; exit 1; }
    "$TAPER" encode -q -f -m tiny -o set.taper OUT.png
    test "$("$TAPER" info --json set.taper | json_number images)" -eq 1
}
printf '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><circle cx="9" cy="9" r="5"/></svg>' >IN.svg
remedy svg
left=
for ending in psd tga ico jp2 j2c exr; do
    if ! convert IN.png -alpha set -channel A -evaluate set 40% +channel "IN.$ending" 2>/dev/null ||
        [ ! -s "IN.$ending" ]; then
        left="$left $ending"
        continue
    fi
    remedy $ending
done
# what every installation of it has
for ending in psd tga ico; do
    case "$left " in *" $ending "*) echo "convert cannot write $ending"; exit 1 ;; esac
done

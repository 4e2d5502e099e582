# The server block for nginx in docs/streaming.md serves what `taper page` writes: types, ranges, the compressed script.
. "$ROOT/tests/cli_helpers.sh"
PATH=$PATH:/usr/sbin
for tool in nginx curl; do command -v $tool >/dev/null || { echo "SKIP no $tool"; exit 0; }; done
"$SAMPLES" scenes scene --count 2
mkdir www
"$TAPER" encode -q -m tiny --layout gallery -o set.taper scene
if ! "$TAPER" page -q -o www/set set.taper 2>words; then
    grep -q 'built without a decoder for browsers' words
    echo "SKIP no clang for WebAssembly"
    exit 0
fi

# the block as it is on the page, but for the folder and the port
sed -n '/^```nginx$/,/^```$/p' "$ROOT/docs/streaming.md" | sed '/^```/d' >block
grep -q '^server {' block
here=$(pwd)
port=$((20000 + $$ % 20000))
sed -e "s|root /var/www/html|root $here/www|" -e "s|listen 80|listen 127.0.0.1:$port|" block >server
grep -q "listen 127.0.0.1:$port" server
cp /etc/nginx/mime.types .
cat >conf <<CONF
daemon off; master_process off; pid $here/pid; error_log $here/errors;
events {}
http {
    access_log off;
    client_body_temp_path $here/1; proxy_temp_path $here/2; fastcgi_temp_path $here/3;
    uwsgi_temp_path $here/4; scgi_temp_path $here/5;
    include server;
}
CONF
nginx -p "$here" -c "$here/conf" &
server=$!
trap 'kill $server' EXIT
at=http://127.0.0.1:$port/set
tries=0
until curl -s -o /dev/null "$at/"; do tries=$((tries + 1)); test $tries -lt 100; sleep 0.1; done

type_of() { curl -sI "$at/$1" | tr -d '\r' | sed -n 's/^[Cc]ontent-[Tt]ype: *//p'; }
test "$(type_of '')" = text/html
test "$(type_of taper.wasm)" = application/wasm
curl -sf "$at/set.taper" | cmp - set.taper
curl -sf -r 100-199 "$at/set.taper" >part
head -c 200 set.taper | tail -c 100 | cmp - part
# a range is never compressed, whatever the client accepts
curl -sf -H 'Accept-Encoding: gzip' -r 0-9 -D head -o part "$at/set.taper"
not grep -qi '^content-encoding' head
grep -qi '^content-range: bytes 0-9/' head
curl -sf -H 'Accept-Encoding: gzip' "$at/viewer.js" | cmp - www/set/viewer.js.gz

# Each figure of the documents that names a record is that of the record, and a wrong one is found.
command -v python3 >/dev/null || { echo "SKIP no python3"; exit 0; }
python3 "$ROOT/tests/doc_figures.py" >told || { cat told; exit 1; }
awk '{ if ($1 < 250) exit 1 }' told

# a figure, a row, a record and a number in the text that are not there
wrong() { # sed expression, what is told
    sed "$1" "$ROOT/docs/benchmarks.md" >wrong.md
    if cmp -s wrong.md "$ROOT/docs/benchmarks.md"; then exit 1; fi
    if python3 "$ROOT/tests/doc_figures.py" "$PWD/wrong.md" >told; then exit 1; fi
    grep -q "$2" told
}
wrong 's/ 59\.3 / 59.4 /' '59\.4 in no record'
wrong '/^allocation=mean accounting=file$/d' '6 rows in the table, 5 in its comment'
wrong 's/set=usps/set=uspz/' '2\.6 in no record'
wrong 's/take 1\.8 and/take 1.9 and/' '1\.8 is claimed but not shown'

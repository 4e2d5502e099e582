# bundle.awk -- joins ES modules, given in the order of their imports, into one script without imports. Each module
# becomes a function that returns its exports; the last one, the entry, stays as it is. Comments and indentation go.
# Understands `import { a, b as c } from "./x.js";` and `export` before a declaration, a list or a list from a module,
# each at the beginning of a line.
function module_of(text) {
    sub(/^.*from[[:space:]]*"/, "", text)
    sub(/".*$/, "", text)
    sub(/^.*\//, "", text)
    gsub(/[^A-Za-z0-9_]/, "_", text)
    return "$" text
}
function listed(text) {
    sub(/^[^{]*\{/, "", text)
    sub(/\}.*$/, "", text)
    gsub(/[[:space:]]+/, " ", text)
    return text
}
function import_of(text, list) {
    list = listed(text)
    gsub(/ as /, ": ", list)
    print "const {" list "} = " module_of(text) ";"
}
function export_list(text, from, part, n, k, pair) {
    from = text ~ /\}[[:space:]]*from/ ? module_of(text) "." : ""
    n = split(listed(text), part, ",")
    for (k = 1; k <= n; k++) {
        gsub(/^ +| +$/, "", part[k])
        if (part[k] == "") continue
        if (split(part[k], pair, / as /) < 2) pair[2] = pair[1]
        exported = exported pair[2] ": " from pair[1] ", "
    }
}
function export_name(line, name) {
    name = line
    sub(/^(async )?(function\*?|class|const|let) /, "", name)
    sub(/[^A-Za-z0-9_$].*$/, "", name)
    exported = exported name ", "
}
function finish() {
    if (wrapped) print "return {" exported "}; })();"
    wrapped = 0
}
FNR == 1 {
    finish()
    in_comment = 0
    statement = exported = ""
    if (FILENAME != ARGV[ARGC - 1]) {
        wrapped = 1
        print "const " module_of("from \"" FILENAME "\"") " = (() => {"
    }
}
in_comment { if (/\*\//) in_comment = 0; next }
statement == "" && /^[[:space:]]*\/\*/ && !/\*\/.*[^[:space:]]/ { if (!/\*\//) in_comment = 1; next }
/^[[:space:]]*\/\// { next }
statement != "" || /^import [{"]/ || /^export \{/ {
    statement = statement " " $0
    if (!/;[[:space:]]*$/) next
    if (statement ~ /^ import/) import_of(statement)
    else export_list(statement)
    statement = ""
    next
}
{
    if (sub(/^export /, "")) export_name($0)
    sub(/^[[:space:]]+/, "")
    if (length($0)) print
}

# bundle.awk -- joins ES modules, given in the order of their imports, into one: imports from each other and the word
# export go, and so do comments and indentation. Top-level names must differ between the modules.
FNR == 1 { in_comment = in_import = 0 }
in_comment { if (/\*\//) in_comment = 0; next }
in_import { if (/;[[:space:]]*$/) in_import = 0; next }
/^[[:space:]]*\/\*/ && !/\*\/.*[^[:space:]]/ { if (!/\*\//) in_comment = 1; next }
/^[[:space:]]*\/\// { next }
/^import .*from/ { next }
/^import / { if (!/;[[:space:]]*$/) in_import = 1; next }
/^export (\{|\*)/ { if (!/;[[:space:]]*$/) in_import = 1; next }
{ sub(/^export (default )?/, ""); sub(/^[[:space:]]+/, ""); if (length($0)) print }

# Reads a JSON document (skips a #cloud-config line before it) and prints a shell assignment for each value:
#   {"users": [{"name": "root"}]}   with -v name=user   ->   user_users_0_name='root'
# and for each object its names: user_keys='users'. Each value is one line, with the escapes of printf %b.
{ text = text $0 "\n" }

END {
  while (sub(/^[ \t\r\n]*#[^\n]*\n/, "", text)) { }
  pieces = split(text, piece, "\"")
  for (i = 1; i <= pieces; i++) {
    structure(piece[i])
    if (++i > pieces) break
    s = piece[i]
    while (i < pieces && match(s, /\\+$/) && RLENGTH % 2) s = s "\"" piece[++i] # that quote belongs to the string
    string(escapes(s))
  }
}

# Everything outside of strings: brackets, commas, numbers, true, false, null.
function structure(s,    k, c) {
  for (k = 1; k <= length(s); k++) {
    c = substr(s, k, 1)
    if (c ~ /[-+.0-9A-Za-z]/) { word = word c; continue }
    if (word != "") { if (word != "null") assign(word); word = "" }
    if (c == "{") { depth++; object[depth] = 1; step[depth] = keys[depth] = ""; expectName = 1 }
    else if (c == "[") { depth++; object[depth] = 0; step[depth] = 0; expectName = 0 }
    else if (c == "}") { print place(depth - 1) "_keys='" substr(keys[depth], 2) "'"; depth--; expectName = 0 }
    else if (c == "]") { depth--; expectName = 0 }
    else if (c == ",") { if (object[depth]) expectName = 1; else step[depth]++ }
  }
}

function string(s) {
  if (!expectName) { assign(s); return }
  gsub(/[^A-Za-z0-9]/, "_", s)
  step[depth] = s; keys[depth] = keys[depth] " " s; expectName = 0
}

function assign(value) { gsub(/'/, "'\\''", value); print place(depth) "='" value "'" }

function place(levels,    k, p) { p = name; for (k = 1; k <= levels; k++) p = p "_" step[k]; return p }

function escapes(s,    out, at, c) {
  while ((at = index(s, "\\")) > 0) {
    c = substr(s, at + 1, 1); out = out substr(s, 1, at - 1); s = substr(s, at + 2)
    if (c == "u") { out = out utf8(substr(s, 1, 4)); s = substr(s, 5) }
    else if (c == "\"" || c == "/") out = out c
    else out = out "\\" c
  }
  return out s
}

function utf8(hex,    k, code) {
  for (k = 1; k <= 4; k++) code = code * 16 + index("123456789abcdef", tolower(substr(hex, k, 1)))
  if (code < 128) return octal(code)
  if (code < 2048) return octal(192 + int(code / 64)) octal(128 + code % 64)
  return octal(224 + int(code / 4096)) octal(128 + int(code / 64) % 64) octal(128 + code % 64)
}

function octal(byte) { return sprintf("\\0%03o", byte) }

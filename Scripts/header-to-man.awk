# Makes a manual page from a public header: its declarations with the comments before them.
#   awk -v version=1.0.0 -f header-to-man.awk HEADER
# A function without a comment is an error.

function escaped(text) {
  gsub(/\\/, "\\e", text)
  gsub(/-/, "\\-", text)
  return text
}

# Marks `words` and functions() of the library in running text.
function marked(text,   out) {
  text = escaped(text)
  while (match(text, /`[^`]*`|(dn|notify)_[a-z0-9_]+\(\)/)) {
    out = out substr(text, 1, RSTART - 1)
    if (substr(text, RSTART, 1) == "`")
      out = out "\\fI" substr(text, RSTART + 1, RLENGTH - 2) "\\fR"
    else
      out = out "\\fB" substr(text, RSTART, RLENGTH - 2) "\\fR()"
    text = substr(text, RSTART + RLENGTH)
  }
  out = out text
  return out ~ /^[.']/ ? "\\&" out : out
}

function item(tag, text) {
  body = body ".TP\n.B " escaped(tag) "\n"
  if (text != "") body = body marked(text) "\n"
  in_item = 1
}

# Adds one line of a comment to the body of the page.
function add_line(line,   words, tag, rest) {
  if (line ~ /^ *$/) { wants_paragraph = 1; return }
  if (line ~ /^@param /) {
    sub(/^@param +/, "", line)
    tag = line; sub(/ .*/, "", tag)
    sub(/^[^ ]+ */, "", line)
    item(tag, line)
  } else if (line ~ /^@return /) {
    sub(/^@return +/, "", line)
    item("Returns", line)
  } else if (line ~ /^(Errors|Threads|Apple|Returns):/) {
    tag = line; sub(/:.*/, "", tag)
    sub(/^[A-Za-z]+: */, "", line)
    item(tag, line)
  } else if (line ~ /^  -E[A-Z0-9]+ /) {
    sub(/^ +/, "", line)
    tag = line; sub(/ .*/, "", tag)
    sub(/^[^ ]+ */, "", line)
    item(tag, line)
  } else if (line ~ /^ +[0-9]+\. /) {
    sub(/^ +/, "", line)
    tag = line; sub(/ .*/, "", tag)
    sub(/^[^ ]+ +/, "", line)
    body = body ".IP " tag " 4\n" marked(line) "\n"
    in_item = 1
  } else {
    if (wants_paragraph) body = body ".PP\n"
    else if (line !~ /^ /) in_item = 0
    sub(/^ +/, "", line)
    body = body marked(line) "\n"
  }
  wants_paragraph = 0
}

function add_code(text,   i, n, lines) {
  n = split(text, lines, "\n")
  body = body ".PP\n.in +4n\n.nf\n"
  for (i = 1; i <= n; i++) body = body (lines[i] ~ /^[.']/ ? "\\&" : "") escaped(lines[i]) "\n"
  body = body ".fi\n.in\n"
}

function add_comment(   i) {
  wants_paragraph = 1
  for (i = 1; i <= n_comment; i++) add_line(comment[i])
  n_comment = 0
}

# The name that a declaration declares: the last one before the arguments, or that of the type.
function name_of(code,   text) {
  text = code
  if (match(text, /\(\*dn_[a-z0-9_]+\)/)) return substr(text, RSTART + 2, RLENGTH - 3)
  if (text ~ /^#define/) {
    sub(/^#define /, "", text)
    sub(/[ (].*/, "", text)
    return text
  }
  if (text ~ /^typedef/) {
    sub(/;$/, "", text)
    sub(/.*[ }*]/, "", text)
    return text
  }
  if (match(text, /dn_[a-z0-9_]+\(/)) return substr(text, RSTART, RLENGTH - 1)
  return ""
}

function end_declaration(   name, is_function) {
  is_function = code ~ /^(DN_EXPORT|static inline)/
  name = name_of(code)
  if (is_function) {
    if (!has_comment && !in_group) {
      print FILENAME ":" FNR ": " name " has no comment" >"/dev/stderr"
      failed = 1
    }
    if (match(code, /^(DN_EXPORT|static inline) /)) {
      code = substr(code, RLENGTH + 1)
      gsub("\n" sprintf("%" RLENGTH "s", ""), "\n", code)
    }
    sub(/\n\{.*/, ";", code)
    gsub(/ DN_SENDABLE/, "", code)
    needs_bus = gsub(/ DN_NEEDS_BUS/, "", code)
    names = names ", " name
    synopsis = synopsis code "\n"
  }
  if (has_comment) {
    if (is_function) body = body ".SS " name "()\n"
    else body = body ".SS " (name == "" ? "Constants" : name) "\n"
    add_comment()
    if (is_function && needs_bus)
      body = body ".PP\nLeft out of a library that was built without D\\-Bus.\n"
    if (!is_function) add_code(code)
  }
  has_comment = 0
  code = ""
}

# ---- the parts of the file -----------------------------------------------------------------------

in_comment {
  line = $0
  closes = line ~ /\*\/[ ]*$/
  sub(/ *\*\/[ ]*$/, "", line)
  sub(/^ *\*? ?/, "", line)
  if (!closes || line !~ /^ *$/) comment[++n_comment] = line
  if (closes) end_comment()
  next
}

function end_comment() {
  in_comment = 0
  if (!has_title) {
    has_title = 1
    title = comment[1]
    sub(/\.$/, "", title)
    comment[1] = ""
    add_comment()
    n_comment = 0
  } else if (is_doc) {
    has_comment = 1
  } else {
    is_plain = 1
  }
}

code == "" && /^\/\*/ {
  n_comment = 0
  is_doc = /^\/\*\*/
  line = $0
  sub(/^\/\*\*? ?/, "", line)
  if (line ~ /\*\/$/) {
    sub(/ *\*\/$/, "", line)
    comment[++n_comment] = line
    end_comment()
  } else {
    if (line !~ /^ *$/) comment[++n_comment] = line
    in_comment = 1
  }
  next
}

# A plain comment followed by a blank line applies to everything after it.
code == "" && /^$/ {
  if (is_plain && comment[1] !~ /^---/) {
    body = body ".SS Common to what follows\n"
    add_comment()
    in_group = 1
  }
  is_plain = 0
  next
}

code == "" && /^#/ {
  if (has_comment && /^#define /) { code = $0; end_declaration() }
  is_plain = 0
  next
}

code == "" && /^DN_(BEGIN|END)_DECLS/ { next }

{
  if (code == "" && has_comment) in_group = 0
  code = code == "" ? $0 : code "\n" $0
  if (code ~ /\{/ ? /^\}/ : /;$/) end_declaration()
}

END {
  if (failed) exit 1
  page = FILENAME
  sub(/.*\//, "", page)
  header = page
  sub(/\.h$/, "", page)
  printf ".\\\" Made from <darwinnotify/%s>.\n", header
  printf ".TH DARWINNOTIFY-%s 3 \"\" \"DarwinNotify %s\" \"Library Functions Manual\"\n", \
    toupper(page), version
  printf ".SH NAME\ndarwinnotify-%s%s \\- %s\n", page, names, escaped(title)
  print ".SH LIBRARY\nlibdarwinnotify (\\fBpkg-config \\-\\-cflags \\-\\-libs darwinnotify\\fR)"
  printf ".SH SYNOPSIS\n.nf\n.B #include <darwinnotify/%s>\n.PP\n%s.fi\n", header, escaped(synopsis)
  printf ".SH DESCRIPTION\n%s", body
  print ".SH \"SEE ALSO\"\n.BR darwinnotify (7),\n.BR notify (3)"
}

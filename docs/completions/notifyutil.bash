# Completes the command line of notifyutil in bash.

# Sets `words` to the words up to the current one. Bash splits them at colons and equals signs too,
# with no blank between the pieces; `head` is the part of the current word before its last piece,
# which is all that a completion replaces.
_notifyutil_words() {
  local line=$COMP_LINE piece i
  words=() head=
  for ((i = 0; i <= COMP_CWORD; i++)); do
    piece=${COMP_WORDS[i]}
    if [[ $i -eq 0 || $line == [[:blank:]]* ]]; then
      words+=('')
      line=${line#"${line%%[![:blank:]]*}"}
    fi
    line=${line#"$piece"}
    head=${words[-1]}
    words[-1]+=$piece
  done
  # The piece after a colon at the end of the word is empty.
  [[ -z ${piece//[:=]} ]] && head=${words[-1]}
  return 0
}

# Prints the names in use, within a second at most.
_notifyutil_names() {
  local bus=() i
  for ((i = 1; i < ${#words[@]}; i++)); do
    case ${words[i]} in
      --bus) if ((i + 2 < ${#words[@]})); then bus=(--bus "${words[i + 1]//[\"\']}"); fi ;;
      --bus=*) bus=(--bus "${words[i]#*=}") ;;
    esac
  done
  # The output is a table with a heading; names with blanks are quoted.
  # Names with backslashes are left out, since they are printed escaped.
  timeout 1 "${words[0]}" ${bus[@]+"${bus[@]}"} --list 2>/dev/null </dev/null |
    sed -nE '1d; /\\/d; s/^"([^"]*)" .*/\1/p; t; s/ .*//p'
}

# Completes the current word with each line of standard input that begins with it.
_notifyutil_lines() {
  local line prefix=${1#[\"\']}
  while IFS= read -r line; do
    [[ $line == "$prefix"* ]] || continue
    # A name may contain any characters: none may end the quotes that were typed, or have an effect
    # outside quotes.
    if [ "$prefix" = "$1" ]; then
      printf -v line %q "$line"
    elif [[ $line == *[\"\'\\\$\`]* ]]; then
      continue
    fi
    COMPREPLY+=("$line")
  done
}

_notifyutil() {
  local words word before head
  _notifyutil_words
  [ ${#words[@]} -gt 1 ] || return 0
  word=${words[-1]} before=${words[-2]}
  COMPREPLY=()
  case $word in
    --bus=*)
      _notifyutil_lines "$word" < <(printf '%s\n' --bus=session --bus=system --bus=none)
      COMPREPLY=("${COMPREPLY[@]#"$head"}")
      return ;;
    --*=*) return ;;
  esac
  case $before in
    -p | -w | -g | -s | -[0-9]* | --post-distributed)
      _notifyutil_lines "$word" < <(_notifyutil_names)
      COMPREPLY=("${COMPREPLY[@]#"$head"}")
      return ;;
    --exec)
      mapfile -t COMPREPLY < <(compgen -c -- "$word")
      return ;;
    -z | --timeout | --object | --user-info) return ;;
    --bus)
      _notifyutil_lines "$word" < <(printf '%s\n' session system none)
      COMPREPLY=("${COMPREPLY[@]#"$head"}")
      return ;;
    -signal | -sig)
      [[ $word == -* ]] || {
        _notifyutil_lines "$word" < <(printf '%s\n' 10 12)
        return
      } ;;
    --monitor | --list | --top | --metrics | --doctor)
      [[ $word == -* ]] || {
        _notifyutil_lines "$word" < <(_notifyutil_names)
        COMPREPLY=("${COMPREPLY[@]#"$head"}")
        [ -n "$word" ] && return
      } ;;
  esac
  _notifyutil_lines "$word" < <(printf '%s\n' -h -help --help --version -q -v -z -M -R --bus --json \
    --wait-for-bus --timeout --ready --exec -port -file -check -plain -dispatch --distributed -signal -sig \
    -p -w -1 -g -s --post-distributed --object --user-info --list --monitor \
    --top --metrics --doctor --probe)
}

complete -F _notifyutil notifyutil

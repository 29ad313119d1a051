# Completes the command line of notifyutil in bash.

# Prints the names that are in use, if that is quick: not even a name can hold a run for long.
_notifyutil_names() {
  local bus=() i
  for ((i = 1; i + 1 < COMP_CWORD; i++)); do
    if [ "${COMP_WORDS[i]}" = --bus ]; then bus=(--bus "${COMP_WORDS[i + 1]}"); fi
  done
  # Each line is: NAME generation NUMBER state NUMBER pids NUMBER...
  timeout 1 "${COMP_WORDS[0]}" ${bus[@]+"${bus[@]}"} --list 2>/dev/null </dev/null |
    sed -nE 's/ generation [0-9]+ state [0-9]+ pids [0-9? ]+$//p'
}

# Completes the current word with each line of the standard input that begins with it.
_notifyutil_lines() {
  local line prefix=${1#[\"\']}
  while IFS= read -r line; do
    [[ $line == "$prefix"* ]] || continue
    # A name may have any characters: none of them may end the quotes that were typed, or act
    # where there are none.
    if [ "$prefix" = "$1" ]; then
      printf -v line %q "$line"
    elif [[ $line == *[\"\'\\\$\`]* ]]; then
      continue
    fi
    COMPREPLY+=("$line")
  done
}

_notifyutil() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  # Bash splits words at colons, which completions then must not repeat.
  local head=
  if declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref -n : -c word -p before
    head=${word%"${word##*:}"}
  fi
  COMPREPLY=()
  case $before in
    -p | -w | -g | -s | -[0-9]*)
      _notifyutil_lines "$word" < <(_notifyutil_names)
      COMPREPLY=("${COMPREPLY[@]#"$head"}")
      return ;;
    -z) return ;;
    --bus)
      _notifyutil_lines "$word" < <(printf '%s\n' session system)
      return ;;
    -signal | -sig)
      [[ $word == -* ]] || {
        _notifyutil_lines "$word" < <(printf '%s\n' 10 12)
        return
      } ;;
    --monitor)
      [[ $word == -* ]] || {
        _notifyutil_lines "$word" < <(_notifyutil_names)
        COMPREPLY=("${COMPREPLY[@]#"$head"}")
        [ -n "$word" ] && return
      } ;;
  esac
  _notifyutil_lines "$word" < <(printf '%s\n' -h -help --help --version -q -v -z -M -R --bus --json \
    -port -file -check -plain -dispatch -signal -sig -p -w -1 -g -s --list --monitor)
}

complete -F _notifyutil notifyutil

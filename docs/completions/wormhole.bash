# Completes the command line of wormhole in bash.

_wormhole() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} data group
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W 'get pass listen history clear names defaults backup
      --version -h --help' -- "$word")
    return
  fi
  case $word in
    -*)
      mapfile -t COMPREPLY < <(compgen -W '--directory= --text --json --keep= --type= --since=
        --count= --remove' -- "$word")
      [[ ${COMPREPLY[0]:-} == *= ]] && compopt -o nospace
      return ;;
  esac
  data=${XDG_DATA_HOME:-$HOME/.local/share}
  group=${COMP_WORDS[COMP_CWORD - 1]}
  if [ -d "$data/$group" ] && [ -n "$group" ]; then
    case $command in
      backup) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
      defaults) mapfile -t COMPREPLY < <(compgen -W "$(_wormhole_column '"key"' \
        defaults "$group")" -- "$word") ;;
      *) mapfile -t COMPREPLY < <(compgen -W "$(_wormhole_column '"name"' \
        names "$group")" -- "$word") ;;
    esac
  else
    mapfile -t COMPREPLY < <(cd "$data" 2>/dev/null && compgen -d -- "$word")
  fi
}

# Prints the names or keys of a group, within a second at most. Those with quotes are left out.
_wormhole_column() {
  timeout 1 "${COMP_WORDS[0]}" "$2" --json "$3" 2>/dev/null </dev/null |
    sed -nE "s/^\{$1:\"([^\"\\ ]*)\",.*/\1/p"
}

complete -F _wormhole wormhole

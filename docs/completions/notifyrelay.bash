# Completes the command line of notifyrelay in bash.

_notifyrelay() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  case $before in
    --config | --credentials | --ca | --certificate | --key)
      mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    --realm | --broker | --share | --share-group | --keep-alive | --max-payload) COMPREPLY=() ;;
    *)
      mapfile -t COMPREPLY < <(compgen -W '-h --help --version --config --realm --broker --share
        --share-group --receive-only --send-only --credentials --ca --certificate --key
        --keep-alive --max-payload --check --status --json --metrics --origin' -- "$word") ;;
  esac
}

complete -F _notifyrelay notifyrelay

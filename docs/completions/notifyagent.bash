# Completes the command line of notifyagent in bash.

_notifyagent() {
  mapfile -t COMPREPLY < <(compgen -W '-h --help --version --list --check --json --metrics' \
    -- "${COMP_WORDS[COMP_CWORD]}")
}

complete -F _notifyagent notifyagent

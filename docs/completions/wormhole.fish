# Completes the command line of wormhole in fish.

# Prints the groups of the user.
function __wormhole_groups
    set -l data $XDG_DATA_HOME
    test -n "$data"; or set data $HOME/.local/share
    path basename $data/*/
end

set -l commands get pass listen history clear names defaults backup
set -l first "not __fish_seen_subcommand_from $commands"

complete -c wormhole -f
complete -c wormhole -n $first -a get -d 'Print the newest message'
complete -c wormhole -n $first -a pass -d 'Pass a message'
complete -c wormhole -n $first -a listen -d 'Print what is passed'
complete -c wormhole -n $first -a history -d 'Print the messages that are kept'
complete -c wormhole -n $first -a clear -d 'Remove the messages'
complete -c wormhole -n $first -a names -d 'List the names'
complete -c wormhole -n $first -a defaults -d 'List, print or set defaults'
complete -c wormhole -n $first -a backup -d 'Copy all files'
complete -c wormhole -n "not $first" -a '(__wormhole_groups)'
complete -c wormhole -l directory -x -d 'Use this directory of messages'
complete -c wormhole -l text -d 'Values are texts, and not JSON'
complete -c wormhole -l json -d 'Print an object on each line'
complete -c wormhole -l keep -x -d 'Let the name keep this many messages'
complete -c wormhole -l type -x -d 'Pass a value of this type'
complete -c wormhole -l since -x -d 'Begin after this number'
complete -c wormhole -l count -x -d 'End after this many messages'
complete -c wormhole -l remove -d 'Remove the value of a key'
complete -c wormhole -l version -d 'Print the version'
complete -c wormhole -s h -l help -d 'Print the usage'

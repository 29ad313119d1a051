# Completes the command line of notifyutil in fish.

# Prints the names in use, within a second at most.
function __notifyutil_names
    set -l words (commandline -opc)
    set -l bus
    for i in (seq 2 (count $words))
        switch $words[$i]
            case --bus
                test $i -lt (count $words); and set bus --bus $words[(math $i + 1)]
            case '--bus=*'
                set bus --bus (string replace --regex '^--bus=' '' -- $words[$i])
        end
    end
    # The output is a table with a heading; names with blanks are quoted.
    # Names with backslashes are left out, since they are printed escaped.
    timeout 1 $words[1] $bus --list 2>/dev/null </dev/null |
        sed -nE '1d; /\\\\/d; s/^"([^"]*)" .*/\\1/p; t; s/ .*//p'
end

# Succeeds if the word before the current one matches: __notifyutil_after REGEXP
function __notifyutil_after
    string match --quiet --regex -- "^($argv[1])\$" (commandline -opc)[-1]
end

set -l keyed '-(p|w|g|s|[0-9]+)|--post-distributed'
set -l valued "$keyed|-z|--bus|--timeout|--exec|--object|--user-info"
set -l option "not __notifyutil_after '$valued'"

complete -c notifyutil -f
complete -c notifyutil -n "__notifyutil_after '$keyed|--monitor|--list|--top|--metrics|--doctor'" -a '(__notifyutil_names)'
complete -c notifyutil -n '__notifyutil_after --bus' -a 'session system none'
complete -c notifyutil -n "__notifyutil_after '-signal|-sig'" -a '10 12'
complete -c notifyutil -n '__notifyutil_after --exec' -a '(__fish_complete_command)'

complete -c notifyutil -n $option -o q -d 'Print nothing for notifications'
complete -c notifyutil -n $option -o v -d 'Print the details of each notification'
complete -c notifyutil -n $option -o z -d 'Pause after each -p, in milliseconds'
complete -c notifyutil -n $option -o M -d 'Set the option DISPATCH'
complete -c notifyutil -n $option -o R -d 'Set the option REGEN'
complete -c notifyutil -n $option -l bus -x -a 'session system none' -d 'Use this bus'
complete -c notifyutil -n $option -l wait-for-bus -d 'Wait for the bus first'
complete -c notifyutil -n $option -l timeout -x -d 'Stop after this time, in seconds'
complete -c notifyutil -n $option -l ready -d 'Report once everything is registered'
complete -c notifyutil -n $option -l exec -x -d 'Run a command for each notification'
complete -c notifyutil -n $option -l json -d 'Print JSON'
complete -c notifyutil -n $option -l version -d 'Print the version'
complete -c notifyutil -n $option -o h -d 'Print the usage'
complete -c notifyutil -n $option -o help -l help -d 'Print the usage'
complete -c notifyutil -n $option -o port -d 'Not supported: Linux has no Mach ports'
complete -c notifyutil -n $option -o file -d 'Register with a file descriptor'
complete -c notifyutil -n $option -o check -d 'Register for checks'
complete -c notifyutil -n $option -o plain -d 'Register for plain checks'
complete -c notifyutil -n $option -o dispatch -d 'Register with a handler on a queue'
complete -c notifyutil -n $option -l distributed -d 'Register with the distributed center'
complete -c notifyutil -n $option -o signal -d 'Register with a signal'
complete -c notifyutil -n $option -o sig -d 'Register with a signal'
complete -c notifyutil -n $option -o p -d 'Post a notification'
complete -c notifyutil -n $option -o w -d 'Report each notification'
complete -c notifyutil -n $option -o 1 -d 'Report one notification'
complete -c notifyutil -n $option -o g -d 'Print the state'
complete -c notifyutil -n $option -o s -d 'Set the state'
complete -c notifyutil -n $option -l post-distributed -x -a '(__notifyutil_names)' \
    -d 'Post a distributed notification'
complete -c notifyutil -n $option -l object -x -d 'The object of the post'
complete -c notifyutil -n $option -l user-info -x -d 'The user info of the post, a JSON object'
complete -c notifyutil -n $option -l list -d 'Print the keys in use'
complete -c notifyutil -n $option -l monitor -d 'Print every post on the bus'
complete -c notifyutil -n $option -l top -d 'Show rates, states and late processes'
complete -c notifyutil -n $option -l metrics -d 'Print the table as metrics'
complete -c notifyutil -n $option -l doctor -d 'Say what keeps posts from arriving'
complete -c notifyutil -n $option -l probe -d 'Let the doctor post to itself'

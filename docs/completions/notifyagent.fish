# Completes the command line of notifyagent in fish.

complete -c notifyagent -f
complete -c notifyagent -s h -l help -d 'Print the usage'
complete -c notifyagent -l version -d 'Print the version'
complete -c notifyagent -l list -d 'Print what is posted here, from what, and the units that posts start'
complete -c notifyagent -l check -d 'Print what keeps it from working'
complete -c notifyagent -l json -d 'Print JSON'
complete -c notifyagent -l metrics -d 'Print the list as metrics'

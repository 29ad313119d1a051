// Explains the command line.

enum Usage {
  static let hint = "usage: notifyutil [option ...] command ...  (notifyutil --help lists them)"

  static let text = """
    usage: notifyutil [-q] [-v] [-z msec] [-M] [-R] [option ...] [command ...]
    options, which act from anywhere on the line:
        -q              print nothing for notifications
        -v              print token, time, key, state and type of each notification
        -z msec         pause this long after each -p; default 100
        -M              set the option DISPATCH; it is always on here
        -R              set the option REGEN; it is always on here
        --bus ADDRESS   use this bus: session, system, or a D-Bus address
        --wait-for-bus  if there is no bus yet, wait for it before the first command
        --timeout SECONDS
                        stop after this time, with status 124 if a -# still waits
        --ready[=FD]    write the line "ready" to standard error, or to the descriptor FD,
                        when everything is registered
        --exec COMMAND  run the shell command for each notification, which NOTIFY_NAME and
                        NOTIFY_STATE describe
        --json          print JSON: an array for --list, otherwise an object a line
        --version       print the version
        -h, -help, --help
                        print this text
    commands, which run from left to right:
        -port           is refused: Linux has no Mach ports
        -file           register what follows with a file descriptor
        -check          register what follows for checks, made every 100 milliseconds
        -plain          register what follows for plain checks, made every 100 milliseconds
        -dispatch       register what follows with a handler on a queue (the default)
        -signal [n]     register what follows with signal n; default 1, or the n given last
        -sig [n]        the same
        -p key          post a notification
        -w key          register for the key, report each notification until killed
        -# key          register for the key, report # notifications (-1 key, -5 key, ...)
        -g key          print the state of the key
        -s key val      set the state of the key: 64 bits, decimal or 0x...
        --list          print the keys in use: generation, state and processes
        --monitor [prefix]
                        print every post on the bus, or of the keys that begin with the prefix
    exit status: 0 done, 1 wrong command line, 2 a command failed, 3 no bus, 124 time is up
    """
}

// Explains the command line.

enum Usage {
  static let text = """
    usage: notifyutil [-q] [-v] [-z msec] [-M] [-R] [--bus ADDRESS] [--json] [command ...]
    options, which act from anywhere on the line:
        -q              print nothing for events
        -v              print token, time, key, state and type of each event
        -z msec         pause so long after each -p; default 100
        -M              set the option DISPATCH; it is always so here
        -R              set the option REGEN; it is always so here
        --bus ADDRESS   use this bus: session, system, or a D-Bus address
        --json          print JSON for --monitor (an object a line) and --list (an array)
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
        -s key val      set the state of the key, a number of 64 bits
        --list          print the keys in use: generation, state and processes
        --monitor [prefix]
                        print every post on the bus, or of the keys that begin with the prefix
    """
}

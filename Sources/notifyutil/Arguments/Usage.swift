// The help text.

import DarwinNotify
import Glibc

enum Usage {
  static let hint = "usage: notifyutil [option ...] command ...  (see notifyutil --help)"

  static let text = """
    usage: notifyutil [-q] [-v] [-z msec] [-M] [-R] [option ...] [command ...]
    options, which apply wherever they appear:
        -q              print nothing for notifications
        -v              print token, time, key, state and type of each notification
        -z msec         pause this long after each -p; the default is 100
        -M              set the option DISPATCH; no effect here
        -R              set the option REGEN; no effect here
        --bus ADDRESS   use this bus: session, system, none, or a D-Bus address
        --wait-for-bus  if there is no bus yet, wait for one before the first command
        --timeout SECONDS
                        stop after this time, with status 124 if a -# is still waiting
        --ready[=FD]    write the line "ready" to standard error, or to the descriptor FD,
                        once everything is registered
        --exec COMMAND  run the shell command for each notification, with NOTIFY_NAME and
                        NOTIFY_STATE, or NOTIFY_OBJECT and NOTIFY_USER_INFO, in its
                        environment
        --json          print JSON: an array for --list, otherwise one object per line
        --probe         for --doctor: post to itself; observers of every name hear it
        --version       print the version
        -h, -help, --help
                        print this text
    commands, which run from left to right:
        -port           not supported: Linux has no Mach ports
        -file           use a file descriptor for later registrations
        -check          check later registrations every 100 milliseconds
        -plain          the same, with plain registrations
        -dispatch       use a handler for later registrations (the default)
        --distributed   use the distributed center for later registrations
        -signal [n]     use signal n for later registrations; the default is 1, or the last n
        -sig [n]        the same
        -p key          post a notification
        -w key          register for the key and report each notification until killed
        -# key          register for the key and report # notifications (-1 key, -5 key)
        -g key          print the state of the key
        -s key val      set the state of the key: 64 bits, decimal or 0x...
        --post-distributed key
                        post to the distributed center; these options may follow:
        --object text   the object of the post
        --user-info json
                        the user info of the post: a JSON object
        --list [prefix] print the keys in use: generation, state and processes
        --monitor [prefix]
                        print every post on the bus, or only posts of keys with the prefix
        --top [prefix]  show rates, states and late processes, once a second
        --metrics [prefix]
                        print the same once, as metrics in the format of OpenMetrics
        --doctor [key] [pid]
                        say what keeps posts from arriving: of the key, in the process
    exit status: 0 done, 1 invalid command line, 2 a command failed, 3 no bus, 124 timed out;
    of --doctor: 0 nothing found, 1 something found, 2 the process cannot be examined
    """
}

/// Why there is nothing to run.
enum Ending: Error, Equatable {
  case help
  case version
  /// The command line is empty.
  case usage
  case mistake(String)

  /// Prints the message and ends the program.
  func tell() -> Never {
    switch self {
    case .help:
      Output.complain(Usage.text)
    case .version:
      Output.print("notifyutil \(DarwinNotificationCenter.libraryVersion)")
    case .usage:
      Output.complain(Usage.text)
      ExitStatus.mistake.end()
    case .mistake(let text):
      Output.complain("notifyutil: \(text)")
      Output.complain(Usage.hint)
      ExitStatus.mistake.end()
    }
    ExitStatus.success.end()
  }
}

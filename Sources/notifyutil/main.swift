// Does what the command line says.
import Glibc

Output.reserveStandardStreams()
let arguments: Arguments
do throws(Ending) {
  arguments = try Arguments(parsing: try CommandLine.words)
} catch {
  error.tell()
  exit(error.status)
}
arguments.settings.apply()
for note in arguments.notes { Output.complain(note) }

let watch = Watch(printing: arguments.settings.printing)
Runner(settings: arguments.settings, watch: watch).run(arguments.commands)
watch.exitWhenDone()
while true { pause() }

// Runs the command line.
import Glibc

Output.reserveStandardStreams()
let arguments: Arguments
do throws(Ending) {
  arguments = try Arguments(parsing: try CommandLine.words)
} catch {
  error.tell()
}
let settings = arguments.settings
let bus = BusChoice(settings.bus)
let failures = Failures(bus: bus)
settings.apply()

let watch = Watch(settings: settings, failures: failures)
if let timeout = settings.timeout { watch.end(after: timeout) }
if settings.waitsForBus, !bus.addresses.isEmpty { watch.waitForBus() }
Runner(settings: settings, watch: watch, failures: failures).run(arguments.commands)
watch.exitWhenDone()
while true { pause() }

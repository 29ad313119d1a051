// Runs the command line.
import Glibc

Output.reserveStandardStreams()
let arguments: Arguments
let bus: BusChoice
do throws(Ending) {
  arguments = try Arguments(parsing: try CommandLine.words)
  bus = try BusChoice(arguments.settings.bus)
} catch {
  error.tell()
}
let settings = arguments.settings
let failures = Failures(bus: bus)
settings.apply()

let watch = Watch(settings: settings, failures: failures)
if let timeout = settings.timeout { watch.end(after: timeout) }
if settings.waitsForBus, !bus.addresses.isEmpty { watch.waitForBus() }
Runner(settings: settings, watch: watch, failures: failures).run(arguments.commands)
watch.exitWhenDone()
while true { pause() }

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

let registrations = Registrations(settings: settings, failures: failures)
if let timeout = settings.timeout { registrations.end(after: timeout) }
if settings.waitsForBus, !bus.addresses.isEmpty { registrations.waitForBus() }
Runner(settings: settings, registrations: registrations, failures: failures).run(arguments.commands)
registrations.exitWhenDone()
while true { pause() }

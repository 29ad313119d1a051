// Gives the defaults and databases of the version before their columns.

extension Wormhole.Sender {
  var uid: UInt32 { 0 }
  init(pid: Int32, uid: UInt32, process: UInt64) { self.init(pid: pid, process: process) }
}

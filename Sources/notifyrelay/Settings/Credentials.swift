// Reads the credentials for a broker.

/// How a relay identifies itself to a broker.
struct Credentials: Equatable {
  let user: String
  let password: String

  /// Reads `user = NAME` and `password = TEXT` from a file that nobody else can read.
  init(_ path: String) throws(Mistake) {
    if let fault = File.fault(ofSecret: path) { throw fault }
    var values: [String: String] = [:]
    for line in SettingsFile.lines(of: try File.readText(path)) { values[line.key] = line.value }
    guard let user = values["user"], let password = values["password"] else {
      throw Mistake("\(path) needs two lines: user = NAME and password = TEXT")
    }
    guard max(user.utf8.count, password.utf8.count) <= Packet.maxTextBytes else {
      throw Mistake("\(path) has a line that is too long")
    }
    (self.user, self.password) = (user, password)
  }
}

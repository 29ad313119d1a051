// Reads the credentials for a broker.

/// How a relay identifies itself to a broker.
struct Credentials: Equatable {
  let user: String
  let password: String

  /// Reads `user = NAME` and `password = TEXT` from a file that nobody else can read.
  init(_ path: String) throws(Mistake) {
    if let fault = File.fault(ofSecret: path) { throw fault }
    guard let text = File.read(path) else { throw Mistake("\(path) cannot be read") }
    var values: [String: String] = [:]
    for line in SettingsFile.lines(of: text) { values[line.key] = line.value }
    guard let user = values["user"], let password = values["password"] else {
      throw Mistake("\(path) needs two lines: user = NAME and password = TEXT")
    }
    (self.user, self.password) = (user, password)
  }
}

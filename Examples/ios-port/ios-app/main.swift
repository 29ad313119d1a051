// Stands for an app that shows what its extension has passed to it.
//
//     swift run ios-app GROUP FOLDER NUMBER-OF-NOTIFICATIONS
import Foundation

guard CommandLine.arguments.count == 4, var left = Int(CommandLine.arguments[3]) else {
  fatalError("usage: ios-app GROUP FOLDER NUMBER-OF-NOTIFICATIONS")
}
let group = CommandLine.arguments[1]
let folder = URL(fileURLWithPath: CommandLine.arguments[2])

func say(_ line: String) {
  FileHandle.standardOutput.write(Data("\(line)\n".utf8))
}

func show(_ name: String) {
  let message = folder.appendingPathComponent(String(name.dropFirst(group.count + 1)))
  let text = (try? String(contentsOf: message, encoding: .utf8)) ?? "nothing"
  say("\(name): \(text)")
}

var observer: ExtensionObserver?
observer = ExtensionObserver(names: ["\(group).status", "\(group).reload"]) { name in
  show(name)
  left -= 1
  if left == 0 {
    observer = nil
    exit(0)
  }
}
say("ready")
RunLoop.main.run()

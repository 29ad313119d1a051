// Stands for an extension that passes a status to its app.
//
//     swift run ios-extension GROUP FOLDER STATUS
import Foundation

guard CommandLine.arguments.count == 4 else {
  fatalError("usage: ios-extension GROUP FOLDER STATUS")
}
let messenger = GroupMessenger(
  group: CommandLine.arguments[1], folder: URL(fileURLWithPath: CommandLine.arguments[2]))
try messenger.passMessage(CommandLine.arguments[3], identifier: "status")

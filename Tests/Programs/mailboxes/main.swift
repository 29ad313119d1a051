// Sources as they are written for MMWormhole on iOS and macOS: nothing in them is meant for Linux.
//
//     mailboxes app            prints what is passed
//     mailboxes widget         passes a message of each kind
//     mailboxes reader         prints the messages that have no listener, then removes them
//     mailboxes print ID...    prints messages
//     mailboxes misuse         passes what cannot be passed

import Foundation

func say(_ text: String) {
  FileHandle.standardOutput.write(Data("\(text)\n".utf8))
}

let words = Array(CommandLine.arguments.dropFirst())
switch words.first {
case "app":
  MainActor.assumeIsolated {
    let controller = CounterController()
    controller.viewDidLoad()
    withExtendedLifetime(controller) { RunLoop.main.run() }
  }
case "widget": passEverything()
case "reader": printEverything()
case "print": printMessages(Array(words.dropFirst()))
case "misuse": misuse()
default: exit(2)
}

// Listens while the main thread runs its run loop.
import Foundation
import ShapeSupport

let observation = try listenOnTheMainQueue()
RunLoop.main.run()

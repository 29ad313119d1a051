// Listens while the main thread runs dispatchMain().
import Dispatch
import ShapeSupport

let observation = try listenOnTheMainQueue()
dispatchMain()

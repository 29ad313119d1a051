// Listens while the main thread is given to dispatch.
import Dispatch
import ShapeSupport

let observation = try listenOnTheMainQueue()
dispatchMain()

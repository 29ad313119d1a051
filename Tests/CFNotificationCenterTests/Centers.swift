// Makes centers with Apple's interface for tests.
import CFNotificationCenter
import DistributedNotifications
import Synchronization

/// Which of the three centers.
enum CenterChoice: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case local, darwin, distributed

  static let withObjects = [local, distributed]

  var testDescription: String { rawValue }

  /// Two ends: what one posts the other hears. They are of two connections, but for the local
  /// center, which has none.
  func makeEnds(
    on bus: PrivateBus
  ) throws -> (here: CFNotificationCenter, there: CFNotificationCenter) {
    switch self {
    case .local:
      let center = try #require(CFNotificationCenterGetLocalCenter())
      return (center, center)
    case .darwin:
      return (
        CFNotificationCenter(try bus.makeCenter()), CFNotificationCenter(try bus.makeCenter())
      )
    case .distributed:
      let address = DarwinNotificationCenter.Bus.address(bus.address)
      return (
        CFNotificationCenter(try DistributedNotificationCenter(bus: address)),
        CFNotificationCenter(try DistributedNotificationCenter(bus: address))
      )
    }
  }
}

/// An observer, identified by its address. It also makes names that no other test uses.
final class Observer: Sendable {
  private static let number = Atomic(0)
  let name = "com.example.cf.\(number.add(1, ordering: .relaxed).newValue)"

  var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }
}

/// Text whose address stands for an object.
final class Object: @unchecked Sendable {
  // It never changes.
  let text: NSString

  init(_ text: String) {
    self.text = NSString(string: text)
  }

  var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(text).toOpaque() }
}

/// Registers an observer.
func add(
  _ observer: Observer?, to center: CFNotificationCenter, _ name: String?, _ object: Object? = nil,
  _ behavior: CFNotificationSuspensionBehavior = .deliverImmediately,
  _ callback: @escaping CFNotificationCallback
) {
  CFNotificationCenterAddObserver(
    center, observer?.pointer, callback, name as CFString?, object?.pointer, behavior)
}

func post(
  _ center: CFNotificationCenter, _ name: String, _ object: Object? = nil,
  _ userInfo: CFDictionary? = nil
) {
  CFNotificationCenterPostNotification(
    center, CFNotificationName(name as CFString), object?.pointer, userInfo, false)
}

/// Returns when the observers of a center have received everything that another one has posted.
func drain(_ here: CFNotificationCenter, behind there: CFNotificationCenter) async {
  let (fence, log) = (Observer(), Log<String>())
  add(fence, to: here, fence.name) { _, _, name, _, _ in log.append(name?.rawValue ?? "none") }
  post(there, fence.name)
  await eventually("the fence did not come") { !log.entries.isEmpty }
  CFNotificationCenterRemoveEveryObserver(here, fence.pointer)
}

/// Posts a notification, and returns once the observers of another center have received it.
func post(
  _ there: CFNotificationCenter, _ name: String, _ object: Object? = nil,
  _ userInfo: CFDictionary? = nil, to here: CFNotificationCenter
) async {
  post(there, name, object, userInfo)
  await drain(here, behind: there)
}

// Sets up two distributed centers on one bus.
import DistributedNotifications

extension Notification.Name {
  static let changed = Notification.Name("com.example.changed")
}

/// A center that observes and one that posts, as two programs have them.
struct DistributedStage {
  let bus: PrivateBus
  let center: DistributedNotificationCenter
  let poster: DistributedNotificationCenter

  /// A bus that is slow to answer is waited for: posts would say that there is none.
  init(_ kind: BusKind) async throws {
    bus = try PrivateBus(kind)
    let center = try DistributedNotificationCenter(bus: .address(bus.address))
    let poster = try DistributedNotificationCenter(bus: .address(bus.address))
    await eventually("there is no bus") { center.isOnBus && poster.isOnBus }
    (self.center, self.poster) = (center, poster)
  }
}

extension DistributedNotification {
  /// The number that it carries.
  var number: Int? { userInfo?["number"] as? Int }
}

// Sets up two distributed centers on one bus.
import DistributedNotifications
import Foundation
import Testing

extension Notification.Name {
  static let changed = Notification.Name("com.example.changed")
}

/// A center that observes and one that posts, as two programs have them.
struct DistributedStage {
  let bus: PrivateBus
  let center: DistributedNotificationCenter
  let poster: DistributedNotificationCenter

  init(_ kind: BusKind) throws {
    bus = try PrivateBus(kind)
    center = try DistributedNotificationCenter(bus: .address(bus.address))
    poster = try DistributedNotificationCenter(bus: .address(bus.address))
  }
}

extension DistributedNotification {
  /// The number that it carries.
  var number: Int? { userInfo?["number"] as? Int }
}

// Compiles the snippets of the pages in Sources/*/*.docc, which check-readme looks for here.
import CFNotificationCenter
import DarwinNotify
import Delegation
import Dispatch
import DistributedNotifications
import Foundation
import MMWormhole
import RemoteHandlers
import Wormhole
import notify

extension MessageName where Value == Int {
  static var level: Self { MessageName("org.example.level", type: "level") }
}

extension DefaultsKey where Value == String {
  static var theme: Self { DefaultsKey("theme", default: "light") }
}

final class Label: Sendable {
  func show(_ value: Int?) {}
}

func reload(_ name: NotificationName) {}
func apply(_ theme: String) {}
func show(_ dishes: [Dish]) {}
func show(_ status: Status) {}

func posting() async throws {
  let center = DarwinNotificationCenter.shared
  let changes = try center.notifications(named: "com.example.changed")
  try center.post("com.example.changed")
  for await event in changes {
    print("received \(event.name)")
    break
  }
}

func observing(_ center: DarwinNotificationCenter) async throws {
  for await event in try center.notifications(named: "com.example.changed") {
    reload(event.name)
  }
}

func observingOthers(_ center: DarwinNotificationCenter) async throws {
  for await event in try center.notifications(named: "com.example.changed")
  where event.sender?.isOwn != true {
    reload(event.name)
  }
}

@MainActor func binding(to center: DarwinNotificationCenter) throws {
  try center.bind(Listener("reload") { reload($0.name) }, to: "com.example.changed")
  center.unbind("reload", from: "com.example.changed")
}

func ending(_ observation: NotificationObservation) async {
  await observation.end()
}

func refusing(_ center: DarwinNotificationCenter) throws {
  do {
    try center.post("com.example.changed")
  } catch DarwinNotifyError.notConnected {
    print("no other process can hear it now")
  }
}

func registering() {
  var token: Int32 = 0
  let status = notify_register_dispatch("com.example.changed", &token, .main) { token in
    var state: UInt64 = 0
    notify_get_state(token, &state)
  }
  if status == NOTIFY_STATUS_OK { notify_post("com.example.changed") }
}

func passing() {
  let wormhole = MMWormhole(
    applicationGroupIdentifier: "group.org.example.lights", optionalDirectory: "wormhole")
  wormhole.listenForMessage(withIdentifier: "light") { message in
    print((message as? [String: Any])?["brightness"] as? Int ?? 0)
  }
  wormhole.passMessageObject(["brightness": 7] as NSDictionary, identifier: "light")
}

final class StatusObserver {
  init() {
    CFNotificationCenterAddObserver(
      CFNotificationCenterGetDarwinNotifyCenter(),
      Unmanaged.passUnretained(self).toOpaque(),
      { _, observer, name, _, _ in
        guard let observer, let name else { return }
        let this = Unmanaged<StatusObserver>.fromOpaque(observer).takeUnretainedValue()
        this.changed(name.rawValue)
      },
      "com.example.status" as CFString, nil, .deliverImmediately)
  }

  deinit {
    CFNotificationCenterRemoveEveryObserver(
      CFNotificationCenterGetDarwinNotifyCenter(), Unmanaged.passUnretained(self).toOpaque())
  }

  func changed(_ name: String) {}
}

func observing() async throws {
  let center = DistributedNotificationCenter.default()
  let observer = center.addObserver(
    forName: .init("com.example.player"), object: nil, queue: .main
  ) {
    print($0.object as? String ?? "", $0.userInfo?["title"] ?? "")
  }
  center.postNotificationName(
    .init("com.example.player"), object: "jukebox", userInfo: ["title": "Naima"],
    deliverImmediately: true)
  center.removeObserver(observer)
  for await notification in center.notifications(named: .init("com.example.player")) {
    print(notification.object ?? "", notification.userInfo?["title"] ?? "")
  }
}

struct Status: Codable, Sendable {
  var title: String
  var seconds: Double
}

func refusing(_ userInfo: [AnyHashable: Any], by center: DistributedNotificationCenter) throws {
  do {
    try center.post(.init("com.example.player"), userInfo: userInfo)
  } catch DistributedNotificationError.failed(.notConnected) {
    print("no other process can hear it now")
  } catch let error as DistributedNotificationError where error.code == .notAPropertyList {
    print("\(error.path ?? "") is a \(error.type ?? "")")
  }
}

func sendingValues(by center: DistributedNotificationCenter) async throws {
  try center.post(.init("com.example.player"), Status(title: "Naima", seconds: 261.5))
  for await status in try center.values(of: Status.self, named: .init("com.example.player")) {
    show(status)
  }
}

struct TrackStarted: InterprocessMessage {
  static let name = Notification.Name("com.example.player.started")
  var title: String
}

@MainActor func display(_ title: String) {}

@MainActor func sendingMessages(by center: DistributedNotificationCenter) async {
  let observation = center.addObserver(for: TrackStarted.self) { @MainActor message in
    display(message.title)
  }
  center.post(TrackStarted(title: "Naima"))
  for await message in center.messages(for: TrackStarted.self) { display(message.title) }
  withExtendedLifetime(observation) {}
}

func forwarding(_ message: TrackStarted, by center: DistributedNotificationCenter) {
  NotificationCenter.default.post(message, subject: center)
}

func listeningToOthers(by center: DistributedNotificationCenter) async {
  for await notification in center.notifications(named: .init("com.example.player"))
  where notification.sender?.isOwn != true {
    print(notification.object ?? "", notification.userInfo?["title"] ?? "")
  }
}

protocol PlayerEvents: AnyObject, Sendable {
  func didStart(_ track: Int)
}

func telling(_ view: any PlayerEvents, _ recorder: any PlayerEvents, on disk: DispatchQueue) throws
{
  let events = MulticastDelegate<any PlayerEvents>()
  try events.add(view)
  try events.add(recorder, on: .queue(disk))
  events.each { $0.didStart(7) }
}

struct Search: RemoteRequest {
  static let kind = "org.example.Player.Search"
  typealias Response = [Int]
  var text: String
}

func asking(_ bus: HandlerBus) async throws -> [Int] {
  let service = try await RemoteService(
    name: "org.example.Player", exporting: bus, [Search.self])

  let player = RemoteDestination("org.example.Player")
  let hits = try await bus.send(Search(text: "blue"), to: player, timeout: .seconds(1))
  withExtendedLifetime(service) {}
  return hits
}

struct Play: RemoteRequest {
  static let kind = "org.example.Player.Play"
  enum Failure: Error, Codable { case noSuchTrack(Int) }
  var number: Int
}

func playing(_ bus: HandlerBus, on player: RemoteDestination) async throws {
  do {
    _ = try await bus.send(Play(number: 9), to: player)
  } catch Play.Failure.noSuchTrack(let number) {
    print("there is no track \(number)")
  }
}

func watching(_ player: RemoteDestination) async throws {
  for await availability in try player.availability() {
    print("the player is \(availability)")
  }
}

actor Shelf {
  func restore() async throws {}
  func save() async throws {}
}

func serving(_ shelf: Shelf, with bus: HandlerBus, until terminated: () async -> Void) async throws
{
  try await shelf.restore()
  let service = try await RemoteService(
    name: "org.example.Player", exporting: bus, [Search.self])
  await withTaskGroup(of: Void.self) { group in
    group.addTask { await service.run(closingWithin: .seconds(5)) }
    await terminated()
    group.cancelAll()
  }
  try await shelf.save()
}

func openGroup() throws -> AppGroup {
  let group = try AppGroup("org.example.lights")
  return group
}

@MainActor func passing(in group: AppGroup, _ label: Label) async throws {
  let hole = try Wormhole(group: group)
  try hole.bind(Listener("label") { message in label.show(message.value) }, to: .level)
  try await hole.pass(70, to: .level)
}

@MainActor func setting(in group: AppGroup) async throws {
  let defaults = group.defaults
  try await defaults.set("dark", for: .theme)
  let theme = try ObservedDefault(.theme, in: defaults)
  let observation = try defaults.observe(.theme) { change in
    apply((try? change.value) ?? "light")
  }
  withExtendedLifetime((theme, observation)) {}
}

struct Dish: Codable, Equatable, Sendable {
  var id: Int
  var name: String
}

func writing(in group: AppGroup) async throws {
  let database = try group.database(
    "lunch",
    migrations: [
      SharedDatabase.Migration("dishes") {
        try $0.run("CREATE TABLE dish(id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
      }
    ])
  try await database.write { try $0.run("INSERT INTO dish(name) VALUES(?)", "soup") }
  let menu = try database.values { try $0.rows("SELECT * FROM dish", as: Dish.self) }
  for try await dishes in menu { show(dishes) }
}

let observer = StatusObserver()
withExtendedLifetime(observer) {}
print("received nothing: it is compiled")

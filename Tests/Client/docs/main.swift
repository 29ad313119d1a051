// Compiles snippets of docs/wormhole.md and of pages in Sources; check-readme looks for them.
import DarwinNotify
import Foundation
import Wormhole

nonisolated struct Level: Codable, Sendable { var percent: Int }

struct Dish: Codable, Equatable, Sendable {
  var id: Int
  var name: String
}

struct Order: Codable, Sendable { var name: String }

extension MessageName where Value == Level {
  static var level: Self { MessageName("org.example.level", keep: .last(10_000), type: "level") }
}

extension MessageName where Value == Int {
  static var echo: Self { "org.example.echo" }
  static var lightLevel: Self { "org.example.light.level" }
}

extension MessageName where Value == Bool {
  static var lightState: Self { "org.example.light.state" }
}

extension MessageName where Value == Order {
  static var orders: Self { MessageName("org.example.orders", keep: .last(1_000), durable: true) }
}

extension DefaultsKey where Value == String {
  static var theme: Self { DefaultsKey("theme", default: "light") }
}

actor Counter {
  var count = 0
  func increase() { count += 1 }
}

@MainActor final class Label {
  func show(_ value: Bool?) {}
}

func show(_ value: Bool?) {}
func show(_ dishes: [Dish]) {}
func reload(_ id: Int64? = nil) async throws {}
func apply(_ theme: String) {}

func render() -> [UInt8] { [] }

func counting(on center: DarwinNotificationCenter, with counter: Counter) throws {
  let changes = try center.notifications(named: "com.example.changed")
  let task = Task(executorPreference: center.taskExecutor) {
    for await _ in changes { await counter.increase() }
  }
  task.cancel()
}

func drawing() async {
  let image = await withTaskExecutorPreference(globalConcurrentExecutor) { render() }
  print(image.count)
}

func forwarding(_ hole: Wormhole) throws {
  let main = Delivery.loop { OperationQueue.main.addOperation($0) }
  let forwarding = try hole.listen(.lightState, starting: .new, on: main) { message in
    NotificationCenter.default.post(
      name: Notification.Name(message.name), object: nil, userInfo: ["message": message])
  }
  forwarding.cancel()
}

func passing() async throws {
  let hole = try Wormhole(group: AppGroup("org.example.lights"))
  try await hole.pass(true, to: .lightState)
}

func makeGroup() throws -> AppGroup {
  let group = try AppGroup.temporary()
  let hole = try Wormhole(group: group)
  assert(hole.group === group)
  return group
}

func passing(_ level: Int, in hole: Wormhole, _ group: AppGroup, _ database: SharedDatabase)
  async throws
{
  try await hole.pass(level, to: .lightLevel, timeout: .seconds(1))
  try await group.defaults.set("dark", for: .theme)
  let rows = try await database.read(timeout: .seconds(5)) { try $0.rows("SELECT * FROM dish") }
  print(rows.count)
}

func blocking(_ level: Int, in hole: Wormhole, _ group: AppGroup, _ database: SharedDatabase) throws
{
  try hole.blocking.pass(level, to: .lightLevel)
  let theme = try group.defaults.blocking[.theme]
  let dishes = try database.blocking.read { try $0.rows("SELECT * FROM dish", as: Dish.self) }
  print(theme, dishes.count)
}

func failing(in hole: Wormhole) async {
  do {
    try await hole.pass(true, to: .lightState)
  } catch WormholeError.busy {
    print("somebody else is writing")
  } catch {
    print(error)
  }
}

@MainActor func listening(to hole: Wormhole, _ label: Label, _ counter: Counter) async throws {
  try hole.bind(Listener("label") { message in label.show(message.value) }, to: .lightState)
  let log = try hole.listen(.lightState, on: .thread) { message in print(message.content) }
  let count = try hole.listen(.lightState, on: counter) { counter, _ in counter.increase() }
  for try await message in try hole.messages(.lightState, starting: .all) { show(message.value) }
  log.cancel()
  count.cancel()
}

func echoing(in hole: Wormhole) throws {
  try hole.bind(
    Listener("echo") { [weak hole] message in _ = try? hole?.blocking.ping(.echo) }, to: .level)
}

func handlingOnce(in hole: Wormhole, _ database: SharedDatabase) async throws {
  let done = try await database.read { database in
    try database.rows("SELECT number FROM progress").first?["number", as: Int.self] ?? 0
  }
  for try await message in try hole.messages(.orders, starting: .since(UInt64(done))) {
    if message.mayHaveMissed { break }
    guard let order = message.value else { continue }
    try await database.write { database in
      try database.run("INSERT INTO orders(name) VALUES(?)", order.name)
      try database.run("INSERT OR REPLACE INTO progress VALUES(1, ?)", message.sequence)
    }
  }
}

@MainActor func setting(in group: AppGroup) async throws {
  let observation = try group.defaults.observe(.theme) { change in
    apply((try? change.value) ?? "light")
  }
  let theme = try ObservedDefault(.theme, in: group.defaults)
  try await theme.set("dark")
  observation.cancel()
}

func opening(in group: AppGroup) throws -> SharedDatabase {
  let database = try group.database(
    "lunch",
    migrations: [
      SharedDatabase.Migration("dishes") { database in
        try database.run("CREATE TABLE dish(id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
      },
      SharedDatabase.Migration("capitals") { database in
        for dish in try database.rows("SELECT * FROM dish", as: Dish.self) {
          let name = dish.name.capitalized
          try database.run("UPDATE dish SET name = ? WHERE id = ?", name, dish.id)
        }
      },
    ])
  return database
}

func storing(in database: SharedDatabase) async throws -> [Dish] {
  try await database.write { try $0.run("INSERT INTO dish(name) VALUES(?)", "soup") }
  let dishes = try await database.read { try $0.rows("SELECT * FROM dish", as: Dish.self) }
  return dishes
}

func showing(_ database: SharedDatabase) async throws {
  let menu = try database.values { try $0.rows("SELECT * FROM dish", as: Dish.self) }
  for try await dishes in menu { show(dishes) }
}

func followingDishes(_ database: SharedDatabase, since seen: UInt64) async throws {
  for try await change in try database.changes(in: ["dish"], since: seen) {
    guard change.isComplete, !change.mayHaveMissed, let rows = change.rowIDs["dish"] else {
      try await reload()
      continue
    }
    for id in rows { try await reload(id) }
  }
}

let group = try makeGroup()
try await setting(in: group)
let dishes = try await storing(in: try opening(in: group))
print("received \(dishes.map(\.name))")

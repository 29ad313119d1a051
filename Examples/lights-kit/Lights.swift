// Declares what the programs of the lights share.
public import Wormhole

/// The app group of the lights.
public enum Lights {
  /// Opens the group.
  public static func openGroup() throws -> AppGroup {
    try AppGroup("org.example.lights")
  }
}

extension MessageName where Value == Bool {
  /// Whether the light is on.
  public static var lightState: Self { "org.example.light.state" }
}

extension MessageName where Value == Double {
  /// How bright it is, from 0 to 1. The label wants to show every step.
  public static var lightLevel: Self { Self("org.example.light.level", keep: .last(100)) }
}

extension DefaultsKey where Value == String {
  /// The colour of the light.
  public static var lightColour: Self { Self("light.colour", default: "white") }
}

extension AppGroup {
  /// Opens the database of questions, each with choices that weigh more the more often they win.
  public func choices() throws -> SharedDatabase {
    try database(
      "choices.sqlite",
      migrations: [
        SharedDatabase.Migration("choices") { database in
          try database.run(
            """
            CREATE TABLE choice(
              id INTEGER PRIMARY KEY, question TEXT NOT NULL, name TEXT NOT NULL,
              weight INTEGER NOT NULL DEFAULT 1, UNIQUE(question, name))
            """)
        }
      ])
  }
}

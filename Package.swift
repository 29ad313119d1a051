// swift-tools-version: 6.2
// Describes the package to the Swift package manager.
import PackageDescription

/// Warnings are errors where the project builds itself: Scripts/test sets this. A program that uses
/// the package may have another compiler, or ask for more warnings.
let warningsAreErrors = Context.environment["DARWIN_NOTIFY_WERROR"] != nil

let strictC: [CSetting] =
  [
    .define("_GNU_SOURCE"),
    .enableWarning("all"),
    .enableWarning("extra"),
    .enableWarning("missing-prototypes"),
    .enableWarning("strict-prototypes"),
    .enableWarning("thread-safety"),
  ] + (warningsAreErrors ? [.treatAllWarnings(as: .error)] : [])

let checkedSwift: [SwiftSetting] = warningsAreErrors ? [.treatAllWarnings(as: .error)] : []

let strictSwift: [SwiftSetting] =
  [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
  ] + checkedSwift

/// A program in the directory of the same name.
func program(
  _ name: String, in folder: String, dependencies: [Target.Dependency] = ["DarwinNotify"]
) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "\(folder)/\(name)", swiftSettings: strictSwift)
}

let examples = ["swift-listener", "swift-poster"]
let lights = ["light-switch", "light-label"]
let players = ["player-status", "status-panel"]
let remotes = ["remote-player", "remote-control"]
let mainThreadShapes = ["shape-run-loop", "shape-dispatch-main", "shape-async-main"]

/// Scripts/fuzz alone builds the fuzzers, whose main program comes from libFuzzer.
let isFuzzing = Context.environment["DARWIN_NOTIFY_FUZZ"] != nil

/// What the fuzzers in Swift read with.
let fuzzed: [String: [Target.Dependency]] = [
  "fuzz-database-file": ["Wormhole"],
  "fuzz-json": ["DarwinNotify", "notifyutil"],
  "fuzz-message-row": ["Wormhole"],
  "fuzz-property-list": ["DarwinNotify", "DistributedNotifications", "RemoteHandlers"],
  "fuzz-relay-packet": ["notifyrelay"],
  "fuzz-relay-payload": ["notifyrelay"],
  "fuzz-relay-settings": ["notifyrelay"],
  "fuzz-relay-state": ["notifyrelay"],
]

let fuzzers: [Target] =
  !isFuzzing
  ? []
  : [.target(name: "FuzzSupport", path: "Tests/Fuzz/support", swiftSettings: strictSwift)]
    + fuzzed.map { program($0, in: "Tests/Fuzz", dependencies: $1 + ["FuzzSupport"]) }

/// A command, of which the fuzzers use everything but its main program.
func command(_ name: String, dependencies: [Target.Dependency]) -> Target {
  isFuzzing
    ? .target(
      name: name, dependencies: dependencies, exclude: ["main.swift"], swiftSettings: strictSwift)
    : .executableTarget(name: name, dependencies: dependencies, swiftSettings: strictSwift)
}

let commands: [Product] =
  isFuzzing ? [] : ["notifyutil", "notifyrelay"].map { .executable(name: $0, targets: [$0]) }

let package = Package(
  name: "DarwinNotify",
  products: [
    .library(name: "DarwinNotify", targets: ["DarwinNotify"]),
    .library(name: "CDarwinNotify", targets: ["CDarwinNotify"]),
    .library(name: "DistributedNotifications", targets: ["DistributedNotifications"]),
    .library(name: "CFNotificationCenter", targets: ["CFNotificationCenter"]),
    .library(name: "notify", targets: ["notify"]),
    .library(name: "Wormhole", targets: ["Wormhole"]),
    .library(name: "MMWormhole", targets: ["MMWormhole"]),
    .library(name: "Delegation", targets: ["Delegation"]),
    .library(name: "RemoteHandlers", targets: ["RemoteHandlers"]),
    .executable(name: "wormhole", targets: ["WormholeCommand"]),
  ] + commands,
  targets: [
    .systemLibrary(
      name: "CSystemd", path: "CShims/CSystemd", pkgConfig: "libsystemd",
      providers: [.apt(["libsystemd-dev"])]),
    .target(
      name: "CDarwinNotify", dependencies: ["CSystemd"], path: "CShims/CDarwinNotify",
      publicHeadersPath: "include",
      cSettings: [.headerSearchPath(".")] + strictC),
    // Not just "Support": SwiftPM refuses two targets of one name among all packages of a program.
    .target(name: "DarwinNotifySupport", path: "Sources/Support", swiftSettings: strictSwift),
    .target(
      name: "DarwinNotify", dependencies: ["CDarwinNotify", "DarwinNotifySupport"],
      swiftSettings: strictSwift),
    .target(
      name: "notify", dependencies: ["CDarwinNotify", "DarwinNotify"],
      swiftSettings: strictSwift),
    .target(
      name: "DistributedNotifications", dependencies: ["DarwinNotify", "DarwinNotifySupport"],
      swiftSettings: strictSwift),
    .target(
      name: "CFNotificationCenter",
      dependencies: ["DarwinNotify", "DarwinNotifySupport", "DistributedNotifications"],
      swiftSettings: strictSwift),
    .target(
      name: "Delegation", dependencies: ["DarwinNotifySupport"], swiftSettings: strictSwift),
    .target(
      name: "RemoteHandlers", dependencies: ["DarwinNotify", "DarwinNotifySupport", "Delegation"],
      swiftSettings: strictSwift),
    .systemLibrary(
      name: "CSQLite", path: "CShims/CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CLinux", path: "CShims/CLinux"),
    .target(
      name: "Wormhole", dependencies: ["DarwinNotify", "DarwinNotifySupport", "CSQLite", "CLinux"],
      swiftSettings: strictSwift),
    .target(
      name: "MMWormhole", dependencies: ["DarwinNotify", "DarwinNotifySupport", "Wormhole"],
      swiftSettings: strictSwift),
    .target(
      name: "TestSupport", dependencies: ["CSystemd"], path: "Tests/Support",
      exclude: ["coverage", "plugin", "runner", "version"], publicHeadersPath: "include",
      cSettings: strictC),
    .target(
      name: "TestTools", dependencies: ["DarwinNotifySupport"], path: "Tests/Tools",
      swiftSettings: strictSwift),
    .target(
      name: "BenchmarkSupport", path: "Benchmarks/peers/common", publicHeadersPath: "include",
      cSettings: strictC),
    .target(
      name: "PeerSupport", dependencies: ["BenchmarkSupport", "DarwinNotify"],
      path: "Benchmarks/peers/swift-support", swiftSettings: strictSwift),
    program(
      "peer-swift", in: "Benchmarks/peers",
      dependencies: ["DarwinNotify", "BenchmarkSupport", "PeerSupport"]),
    program(
      "peer-distributed", in: "Benchmarks/peers",
      dependencies: ["DistributedNotifications", "BenchmarkSupport", "PeerSupport"]),
    program(
      "peer-wormhole", in: "Benchmarks/peers",
      dependencies: ["DarwinNotify", "Wormhole", "BenchmarkSupport"]),
    .target(name: "SoakBoard", path: "Tests/Soak/board", cSettings: strictC),
    program(
      "soak-peer", in: "Tests/Soak",
      dependencies: ["DarwinNotify", "RemoteHandlers", "Wormhole", "SoakBoard"]),
    .executableTarget(
      name: "delegation-figures", dependencies: ["Delegation"], path: "Benchmarks/delegation",
      swiftSettings: strictSwift),
    .testTarget(
      name: "DarwinNotifyTests",
      dependencies: [
        "CFNotificationCenter", "DarwinNotify", "Delegation", "DistributedNotifications",
        "MMWormhole", "RemoteHandlers", "Wormhole", "TestSupport", "TestTools",
        "MailboxKit", "apple-sources", "apple-sources-5", "executor-loop", "executor-loop-5",
        "group-peer", "ios-app", "ios-extension", "mailboxes", "mailboxes-5", "wormhole-peer",
      ]
        + (examples + remotes + mainThreadShapes + ["WormholeCommand", "notifyrelay", "notifyutil"])
        .map { .target(name: $0) },
      path: "Tests",
      exclude: [
        "AgentTests", "Client", "CTests", "DelegationTests", "Fuzz", "Programs", "Soak",
        "Support", "Tools",
      ],
      sources: [
        "CFNotificationCenterTests", "DarwinNotifyTests", "DistributedNotificationsTests",
        "MMWormholeTests", "NotifyUtilTests", "RelayTests", "RemoteHandlersTests",
        "WormholeCommandTests", "WormholeTests",
      ],
      swiftSettings: strictSwift),
    .testTarget(
      name: "DelegationTests", dependencies: ["Delegation", "TestTools"],
      swiftSettings: strictSwift),
    .target(
      name: "ShapeSupport", dependencies: ["DarwinNotify"], path: "Tests/Programs/shape-support",
      swiftSettings: strictSwift),
    .target(
      name: "LightsKit", dependencies: ["Wormhole"], path: "Examples/lights-kit",
      swiftSettings: strictSwift),
    .target(
      name: "PlayerKit", path: "Examples/player-kit", swiftSettings: strictSwift),
    .target(
      name: "PlayerRequests", dependencies: ["RemoteHandlers"],
      path: "Examples/player-requests", swiftSettings: strictSwift),
    program("delegates", in: "Examples", dependencies: ["Delegation"]),
    command("notifyutil", dependencies: ["DarwinNotify", "DarwinNotifySupport"]),
    program(
      "WormholeCommand", in: "Sources",
      dependencies: ["DarwinNotify", "DarwinNotifySupport", "Wormhole"]),
    // Only this program needs OpenSSL: who builds another product does not.
    .systemLibrary(
      name: "COpenSSL", path: "CShims/COpenSSL", pkgConfig: "openssl",
      providers: [.apt(["libssl-dev"])]),
    command(
      "notifyrelay",
      dependencies: ["COpenSSL", "DarwinNotify", "DarwinNotifySupport", "Wormhole"]),
    // Without the settings of this package, which nobody writes for.
    .executableTarget(
      name: "apple-sources",
      dependencies: ["CFNotificationCenter", "DistributedNotifications", "notify"],
      path: "Tests/Programs/apple-sources"),
    // A link to the same folder.
    .executableTarget(
      name: "apple-sources-5",
      dependencies: ["CFNotificationCenter", "DistributedNotifications", "notify"],
      path: "Tests/Programs/apple-sources-5", swiftSettings: [.swiftLanguageMode(.v5)]),
    program("executor-loop", in: "Tests/Programs"),
    // A link to the same folder.
    .executableTarget(
      name: "executor-loop-5", dependencies: ["DarwinNotify"],
      path: "Tests/Programs/executor-loop-5",
      swiftSettings: [.swiftLanguageMode(.v5)] + checkedSwift),
    // The module that programs with MMWormhole share, and the programs, in both language modes.
    .target(name: "MailboxKit", path: "Tests/Programs/mailbox-kit"),
    .executableTarget(
      name: "mailboxes", dependencies: ["MMWormhole", "MailboxKit"],
      path: "Tests/Programs/mailboxes", swiftSettings: checkedSwift),
    .executableTarget(
      name: "mailboxes-5", dependencies: ["MMWormhole", "MailboxKit"],
      path: "Tests/Programs/mailboxes-5", swiftSettings: [.swiftLanguageMode(.v5)] + checkedSwift),
    // As people have written them for iOS: the one in Swift 5.
    .executableTarget(
      name: "ios-app", dependencies: ["CFNotificationCenter"], path: "Examples/ios-port/ios-app",
      swiftSettings: [.swiftLanguageMode(.v5)] + checkedSwift),
    .executableTarget(
      name: "ios-extension", dependencies: ["CFNotificationCenter"],
      path: "Examples/ios-port/ios-extension", swiftSettings: checkedSwift),
    // As for macOS, but for one import.
    .executableTarget(
      name: "desktop-watch", dependencies: ["DistributedNotifications", "notify"],
      path: "Examples/desktop-watch", swiftSettings: checkedSwift),
    program("group-peer", in: "Tests/Programs", dependencies: ["DarwinNotify", "Wormhole"]),
    program("wormhole-peer", in: "Tests/Programs", dependencies: ["DarwinNotify", "Wormhole"]),
  ]
    + examples.map { program($0, in: "Examples") }
    + lights.map {
      program($0, in: "Examples", dependencies: ["DarwinNotify", "Wormhole", "LightsKit"])
    }
    + players.map {
      program($0, in: "Examples", dependencies: ["DistributedNotifications", "PlayerKit"])
    }
    + remotes.map {
      .executableTarget(
        name: $0, dependencies: ["Delegation", "PlayerRequests", "RemoteHandlers"],
        path: "Examples/\($0)",
        exclude: $0 == "remote-player"
          ? ["org.example.Player.conf", "org.example.Player.service"] : ["remote-control.py"],
        swiftSettings: strictSwift)
    }
    + mainThreadShapes.map {
      program($0, in: "Tests/Programs", dependencies: ["DarwinNotify", "ShapeSupport"])
    } + fuzzers,
  swiftLanguageModes: [.v6],
  cLanguageStandard: .gnu17
)

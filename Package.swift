// swift-tools-version: 6.2
// Describes the package to the Swift package manager.
import PackageDescription

let strictC: [CSetting] = [
  .define("_GNU_SOURCE"),
  .enableWarning("all"),
  .enableWarning("extra"),
  .enableWarning("missing-prototypes"),
  .enableWarning("strict-prototypes"),
  .enableWarning("thread-safety"),
  .treatAllWarnings(as: .error),
]

let strictSwift: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

/// A program that stands in a folder of its own name.
func program(
  _ name: String, in folder: String, dependencies: [Target.Dependency] = ["DarwinNotify"]
) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "\(folder)/\(name)", swiftSettings: strictSwift)
}

let examples = ["swift-listener", "swift-poster"]
let lights = ["light-switch", "light-label"]
let mainThreadShapes = ["shape-run-loop", "shape-dispatch-main", "shape-async-main"]

let package = Package(
  name: "DarwinNotify",
  products: [
    .library(name: "DarwinNotify", targets: ["DarwinNotify"]),
    .library(name: "CDarwinNotify", targets: ["CDarwinNotify"]),
    .library(name: "Wormhole", targets: ["Wormhole"]),
    .executable(name: "notifyutil", targets: ["notifyutil"]),
  ],
  targets: [
    .systemLibrary(
      name: "CSystemd", path: "CShims/CSystemd", pkgConfig: "libsystemd",
      providers: [.apt(["libsystemd-dev"])]),
    .target(
      name: "CDarwinNotify", dependencies: ["CSystemd"], path: "CShims/CDarwinNotify",
      publicHeadersPath: "include",
      cSettings: [.headerSearchPath(".")] + strictC),
    .target(
      name: "DarwinNotify", dependencies: ["CDarwinNotify"], swiftSettings: strictSwift),
    .systemLibrary(
      name: "CSQLite", path: "CShims/CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CLinux", path: "CShims/CLinux"),
    .target(
      name: "Wormhole", dependencies: ["DarwinNotify", "CSQLite", "CLinux"],
      swiftSettings: strictSwift),
    .target(
      name: "TestSupport", dependencies: ["CSystemd"], path: "Tests/Support",
      exclude: ["runner"], publicHeadersPath: "include", cSettings: strictC),
    .target(
      name: "WormholeBaseline", dependencies: ["CSystemd", "CSQLite"],
      path: "Benchmarks/wormhole/baseline", publicHeadersPath: "include", cSettings: strictC),
    .executableTarget(
      name: "wormhole-figures", dependencies: ["Wormhole", "TestSupport", "WormholeBaseline"],
      path: "Benchmarks/wormhole/figures", swiftSettings: strictSwift),
    .target(
      name: "BenchmarkSupport", path: "Benchmarks/peers/common", publicHeadersPath: "include",
      cSettings: strictC),
    program(
      "peer-swift", in: "Benchmarks/peers", dependencies: ["DarwinNotify", "BenchmarkSupport"]),
    .testTarget(
      name: "DarwinNotifyTests",
      dependencies: ["DarwinNotify", "Wormhole", "TestSupport", "group-peer", "wormhole-peer"]
        + (examples + mainThreadShapes + ["import-probe", "notifyutil"]).map { .target(name: $0) },
      path: "Tests", exclude: ["CTests", "Programs", "Support"],
      sources: ["DarwinNotifyTests", "WormholeTests"],
      swiftSettings: strictSwift),
    .target(
      name: "ShapeSupport", dependencies: ["DarwinNotify"], path: "Tests/Programs/shape-support",
      swiftSettings: strictSwift),
    .target(
      name: "LightsKit", dependencies: ["Wormhole"], path: "Examples/lights-kit",
      swiftSettings: strictSwift),
    program("notifyutil", in: "Sources"),
    program("import-probe", in: "Tests/Programs"),
    program("group-peer", in: "Tests/Programs", dependencies: ["DarwinNotify", "Wormhole"]),
    program("wormhole-peer", in: "Tests/Programs", dependencies: ["DarwinNotify", "Wormhole"]),
  ]
    + examples.map { program($0, in: "Examples") }
    + lights.map {
      program($0, in: "Examples", dependencies: ["DarwinNotify", "Wormhole", "LightsKit"])
    }
    + mainThreadShapes.map {
      program($0, in: "Tests/Programs", dependencies: ["DarwinNotify", "ShapeSupport"])
    },
  swiftLanguageModes: [.v6],
  cLanguageStandard: .gnu17
)

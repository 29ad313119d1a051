// Specifies what errors say, also to Foundation.
import DarwinNotify
import Foundation
import Testing
import Wormhole
import WormholeFoundation

@Suite(.timeLimit(.minutes(10)))
struct ErrorTests {
  /// One error of each case.
  static let errors: [WormholeError] = [
    .invalidIdentifier, .reservedName("N"), .notPrivate(path: "P"),
    .system(code: ENOSPC, path: "P"), .busy(path: "P"), .heldByReader(path: "P"), .cancelled,
    .timedOut("N"), .foreign(path: "P"), .damaged(path: "P"),
    .unknownFormat(version: 7, path: "P"), .tooLarge(bytes: 9, limit: 7),
    .codecMismatch(name: "N", expected: "E", found: "F"),
    .typeMismatch(name: "N", expected: "E", found: "F"),
    .versionMismatch(name: "N", expected: 7, found: 9), .encoding("N"), .decoding("N"),
    .notCoordinated(name: "N", transit: "F"), .noCursors(name: "N", transit: "F"),
    .otherTransit(name: "N", used: "E", found: "F"), .cursorInUse("N"),
    .cursorNotStored("N", reason: "R"), .database(code: 7, message: "R"),
    .unknownTable(name: "N", known: ["E", "F"], path: "P"),
    .noSuchRow(table: "N", key: "E", path: "P"), .newerSchema(found: 9, known: 7, path: "P"),
    .unknownMigrations(names: ["E", "F"], path: "P"),
    .migrationFailed(name: "N", reason: "R", path: "P"), .notCleared(["N": .cancelled]),
    .notification(.limitReached),
  ]

  /// What a description must contain. A new case has to be added here, and above.
  private func words(of error: WormholeError) -> [String] {
    switch error {
    case .invalidIdentifier: ["empty"]
    case .cancelled: ["cancelled"]
    case .reservedName, .timedOut, .encoding, .decoding, .cursorInUse: ["N"]
    case .notPrivate, .busy, .heldByReader, .foreign, .damaged: ["P"]
    case .system: ["P", "No space left on device"]
    case .unknownFormat: ["P", "7"]
    case .tooLarge: ["9", "7"]
    case .codecMismatch, .typeMismatch, .otherTransit: ["N", "E", "F"]
    case .versionMismatch: ["N", "7", "9"]
    case .notCoordinated, .noCursors: ["N", "F"]
    case .cursorNotStored: ["N", "R"]
    case .database: ["7", "R"]
    case .unknownTable: ["N", "E, F", "P"]
    case .noSuchRow: ["N", "E", "P"]
    case .newerSchema: ["9", "7", "P"]
    case .unknownMigrations: ["E, F", "P"]
    case .migrationFailed: ["N", "R", "P"]
    case .notCleared: ["N", "cancelled"]
    case .notification: ["stored", "limit reached"]
    }
  }

  @Test(arguments: errors)
  func everyErrorSaysWhatFailed(error: WormholeError) {
    for word in words(of: error) { #expect(error.description.contains(word)) }
    #expect((error as any Error).localizedDescription == error.description)
  }

  @Test func everyCaseIsThere() {
    #expect(Set(Self.errors.map(caseName)).count == 30)
  }

  @Test(arguments: [
    DarwinNotifyError.invalidArgument, .nameTooLong, .outOfMemory, .limitReached, .timedOut,
    .notConnected, .notAuthorized, .tooLarge, DarwinNotifyError(rawValue: 77),
  ])
  func foundationKnowsTheErrorsOfTheCenter(error: DarwinNotifyError) {
    #expect(!error.description.isEmpty)
    #expect((error as any Error).localizedDescription == error.description)
  }

  @Test func foundationKnowsTheErrorsOfTokens() {
    for code: UInt32 in 1...12 {
      let error = NotifyError(rawValue: code)
      #expect((error as any Error).localizedDescription == error.description)
    }
  }

  /// The name of the case, without its values.
  private func caseName(_ error: WormholeError) -> String {
    Mirror(reflecting: error).children.first?.label ?? "\(error)"
  }
}

// A bus shares texts through handlers that are exchanged while the program runs.
import Delegation
import Foundation

extension BusEndpoint {
  enum Chat {
    static let friend: BusEndpoint = "org.example.chat.friend"
    static let timeline: BusEndpoint = "org.example.chat.timeline"
  }
}

extension BusPlatform {
  static let chat: BusPlatform = "org.example.chat"
}

/// What can be shared. A handler declines what its endpoint does not support.
enum SharedMessage: Sendable {
  case text(String)
  case image([UInt8])
  case file(name: String, [UInt8])
  case webPage(URL, title: String)
}

/// A request to share something; options are typed properties.
struct Share: BusRequest {
  typealias Response = String
  static let kind = "share"
  var message: SharedMessage
  var userName: String?
  var token = ""
}

/// A request to sign in. The response is what the platform says about the user.
struct SignIn: BusRequest {
  typealias Destination = BusPlatform
  struct Response: Sendable { var token: String }
  static let kind = "sign-in"
}

/// Opens the program of a platform. It has no response.
struct Launch: BusRequest {
  typealias Destination = BusPlatform
  static let kind = "launch"
}

/// Handlers that use the chat's web service.
func makeOpenSourceHandlers() -> HandlerSet {
  let handlers = HandlerSet()
  handlers.handle(Share.self, at: [BusEndpoint.Chat.friend, BusEndpoint.Chat.timeline]) { share in
    guard case .text(let text) = share.message else { throw Decline("takes only texts") }
    return "open source, \(share.token): \(text)"
  }
  handlers.handle(SignIn.self, at: [.chat]) { _ in .init(token: "web token") }
  handlers.handle(Launch.self, at: [.chat]) { _ in print("launch: opens the web page") }
  return handlers
}

/// Handlers that use the chat's own program, which answers through a URL.
func makeOfficialHandlers(_ program: ChatProgram) -> HandlerSet {
  let handlers = HandlerSet()
  handlers.handle(
    Share.self, at: [BusEndpoint.Chat.friend], available: { program.isInstalled }
  ) { share in
    switch share.message {
    case .text(let text): "official, \(share.token): \(text)"
    case .webPage(let url, let title): "official, \(share.token): \(title), \(url)"
    case .image, .file: throw Decline("takes only texts and links")
    }
  }
  handlers.handle(replyingTo: SignIn.self, at: [.chat]) { _, reply in program.askForToken(reply) }
  handlers.route("example-app://chat/token/:value") { match in
    program.answer(match.parameters["value"] ?? "")
  }
  return handlers
}

/// Stands for another program, which gives out tokens by opening a URL of ours.
actor ChatProgram {
  nonisolated let isInstalled = true
  private var waiting: [HandlerBus.Reply<SignIn.Response>] = []

  nonisolated func askForToken(_ reply: HandlerBus.Reply<SignIn.Response>) {
    Task { await self.wait(reply) }
  }

  nonisolated func answer(_ token: String) -> Bool {
    Task { await self.finish(token) }
    return true
  }

  var isAsked: Bool { !waiting.isEmpty }

  private func wait(_ reply: HandlerBus.Reply<SignIn.Response>) {
    waiting.append(reply)
  }

  private func finish(_ token: String) {
    for reply in waiting { reply(.success(.init(token: token))) }
    waiting = []
  }
}

func showSharing() async throws {
  let (bus, program) = (HandlerBus(handlers: makeOpenSourceHandlers()), ChatProgram())
  // The first request is held until there is a token, then continues.
  bus.intercept(Share.self) { [unowned bus] share, next in
    var share = share
    share.token = try await bus.send(SignIn(), to: .chat, timeout: .seconds(60)).token
    return try await next(share)
  }
  let hello = Share(message: .text("hello"))
  print("share: \(try await bus.send(hello, to: BusEndpoint.Chat.friend))")
  try await bus.send(Launch(), to: .chat)

  bus.handlers = makeOfficialHandlers(program)
  async let shared = bus.send(hello, to: BusEndpoint.Chat.friend)
  while await !program.isAsked { await Task.yield() }
  if let url = URL(string: "EXAMPLE-APP://chat/token/4711") {
    print("url: \(await bus.open(url) ? "opened" : "not for us")")
  }
  print("share: \(try await shared)")

  do {
    _ = try await bus.send(Launch(), to: .chat)
  } catch {
    print("launch: \(error)")
  }
}

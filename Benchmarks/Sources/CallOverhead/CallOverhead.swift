import Apus
import HTTPTypes

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Answers at once: what is left is the cost of a call above its transport.
struct NoTransport: Transport {
  let content: ResponseContent

  func send(_ request: RequestMessage, context: CallContext) async throws -> ResponseMessage {
    ResponseMessage(head: HTTPResponse(status: .ok), content: content)
  }
}

/// A middleware that does nothing but pass on.
struct PassOn: Middleware {
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    try await next(request, context: context)
  }
}

struct Ignoring: CallObserver {
  func observe(_ event: TraceEvent, of call: CallEntry) {}
}

struct Small: Codable, Sendable {
  let id: Int
  let name: String
}

@main
struct CallOverhead {
  static func main() async throws {
    try await Task.detached { try await run() }.value
  }

  @concurrent static func run() async throws {
    let json = ResponseContent(Data(#"{"id":7,"name":"Apus"}"#.utf8))
    let none = NoTransport(content: .empty)
    let id = 7

    print("operation                                            ns   allocations")
    let filter = CommandLine.arguments.dropFirst().first
    func row(_ name: String, _ operation: () async throws -> Void) async throws {
      if let filter, !name.contains(filter) { return }
      let cost = try await measure(operation)
      let padding = String(repeating: " ", count: max(1, 44 - name.count))
      print("\(name)\(padding)\(fixed(cost.nanoseconds, 10))   \(fixed(cost.allocations, 8))")
    }

    let request: Request<Void> = .get("/users/\(id)/friends")
    try await row("Task and its value") { await Task.detached {}.value }
    try await row("describe /users/{}/friends") { let _: Request<Void> = .get("/users/\(id)/friends") }
    try await row("describe a path without values") { let _: Request<Void> = .get("/users/me/friends") }
    let bare = Client(environment: Environment(baseURL: "https://api.example.com/v1"), transport: none)
    try await row("call, no middleware, Void") { try await bare.send(request) }
    let api = Client(baseURL: "https://api.example.com/v1", transport: none)
    try await row("call, default pipeline, Void") { try await api.send(request) }
    try await row("call, default pipeline, described each time") { try await api.send(.get("/users/\(id)/friends")) }
    let tokens = MemoryCredentials(token: "abcdefghijklmnopqrstuvwxyz")
    let signed = Client(baseURL: "https://api.example.com/v1", transport: none) { $0.authentication = .bearer(tokens) }
    try await row("call, bearer token") { try await signed.send(request) }
    let eight = Client(baseURL: "https://api.example.com/v1", transport: none) {
      $0.customizePipeline = { pipeline in for _ in 0..<8 { pipeline.insert(PassOn(), .beforeTransport) } }
    }
    try await row("call, default pipeline and 8 more") { try await eight.send(request) }
    let observed = Client(baseURL: "https://api.example.com/v1", transport: none) {
      $0.settings.observers = [Ignoring()]
    }
    try await row("call, trace observed") { try await observed.send(request) }
    let tagged = request.tag("images").id("one", whenRunning: .replace)
    try await row("call with id and tag") { try await api.send(tagged) }
    let typed: Request<Small> = .get("/users/\(id)")
    let typedAPI = Client(baseURL: "https://api.example.com/v1", transport: NoTransport(content: json))
    try await row("call, small JSON decoded") { _ = try await typedAPI.send(typed) }
    try await row("message(for:)") { _ = try await api.message(for: request) }
  }

  static func fixed(_ number: Double, _ width: Int) -> String {
    let text = "\(Int((number * 10).rounded()) / 10).\(Int((number * 10).rounded()) % 10)"
    return String(repeating: " ", count: max(0, width - text.count)) + text
  }
}

#if canImport(Glibc)
  import ApusCore
  import struct ApusTesting.SeededGenerator
  import ApusTestServer
  import Foundation
  import HTTPTypes

  /// One call of the soak: what is asked for, what the server does, and how the call is ended early.
  struct SoakCall: Sendable {
    enum Kind: String, CaseIterable {
      case small, large, chunked, empty, unauthorized, redirect, closed, reset, truncated, stalled, halfStalled,
        tooLarge
    }

    enum Ending: CaseIterable {
      case none, taskAtOnce, taskSoon, id, tag, deadline, abandoned
    }

    let number: Int
    let kind: Kind
    let ending: Ending
    let method: HTTPRequest.Method
    let delay: Int

    init(number: Int, using generator: inout SeededGenerator) {
      self.number = number
      kind = Kind.allCases.randomElement(using: &generator) ?? .small
      var ending = Ending.allCases.randomElement(using: &generator) ?? .none
      // What never ends by itself must be ended.
      if kind == .stalled || kind == .halfStalled, ending == .none || ending == .abandoned { ending = .deadline }
      self.ending = ending
      method = [.get, .get, .get, .post, .put, .delete].randomElement(using: &generator) ?? .get
      delay = Int.random(in: 0..<20, using: &generator)
    }

    /// Makes the call; answers how it failed, or `nil` when it did not.
    func perform(with client: Client) async -> CallError.Code? {
      let request = request
      let over = Gate()
      let task = Task {
        defer { over.open() }
        if ending == .abandoned {
          // Neither read nor discarded: the response ends with its closure.
          try await client.withResponse(to: request) { _ in }
        } else {
          _ = try await client.send(request)
        }
      }
      switch ending {
      case .taskAtOnce: task.cancel()
      case .taskSoon:
        await pause()
        task.cancel()
      case .id: await cancel(over) { client.calls.cancel(id: CallID("call-\(number)")) }
      case .tag: await cancel(over) { client.calls.cancel(tag: Tag("call-\(number)")) }
      case .none, .deadline, .abandoned: break
      }
      do {
        try await task.value
        return nil
      } catch {
        return (error as? CallError)?.code
      }
    }

    /// Cancels after a while; a call that never ends by itself is waited for until it can be found.
    private func cancel(_ over: Gate, _ cancel: () -> Int) async {
      for _ in 0..<delay { await Task.yield() }
      while cancel() == 0, kind.isEndless, !over.isOpen { await Task.yield() }
    }

    /// Lets other work go on for a while that differs from call to call.
    private func pause() async {
      for _ in 0..<delay { await Task.yield() }
    }

    private var request: Request<Content> {
      var request = message(method, "/\(kind.rawValue)/\(number)").tag(Tag("call-\(number)"))
      request = request.id(CallID("call-\(number)"), whenRunning: .allow)
      if ending == .deadline { request = request.timeout(.milliseconds(delay + 1)) }
      if method == .post || method == .put {
        request = request.content(.text(String(repeating: "x", count: delay * 100)))
      }
      return request
    }

    /// How often the server may see it: the platform repeats what is idempotent when a connection that was used
    /// before is found closed.
    var mostExchanges: Int {
      (kind == .closed || kind == .reset) && (method == .get || method == .delete || (method == .put && delay == 0))
        ? 6 : 1
    }

    static func number(in target: String) -> Int {
      target.split(separator: "/").last.flatMap { Int($0) } ?? -1
    }

    private static let large = [UInt8](repeating: 7, count: 50_000)
    private static let tooLarge = [UInt8](repeating: 7, count: 1 << 20)

    static func reply(to request: RecordedRequest) -> Reply {
      let kind = request.target.split(separator: "/").first.flatMap { Kind(rawValue: String($0)) }
      return switch kind {
      case .small, .none: .json("[1]")
      case .large: .status(200, content: large)
      case .chunked: .chunked([[1, 2, 3], [4, 5], [6]])
      case .empty: .status(204)
      case .unauthorized: .text("no", status: 401, fields: ["WWW-Authenticate": "Basic realm=\"x\""])
      case .redirect: .text("elsewhere", status: 302, fields: ["Location": "/small/0"])
      case .closed: .closed
      case .reset: .reset
      case .truncated: Reply.text("hello").closing(at: .content(2))
      case .stalled: .stalled
      case .halfStalled: Reply.text("hello").stalling(at: .content(2))
      case .tooLarge: .status(200, content: tooLarge)
      }
    }
  }

  extension SoakCall.Kind {
    /// Whether the server never ends its answer.
    var isEndless: Bool { self == .stalled || self == .halfStalled }
  }
#endif

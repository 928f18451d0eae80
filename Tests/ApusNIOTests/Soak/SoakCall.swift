#if NIO
  import ApusCore
  import struct ApusTesting.SeededGenerator
  import ApusTestServer
  import Foundation
  import HTTPTypes

  /// One call of the soak: what is asked for, what the server does, and how the call is ended early.
  struct SoakCall: Sendable {
    enum Kind: String, CaseIterable {
      case small, large, chunked, coded, empty, redirect, closed, reset, truncated, stalled, halfStalled, tooLarge,
        garbage, early
    }

    enum Ending: CaseIterable {
      case none, taskAtOnce, taskSoon, id, tag, deadline, abandoned
    }

    enum Sending: CaseIterable {
      case nothing, little, much, stream
    }

    let number: Int
    let kind: Kind
    let ending: Ending
    let method: HTTPRequest.Method
    let sending: Sending
    let delay: Int

    init(number: Int, using generator: inout SeededGenerator) {
      self.number = number
      kind = Kind.allCases.randomElement(using: &generator) ?? .small
      var ending = Ending.allCases.randomElement(using: &generator) ?? .none
      // What never ends by itself must be ended.
      if kind == .stalled || kind == .halfStalled, ending == .none || ending == .abandoned { ending = .deadline }
      self.ending = ending
      method = [.get, .get, .get, .post, .put, .delete].randomElement(using: &generator) ?? .get
      let sending = Sending.allCases.randomElement(using: &generator) ?? .nothing
      self.sending = method == .post || method == .put ? sending : .nothing
      delay = Int.random(in: 0..<20, using: &generator)
    }

    /// Makes the call; answers how it failed, or `nil` when it did not.
    func perform(with client: Client) async -> CallError? {
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
        for _ in 0..<delay { await Task.yield() }
        task.cancel()
      case .id: await cancel(over) { client.calls.cancel(id: CallID("call-\(number)")) }
      case .tag: await cancel(over) { client.calls.cancel(tag: Tag("call-\(number)")) }
      case .none, .deadline, .abandoned: break
      }
      return await failure { try await task.value }
    }

    /// Cancels after a while; a call that never ends by itself is waited for until it can be found.
    private func cancel(_ over: Gate, _ cancel: () -> Int) async {
      for _ in 0..<delay { await Task.yield() }
      while cancel() == 0, kind == .stalled || kind == .halfStalled, !over.isOpen { await Task.yield() }
    }

    private var request: Request<Content> {
      var request = message(method, "/\(kind.rawValue)/\(number)").tag(Tag("call-\(number)"))
      request = request.id(CallID("call-\(number)"), whenRunning: .allow)
      if ending == .deadline { request = request.timeout(.milliseconds(delay + 1)) }
      switch sending {
      case .nothing: return request
      case .little: return request.content(.text(String(repeating: "x", count: delay * 100)))
      case .much: return request.content(.bytes(Data(count: 200_000 + delay)))
      case .stream:
        let delay = delay
        return request.content(
          .stream(
            ContentStream(isReplayable: true) {
              let rest = Once([UInt8](repeating: 1, count: 1000 * delay + 1))
              return { rest.take() }
            }))
      }
    }

    /// How often the server may see it: once more where a connection in use before was closed.
    var mostExchanges: Int { (kind == .closed || kind == .reset) && method != .post ? 2 : 1 }

    static func number(in target: String) -> Int {
      target.split(separator: "/").last.flatMap { Int($0) } ?? -1
    }

    private static let large = [UInt8](repeating: 7, count: 50_000)
    private static let tooLarge = [UInt8](repeating: 7, count: 1 << 20)
    /// "hello hello hello hello" in gzip.
    static let hello: [UInt8] = [
      0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0xC8, 0x40, 0x27,
      0x01, 0xE3, 0x51, 0x3D, 0x8D, 0x17, 0x00, 0x00, 0x00,
    ]

    static func reply(to request: RecordedRequest) -> Reply {
      let kind = request.target.split(separator: "/").first.flatMap { Kind(rawValue: String($0)) }
      return switch kind {
      case .small, .none: .json("[1]")
      case .large: .status(200, content: large)
      case .chunked: .chunked([[1, 2, 3], [4, 5], [6]], trailers: ["X-End": "yes"]).interim(103)
      case .coded: .status(200, fields: ["Content-Encoding": "gzip"], content: hello)
      case .empty: .status(204)
      case .redirect: .text("elsewhere", status: 302, fields: ["Location": "/small/0"])
      case .closed: .closed
      case .reset: .reset
      case .truncated: Reply.text("hello").closing(at: .content(2))
      case .stalled: .stalled
      case .halfStalled: Reply.text("hello").stalling(at: .content(2))
      case .tooLarge: .status(200, content: tooLarge)
      case .garbage: .raw("HTTP/1.1 2000 banana\r\n\r\n")
      case .early: .text("bye", fields: ["Connection": "close"])
      }
    }
  }

  /// Puts the call's time limit into force.
  struct CallDeadline: Middleware {
    func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
      var context = context
      if let timeout = context.timeout { context.limit(to: context.startInstant.advanced(by: timeout)) }
      return try await next(request, context: context)
    }
  }
#endif

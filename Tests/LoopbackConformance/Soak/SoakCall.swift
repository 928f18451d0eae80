import ApusCore
import ApusTestServer
import ApusTesting
import HTTPTypes
import Synchronization
import TestSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One call of a soak test: its request, the server's behavior, and how the call is ended early.
struct SoakCall: Sendable {
  enum Kind: String, CaseIterable {
    case small, large, chunked, coded, empty, unauthorized, redirect, closed, reset, truncated, stalled, halfStalled,
      tooLarge, garbage, early

    /// Whether the server never ends its response.
    var isEndless: Bool { self == .stalled || self == .halfStalled }
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
  /// The timeout of a call that is not ended early; `nil` for none.
  let timeout: Duration?

  init(number: Int, timeout: Duration?, using generator: inout SeededGenerator) {
    self.number = number
    self.timeout = timeout
    kind = Kind.allCases.randomElement(using: &generator) ?? .small
    var ending = Ending.allCases.randomElement(using: &generator) ?? .none
    // A call whose response never ends must be ended by a deadline.
    if kind.isEndless, ending == .none || ending == .abandoned { ending = .deadline }
    self.ending = ending
    method = [.get, .get, .get, .post, .put, .delete].randomElement(using: &generator) ?? .get
    let sending = Sending.allCases.randomElement(using: &generator) ?? .nothing
    self.sending = method == .post || method == .put ? sending : .nothing
    delay = Int.random(in: 0..<20, using: &generator)
  }

  /// Performs the call. Returns its error; `nil` if it succeeded.
  func perform(with client: Client) async -> CallError? {
    let request = request
    let over = Gate()
    let task = Task {
      defer { over.open() }
      if ending == .abandoned {
        // The content is neither read nor discarded; the response ends with its closure.
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
    do {
      try await task.value
      return nil
    } catch {
      return error as? CallError
    }
  }

  /// Cancels the call after a delay. A call whose response never ends is cancelled as soon as it is registered.
  private func cancel(_ over: Gate, _ cancel: () -> Int) async {
    for _ in 0..<delay { await Task.yield() }
    try? await waitWhile(cancel() == 0 && kind.isEndless && !over.isOpen)
  }

  private var request: Request<Content> {
    let path: RequestPath = "/\(kind.rawValue)/\(number)"
    var request = Request(method: method, path: path, mapping: .content).accepting(.any)
    request = request.tag(Tag("call-\(number)")).id(CallID("call-\(number)"), onDuplicate: .allow)
    if let timeout { request = request.timeout(timeout) }
    if ending == .deadline { request = request.timeout(.milliseconds(delay + 1)) }
    switch sending {
    case .nothing: return request
    case .little: return request.content(.text(String(repeating: "x", count: delay * 100)))
    case .much: return request.content(.bytes(Data(count: 200_000 + delay)))
    case .stream:
      let length = 1000 * delay + 1
      return request.content(
        .stream(
          ContentStream(isReplayable: true) {
            let rest = Mutex<Data?>(Data(count: length))
            return { rest.withLock { $0.take() } }
          }))
    }
  }

  /// Whether the request may be resent if its reused connection turns out to be closed.
  var isRepeated: Bool { (kind == .closed || kind == .reset) && method != .post }

  static func number(in target: String) -> Int {
    target.split(separator: "/").last.flatMap { Int($0) } ?? -1
  }
}

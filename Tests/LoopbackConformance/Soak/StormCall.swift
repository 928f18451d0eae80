import ApusCore
import ApusTesting
import HTTPTypes
import Synchronization
import TestSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One call of a ``Storm``: its request, the server's behavior, and how the call is ended early.
struct StormCall: Sendable, CustomStringConvertible {
  enum Kind: String {
    case call, large, refused, unprocessed, executed, cut, silent
  }

  enum Ending {
    case none, cancelled, deadline
    /// The reader stops for a while, and then reads the rest or abandons it.
    case stalled, abandoned
  }

  enum Sending: CaseIterable {
    case nothing, little, much, stream
  }

  enum Outcome: Sendable {
    /// The call succeeded, with this number of content bytes.
    case succeeded(Int)
    case failed(CallError)
  }

  let number: Int
  let kind: Kind
  let ending: Ending
  let sending: Sending
  let delay: Int

  var description: String { "/\(kind)/\(number) sending \(sending), ending \(ending)" }

  init(number: Int, using generator: inout SeededGenerator) {
    self.number = number
    kind =
      switch Int.random(in: 0..<2000, using: &generator) {
      case 0: .unprocessed
      case ..<40: .refused
      case ..<80: .executed
      case ..<120: .cut
      case ..<140: .silent
      case ..<160: .large
      default: .call
      }
    ending =
      switch Int.random(in: 0..<100, using: &generator) {
      case _ where kind == .silent: .deadline
      case ..<5: .cancelled
      case ..<8: .deadline
      case ..<60 where kind == .large: .stalled
      case _ where kind == .large: .abandoned
      default: .none
      }
    let sending = Sending.allCases.randomElement(using: &generator) ?? .nothing
    // Large content is rare, because it determines the time of the test.
    self.sending = sending != .much && sending != .stream || number % 8 == 0 ? sending : .little
    delay = Int.random(in: 0..<20, using: &generator)
  }

  /// Performs the call.
  func perform(with client: Client) async -> Outcome {
    let task = Task { try await length(with: client) }
    if ending == .cancelled {
      for _ in 0..<delay { await Task.yield() }
      task.cancel()
    }
    do {
      return .succeeded(try await task.value)
    } catch {
      return .failed(CallError(converting: error))
    }
  }

  private func length(with client: Client) async throws -> Int {
    guard ending == .stalled || ending == .abandoned else { return try await client.send(request).data.count }
    return try await client.withResponse(to: request) { response in
      var length = try await response.next()?.count ?? 0
      for _ in 0..<delay * 100 { await Task.yield() }
      if ending == .abandoned { return length }
      while let piece = try await response.next() { length += piece.count }
      return length
    }
  }

  private var request: Request<Content> {
    let path: RequestPath = "/\(kind.rawValue)/\(number)"
    var request = Request(method: sending == .nothing ? .get : .post, path: path, mapping: .content)
    if ending == .deadline { request = request.timeout(.milliseconds(kind == .silent ? 100 : delay + 1)) }
    switch sending {
    case .nothing: return request
    case .little: return request.content(.text(String(repeating: "x", count: delay * 100 + 1)))
    case .much: return request.content(.bytes(Data(count: 100_000 + delay)))
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

  /// Whether the call may fail with an error.
  func permits(_ error: CallError) -> Bool {
    switch (ending, error.code) {
    case (.cancelled, .cancelled), (.deadline, .timeout): true
    // The server ended too many connections before it processed the request.
    case (_, .connectionLost) where error.requestState == .notSent: true
    case (_, .connectionLost):
      kind == .executed && error.requestState == .maybeSent
        || kind == .cut && error.requestState == .responded
    default: false
    }
  }
}

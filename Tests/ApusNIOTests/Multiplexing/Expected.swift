import ApusCore
import Foundation
import HTTPTypes
import Testing

@testable import ApusNIO

/// The expected end of a call to a ``FrameServer``, and the client's reaction to the server.
struct Expected: Sendable {
  /// The end of a call.
  enum Outcome: Sendable {
    case response(status: Int, content: String, trailers: [String])
    /// A response with status 200 and this number of content bytes.
    case content(count: Int)
    /// An error. `state`: `nil` if several request states are correct. `detail`: a part of the error's detail.
    case failure(CallError.Code, state: RequestState?, detail: String)
    /// The caller stopped to read.
    case dropped
  }

  /// The error frames that the client sends. Only a GOAWAY frame with another code than NO_ERROR is an error.
  enum Reaction: Sendable {
    case none
    case anything
    /// RST_STREAM with one of these codes, and no error on the connection. Not required if both sides have ended the
    /// stream.
    case reset(StreamID, [HTTP2ErrorCode])
    case goAway(HTTP2ErrorCode)
    /// GOAWAY that the server may not receive, because the client closes the connection while the server sends.
    case mayGoAway(HTTP2ErrorCode)
    /// A stream error or a connection error.
    case resetOrGoAway(HTTP2ErrorCode)
  }

  /// The permitted outcomes.
  var outcomes: [Outcome]
  var reaction = Reaction.none
  /// The number of connections that the calls and the next call use.
  var connections = 1...1

  static let ok = response("hello")

  static func response(_ content: String, status: Int = 200, trailers: [String] = []) -> Expected {
    Expected(outcomes: [.response(status: status, content: content, trailers: trailers)])
  }

  static let dropped = Expected(outcomes: [.dropped])

  static func content(count: Int) -> Expected { Expected(outcomes: [.content(count: count)]) }

  static func failure(
    _ code: CallError.Code, _ state: RequestState? = .maybeSent, _ detail: String = ""
  ) -> Expected {
    Expected(outcomes: [.failure(code, state: state, detail: detail)])
  }

  static func lost(_ state: RequestState = .maybeSent, _ detail: String = "") -> Expected {
    failure(.connectionLost, state, detail)
  }

  /// The server closes or resets the connection.
  static func closed(_ state: RequestState = .maybeSent) -> Expected { lost(state).with(connections: 2...2) }

  /// A violation that the frame reader detects.
  static func violation(_ violation: FrameViolation, _ state: RequestState? = .maybeSent) -> Expected {
    let failure = failure(.malformedResponse, state, violation.description)
    return switch violation.scope {
    case .connection: failure.with(.goAway(violation.code)).with(connections: 2...2)
    case .stream(let stream): failure.with(.reset(stream, [violation.code]))
    }
  }

  /// A field block on stream 1 that breaks a rule.
  static func malformed(
    _ rule: FieldFault.Rule, _ name: String = "", _ state: RequestState = .maybeSent
  ) -> Expected {
    violation(.fields(FieldFault(rule, name), 1), state)
  }

  static func streamError(
    _ code: HTTP2ErrorCode = .protocolError, _ state: RequestState = .responded, stream: StreamID = 1
  ) -> Expected {
    failure(.malformedResponse, state).with(.reset(stream, [code]))
  }

  static func connectionError(
    _ code: HTTP2ErrorCode = .protocolError, _ state: RequestState? = .maybeSent
  ) -> Expected {
    failure(.malformedResponse, state).with(.goAway(code)).with(connections: 2...2)
  }

  func with(_ reaction: Reaction) -> Expected {
    var expected = self
    expected.reaction = reaction
    return expected
  }

  func with(connections: ClosedRange<Int>) -> Expected {
    var expected = self
    expected.connections = connections
    return expected
  }

  /// Returns an expectation that another outcome satisfies, too. The reaction is the reaction of this expectation.
  func or(_ other: Expected) -> Expected {
    var expected = self
    expected.outcomes += other.outcomes
    expected.connections =
      min(
        connections.lowerBound, other.connections.lowerBound)...max(
        connections.upperBound, other.connections.upperBound)
    return expected
  }
}

// MARK: - Judgment

/// The end of a call.
enum CallEnd: Sendable {
  case response(status: Int, content: Data, trailers: [String])
  case failure(CallError)
  /// The caller stopped to read.
  case dropped
}

extension Expected.Outcome {
  func matches(_ end: CallEnd) -> Bool {
    switch (self, end) {
    case (.response(let status, let content, let trailers), .response(let actual, let data, let fields)):
      status == actual && data == Data(content.utf8) && trailers == fields
    case (.content(let count), .response(200, let data, _)): data.count == count
    case (.failure(let code, let state, let detail), .failure(let error)):
      error.code == code && (state == nil || error.requestState == state)
        && (detail.isEmpty || error.detail.contains(detail))
    case (.dropped, .dropped): true
    default: false
    }
  }
}

extension Expected.Reaction {
  /// Returns whether the client reacted as expected on all connections together.
  func matches(_ received: [Received]) -> Bool {
    let resets = received.flatMap(\.resets)
    let errors = received.flatMap(\.goAways).filter { $0 != .noError }
    switch self {
    case .none: return resets.isEmpty && errors.isEmpty
    case .anything: return true
    case .reset(let stream, let codes):
      let request = received.first?.request(stream)
      let isOver = request?.isComplete == true && request?.isAnswered == true
      guard resets.allSatisfy({ $0.stream == stream && codes.contains($0.code) }) else { return false }
      return errors.isEmpty && (isOver || !resets.isEmpty)
    case .goAway(let code): return errors == [code]
    case .mayGoAway(let code): return errors.allSatisfy { $0 == code }
    case .resetOrGoAway(let code): return Set(resets.map(\.code) + errors) == [code]
    }
  }
}

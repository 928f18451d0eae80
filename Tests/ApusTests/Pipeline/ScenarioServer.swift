import Apus
import ApusTesting
import Synchronization

/// A stub server with many causes of delay. The server accepts only the latest token, fails as configured, redirects,
/// and responds in pieces.
final class ScenarioServer: Sendable {
  enum Weather: CaseIterable {
    case fair, failing, busy, silent, dropping
  }

  private struct State {
    /// The number of the latest token.
    var token = 1
    var weather: Weather
    /// The number of exchanges that the weather affects; `nil` for all.
    var remaining: Int?

    /// Returns the failure of the next exchange, or `nil`.
    mutating func failure() -> StubReply? {
      guard remaining != 0 else { return nil }
      remaining = remaining.map { $0 - 1 }
      return switch weather {
      case .fair: nil
      case .failing: .status(503)
      case .busy: .status(429, fields: [.retryAfter: "1"])
      case .silent: .stalled
      case .dropping: .failure(TransportError(.connectionLost, requestState: .maybeSent))
      }
    }
  }

  private let state: Mutex<State>

  /// - Parameters:
  ///   - weather: the replies to requests with the latest token. Default: successful replies.
  ///   - count: the number of such requests; `nil` for all.
  init(_ weather: Weather = .fair, for count: Int? = nil) {
    state = Mutex(State(weather: weather, remaining: count))
  }

  func turn(to weather: Weather) {
    state.withLock { ($0.weather, $0.remaining) = (weather, nil) }
  }

  /// Returns valid tokens.
  func signIn() -> Tokens {
    state.withLock { state in
      state.token += 1
      return Tokens(access: Secret("a\(state.token)"), refresh: Secret("r\(state.token)"))
    }
  }

  func answer(to exchange: StubExchange) -> StubReply {
    switch exchange.target {
    case "/v1/token": return tokens(for: exchange.text)
    case "/v1/after": return .status(204)
    case "/v1/broken": return .status(503)
    case "/v1/down": return .failure(TransportError(.connectionFailed, requestState: .notSent))
    default: break
    }
    return state.withLock { state -> StubReply in
      let isOpen = exchange.request.head.authority == "open.test"
      guard isOpen || exchange.fields[.authorization] == "Bearer a\(state.token)" else { return .status(401) }
      return state.failure() ?? Self.fair(exchange.target)
    }
  }

  private static func fair(_ target: String) -> StubReply {
    switch target {
    case "/v1/moved": StubReply.pieces(["a", "b"]).paced(every: .milliseconds(100))
    case "/v1/quick": .text("ab")
    case "/v1/slow": StubReply.text("ab").after(.seconds(3))
    default: .status(302, fields: [.location: "/v1/moved"])
    }
  }

  /// Returns the reply to a refresh. A refresh token is valid once, and the reply is delayed.
  private func tokens(for text: String) -> StubReply {
    state.withLock { state -> StubReply in
      guard text == "grant_type=refresh_token&refresh_token=r\(state.token)" else {
        return .json(#"{"error":"invalid_grant"}"#, status: 400)
      }
      state.token += 1
      let number = state.token
      let json = #"{"access_token":"a\#(number)","refresh_token":"r\#(number)"}"#
      return StubReply.json(json).after(.seconds(1))
    }
  }
}

import Apus
import ApusTesting
import HTTPTypes

/// The outcomes of a call, which the server's responses cause.
enum Ending: String, CaseIterable, Sendable {
  case accepted, streamed, refused, broken, unreachable, timedOut, cancelled
  case refreshRefused, refreshRefusedByProblem, refreshFailed, refreshUnreachable, refreshTimedOut
  case refreshNoJSON, refreshCutOff, refreshOfOtherTypes, refreshWithoutAccess, refreshOfPage

  /// Whether the outcome is caused by the refresh.
  var isOfRefresh: Bool { rawValue.hasPrefix("refresh") }

  /// Whether the server's response to the refresh is unreadable.
  var isUnreadable: Bool {
    switch self {
    case .refreshNoJSON, .refreshCutOff, .refreshOfOtherTypes, .refreshWithoutAccess, .refreshOfPage: true
    default: false
    }
  }

  /// The code of the caller's error; `nil` if the call succeeds, or if the refresh determines the code.
  var code: CallError.Code? {
    switch self {
    case .refused: .rejected
    case .broken: .connectionLost
    case .unreachable: .connectionFailed
    case .timedOut: .timeout
    case .cancelled: .cancelled
    default: nil
    }
  }

  /// Whether the app is notified that the server rejects the credentials.
  var isUnauthorized: Bool { [.refused, .refreshRefused, .refreshRefusedByProblem].contains(self) }
}

/// A server that repeats every secret in its responses.
struct SecretServer: Sendable {
  let authenticator: Authenticator
  let ending: Ending
  /// Delays the responses to calls that time out or are cancelled.
  let gate: Gate

  func answer(to exchange: StubExchange) -> StubReply {
    if exchange.target == "/v1" + Authenticator.tokenPath { return tokens }
    let shown = exchange.fields[.authorization]
    if authenticator.needsChallenge, shown == nil {
      return .status(401, fields: [.wwwAuthenticate: authenticator.challenge])
    }
    if authenticator == .refreshedBearer, shown == "Bearer \(Planted.access.secret)" { return refusal }
    switch ending {
    case .refused: return refusal
    case .broken: return .failure(TransportError(.connectionLost, requestState: .maybeSent, detail: "stubbed"))
    case .unreachable: return .failure(TransportError(.connectionFailed, requestState: .notSent, detail: "stubbed"))
    case .timedOut, .cancelled: return .status(204).waiting(for: gate)
    case .streamed: return .pieces([Planted.quoted, Planted.quoted])
    default: return .json(Planted.quoted)
    }
  }

  private var refusal: StubReply {
    let all = Planted.allCases.map(\.secret).joined(separator: " ")
    let challenge = authenticator.challenge + #", error_description="\#(all)""#
    return .json(
      Planted.quoted, status: 401,
      fields: [.contentType: "application/problem+json", .wwwAuthenticate: challenge])
  }

  /// The response to a refresh.
  private var tokens: StubReply {
    let (access, refresh) = (Planted.newAccess.secret, Planted.newRefresh.secret)
    let good = #"{"access_token":"\#(access)","refresh_token":"\#(refresh)","expires_in":3600}"#
    switch ending {
    case .refreshRefused: return .json(#"{"error":"invalid_grant","hint":"\#(Planted.refresh.secret)"}"#, status: 400)
    case .refreshRefusedByProblem:
      return .json(Planted.quoted, status: 403, fields: [.contentType: "application/problem+json"])
    case .refreshFailed: return .status(500, content: "<html>\(Planted.refresh.secret)</html>")
    case .refreshUnreachable:
      return .failure(TransportError(.connectionFailed, requestState: .notSent, detail: "stubbed"))
    case .refreshTimedOut: return .json(good).waiting(for: gate)
    case .refreshNoJSON: return .json("access_token=\(access)&refresh_token=\(refresh)")
    case .refreshCutOff: return .json(String(good.dropLast(20)))
    case .refreshOfOtherTypes: return .json(#"{"access_token":["\#(access)"],"refresh_token":{"\#(refresh)":1}}"#)
    case .refreshWithoutAccess: return .json(#"{"token":"\#(access)","\#(refresh)":1}"#)
    case .refreshOfPage: return .text("<p>\(access) \(refresh)</p>", fields: [.contentType: "text/html"])
    default: return .json(good)
    }
  }
}

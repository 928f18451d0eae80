import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension CallError: LocalizedError {
  /// A sentence to show to a person: the message set for this error, otherwise the text from the client's
  /// ``ErrorTexts``.
  public var message: String { storage.failure.message ?? storage.record.texts.text(self) }

  /// The ``message``, for code that handles any `LocalizedError`.
  public var errorDescription: String? { message }
}

extension CallError: SelfRedacting {
  /// One line for logs: the endpoint, the failure, advice, and in brackets the code, the request state and the retry
  /// decision. It contains no values, fields (headers) or content (body).
  public var description: String {
    var text = endpoint.isNone ? "The call \(happened)" : "\(endpoint) \(happened)"
    if !explanation.isEmpty { text += ": \(explanation)" }
    if text.utf8.last != UInt8(ascii: ".") { text += "." }
    if let advice { text += " \(advice)" }
    return "\(text) [\(facts.joined(separator: ", "))]"
  }

  /// The failure, as a predicate whose subject is the endpoint.
  private var happened: String {
    switch code {
    case .invalidRequest: phase == .preparing ? "could not be prepared" : "could not be sent"
    case .encoding: "could not be encoded"
    case .refused: requestState == .notSent ? "was refused before it was sent" : "was not continued"
    case .offline: "found no network"
    case .hostNotFound: "found no address for the server's name"
    case .connectionFailed: "could not connect to the server"
    case .tls: "could not make a secure connection to the server"
    case .timeout: "timed out while \(phase.activity)"
    case .cancelled: "was cancelled"
    case .connectionLost where isIncompleteRequest: "was not sent completely"
    case .connectionLost: "lost its connection while \(phase.activity)"
    case .malformedResponse where isRedirect: "was redirected with \(StatusText.of(status)), which was not followed"
    case .malformedResponse:
      (underlying as? any ResponseFault)?.predicate ?? "got a response that breaks the rules of HTTP"
    case .contentTooLarge: "got more content than allowed"
    case .rejected: "was rejected" + (status.map { " with \(StatusText.of($0))" } ?? "")
    case .decoding: "got \(StatusText.of(status)), but its content could not be decoded"
    case .handler: "failed in the app's closure"
    }
  }

  private var isRedirect: Bool { (300...399).contains(status ?? 0) }

  private var explanation: String {
    if detail.isEmpty { return cancellation?.description ?? "" }
    return codingPath.map { "\(detail) at \($0)" } ?? detail
  }

  /// Advice as a sentence. `nil` if there is none, or if the explanation already contains it.
  private var advice: String? {
    if let retryAfter { return "Retry after \(retryAfter)." }
    switch code {
    case .invalidRequest: return detail.isEmpty ? "Correct the request or the client's configuration." : nil
    case .encoding: return "Correct the value: it would fail again."
    case .refused: return isThrottled ? "Retry later." : nil
    case .offline: return "Retry when there is a network."
    case .hostNotFound: return "Check the host in the base URL, and the name server."
    case .connectionFailed: return "Check the server's address, and that the server runs."
    case .tls: return "Check the server's certificate, the pins and the clock."
    case .timeout, .connectionLost: return requestState == .notSent ? "Retry." : "Retry if the request is idempotent."
    case .cancelled, .handler: return nil
    case .malformedResponse: return isRedirect ? "Check the endpoint's path and the redirect policy." : nil
    case .contentTooLarge: return "Raise the content limit, or read the content as a stream."
    case .rejected: return StatusText.advice(for: status ?? 0)
    case .decoding: return "Compare the endpoint's type with what the server sends."
    }
  }

  /// The code, the request state, the number of attempts and the reason for not retrying.
  private var facts: [String] {
    var facts = [code.rawValue, "\(requestState)"]
    if let attemptCount { facts.append(attemptCount) }
    // The code already implies that a failure is not temporary.
    if let reason = failedAttempts.last?.giveUpReason, reason != .notTemporary {
      facts.append("not retried: \(reason)")
    }
    return facts
  }

  /// The number of attempts that count toward the maximum of the retry policy, and the immediate retry, which does not.
  private var attemptCount: String? {
    guard attempts > 1 else { return nil }
    let counted = attempts - failedAttempts.count { $0.isRetriedAtOnce }
    if counted == attempts { return "\(attempts) attempts" }
    return "\(counted) attempt\(counted == 1 ? "" : "s") and an immediate retry"
  }
}

extension CallPhase {
  /// The activity of the call in this phase, as in "timed out while …".
  fileprivate var activity: String {
    switch self {
    case .preparing: "its request was prepared"
    case .waiting: "it waited to be sent"
    case .connecting: "it was being sent"
    case .awaitingHead: "it waited for the response"
    case .receiving: "it received the content"
    case .decoding: "its content was decoded"
    case .handling: "the app's closure ran"
    }
  }
}

/// The descriptions of statuses in logs. The server's own reason phrase is untrusted and not shown.
enum StatusText {
  private static let known: [HTTPResponse.Status] = [
    .ok, .created, .accepted, .nonAuthoritativeInformation, .noContent, .resetContent, .partialContent,
    .multipleChoices, .movedPermanently, .found, .seeOther, .notModified, .temporaryRedirect, .permanentRedirect,
    .badRequest, .unauthorized, .forbidden, .notFound, .methodNotAllowed, .notAcceptable,
    .proxyAuthenticationRequired, .requestTimeout, .conflict, .gone, .lengthRequired, .preconditionFailed,
    .contentTooLarge, .uriTooLong, .unsupportedMediaType, .rangeNotSatisfiable, .expectationFailed,
    .misdirectedRequest, .unprocessableContent, .tooEarly, .upgradeRequired, .preconditionRequired, .tooManyRequests,
    .requestHeaderFieldsTooLarge, .unavailableForLegalReasons, .internalServerError, .notImplemented, .badGateway,
    .serviceUnavailable, .gatewayTimeout, .httpVersionNotSupported, .networkAuthenticationRequired,
  ]

  /// Returns the status with its standard phrase, as in "404 Not Found"; "a response" for `nil`.
  static func of(_ status: Int?) -> String {
    guard let status else { return "a response" }
    return known.first { $0.code == status }.map { "\(status) \($0.reasonPhrase)" } ?? "status \(status)"
  }

  /// Returns advice for a rejection with this status, or `nil` if there is none.
  static func advice(for status: Int) -> String? {
    switch status {
    case 401: "Sign in, or renew the credentials."
    case 403: "Use credentials that permit it."
    case 404, 410: "Check the path and the values in it."
    case 409, 412: "Load the present state, and repeat the change."
    case 429, 500...599: "Retry later if the request is idempotent."
    case 400...499: "Correct the request: it would be rejected again."
    default: nil
    }
  }
}

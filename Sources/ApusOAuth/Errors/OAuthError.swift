public import ApusCore
import ApusMiddleware

/// The error of a sign-in, a refresh or a revocation.
///
/// ``description`` is for logs: it states the failed step and the reason, and contains no token, code or secret. From a
/// server's response the description contains only short unregistered names: an error code, or a token type.
public struct OAuthError: LoggableError, SelfRedacting {
  /// The kind of failure.
  public var code: Code { problem.code }
  package let step: Step
  package let problem: Problem
  /// The details, as a clause without secrets. Empty if no details are known.
  public let detail: String
  /// The status of the server's response; `nil` if no response arrived.
  public let status: Int?
  /// The server's own error code, at most 100 characters; `nil` if the client detected the failure.
  public let serverCode: String?
  /// The server's explanation for developers, at most 300 characters on one line; `nil` if the server sent no
  /// explanation. Do not log it: a server may quote secrets.
  public let serverMessage: String?
  /// The error of the failed call, or of the browser; `nil` if no error caused the failure. Do not log it: it may
  /// contain secrets.
  public let underlying: (any Error)?

  init(_ step: Step, _ problem: Problem, _ detail: String = "", underlying: (any Error)? = nil) {
    (self.step, self.problem, self.detail, self.underlying) = (step, problem, detail, underlying)
    (status, serverCode, serverMessage) = ((underlying as? CallError)?.status, nil, nil)
  }

  /// Creates the error from a server's response.
  init(_ step: Step, _ response: ErrorResponse) {
    self.step = step
    problem = Problem(registered: response.code)
    status = response.status
    serverCode = ServerText.code(response.code)
    serverMessage = response.message.flatMap { ServerText.message($0) }
    underlying = response.cause
    guard problem == .unregistered else {
      detail = ""
      return
    }
    let name = ServerName.quoted(response.code, besides: response.secrets).map { " \($0)" } ?? ""
    detail = "the server gave an error code\(name) that is not registered"
  }

  /// Creates the error from the error of a call.
  init(_ step: Step, _ error: any Error) {
    switch error {
    case let error as OAuthError: self = error
    case is CancellationError: self.init(step, .cancelled)
    case let error as CallError where error.isCancellation: self.init(step, .cancelled, underlying: error)
    case let error as CallError:
      self.init(step, .callFailed, "the call failed with \(error.code.rawValue)", underlying: error)
    default: self.init(step, .callFailed, underlying: error)
    }
  }

  /// Whether the user declined, or the app cancelled the sign-in. Apps usually display no error in this case.
  public var isCancellation: Bool { problem == .cancelled || problem == .accessDenied }

  /// The step, the exact failure and the details.
  public var description: String {
    let status = status.map { " (status \($0))" } ?? ""
    return "\(step.rawValue): \(problem.rawValue)\(status)\(detail.isEmpty ? "" : ": \(detail)")"
  }
}

extension OAuthError {
  /// A step of a sign-in, or of an operation after a sign-in.
  package enum Step: String, Sendable, Hashable, CaseIterable {
    /// Reading the server's metadata.
    case discovery
    /// Pushing the authorization request (RFC 9126).
    case pushedAuthorization = "pushed authorization"
    /// The user's authorization in the browser.
    case authorization
    /// Receiving the redirect.
    case redirect
    /// Exchanging the code for tokens.
    case token
    /// Checking the ID token.
    case idToken = "ID token"
    /// Reading the server's keys.
    case keys
    /// Requesting a device code (RFC 8628).
    case deviceAuthorization = "device authorization"
    /// Waiting for the authorization on another device.
    case deviceToken = "device token"
    /// Requesting tokens for the client itself.
    case clientCredentials = "client credentials"
    /// Refreshing tokens.
    case refresh
    /// Revoking tokens (RFC 7009).
    case revocation
  }
}

extension OAuthError: RefreshError {
  /// Whether a new sign-in is required.
  package var isPermanent: Bool { problem == .invalidGrant || status == 401 || status == 403 }
}

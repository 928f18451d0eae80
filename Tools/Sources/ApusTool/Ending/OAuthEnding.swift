import Apus
import ApusOAuth

extension Ending {
  /// Creates the ending for the error of a login or a logout at an authorization server.
  init(_ error: OAuthError) {
    if error.code == .callFailed, error.serverCode == nil, let call = error.underlying as? CallError {
      self.init(ExitStatus(call), Complaint(call))
      return
    }
    guard error.code != .cancelled else {
      self.init(.interrupted, Complaint(sentence: "Interrupted."))
      return
    }
    var complaint = Complaint(sentence: Self.sentence(of: error))
    complaint.detail = error.description + (error.serverMessage.map { ": \($0)" } ?? "")
    self.init(Self.status(of: error), complaint)
  }

  private static func sentence(of error: OAuthError) -> String {
    switch error.code {
    case .accessDenied: "The sign-in was declined."
    case .timedOut: "The sign-in was not finished in time."
    case .unsupported: "The authorization server cannot be used for this."
    case .browserFailed: "The browser cannot be used for the sign-in."
    case .invalidRequest where error.serverCode == nil: "The request of the sign-in cannot be made."
    default:
      error.serverCode == nil
        ? "The answer of the authorization server was refused." : "The authorization server refused the request."
    }
  }

  private static func status(of error: OAuthError) -> ExitStatus {
    if error.serverCode != nil { return .rejected }
    switch error.code {
    case .timedOut: return .timeout
    case .unsupported, .invalidRequest: return .invalidRequest
    case .browserFailed: return .connectionFailed
    default: return .malformedResponse
    }
  }
}

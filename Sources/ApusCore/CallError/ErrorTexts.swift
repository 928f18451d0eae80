/// The sentences that errors show to people. Replace them to localize an app.
public struct ErrorTexts: Sendable {
  /// Returns the sentence for an error.
  public let text: @Sendable (CallError) -> String

  /// Creates error texts from a function, which can read an error's code, phase, status and rejection.
  public init(_ text: @escaping @Sendable (CallError) -> String) {
    self.text = text
  }

  /// English sentences. For a rejection with a 4xx status or in an envelope, the sentence is the server's message, if
  /// any. With other statuses the message often comes from a proxy or a crash, so it is not used.
  public static let english = ErrorTexts { error in
    switch error.code {
    case .invalidRequest: "This request could not be prepared."
    case .encoding: "The data you entered could not be sent."
    case .refused where error.storage.failure.subject == .credentials: "You need to sign in to do this."
    case .refused:
      error.phase == .preparing ? "This is already in progress." : "This cannot be done right now. Try again later."
    case .offline: "You appear to be offline. Check your connection and try again."
    case .hostNotFound: "The server could not be found. Check your connection and try again."
    case .connectionFailed: "The server cannot be reached right now. Try again later."
    case .tls: "A secure connection to the server could not be made."
    case .timeout: "The server took too long to answer. Try again."
    case .cancelled: "The request was cancelled."
    case .connectionLost where error.isIncompleteRequest: "Not everything could be sent. Try again."
    case .connectionLost: "The connection was lost. Try again."
    case .malformedResponse where (300...399).contains(error.status ?? 0):
      "The server referred to another place that could not be used."
    case .malformedResponse, .decoding: "The server sent an answer that could not be understood."
    case .contentTooLarge: "The server sent more data than expected."
    case .rejected: error.rejection?.shownMessage ?? refused(error)
    case .handler: "The received data could not be processed."
    }
  }

  private static func refused(_ error: CallError) -> String {
    switch error.status ?? 0 {
    case 401: "You need to sign in to do this."
    case 403: "You are not allowed to do this."
    case 404, 410: "What you are looking for is not there."
    case 409, 412: "This was changed in the meantime. Reload and try again."
    case 413: "This is too large for the server."
    case 429: "Too many requests. Wait a moment and try again."
    case 500...599: "The server has a problem. Try again later."
    default: "The server could not do this."
    }
  }
}

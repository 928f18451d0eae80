import Apus
import ApusAWS
import ApusOAuth

/// The tool's exit status and its error message.
struct Ending: Sendable, Hashable {
  var status: ExitStatus
  var complaint: Complaint?

  init(_ status: ExitStatus, _ complaint: Complaint? = nil) {
    self.status = status
    self.complaint = complaint
  }

  /// Creates the ending for an error.
  init(_ error: any Error) {
    switch error {
    case let error as CallError:
      if let cause = error.underlying as? AWSCredentialsError {
        self.init(cause)
      } else {
        self.init(ExitStatus(error), Complaint(error))
      }
    case let error as InputError: self.init(.input, Complaint(sentence: error.description))
    case let error as OutputError:
      self.init(.output, error.isBrokenPipe ? nil : Complaint(sentence: error.description))
    case let error as ProfileError: self.init(error.status, Complaint(sentence: error.description))
    case let error as OAuthError: self.init(error)
    case let error as SigningError: self.init(.invalidRequest, Complaint(sentence: error.description))
    case let error as AWSCredentialsError:
      let text = error.description
      self.init(.invalidRequest, Complaint(sentence: text.prefix(1).uppercased() + text.dropFirst() + "."))
    case let error as PlanError: self.init(.usage, Complaint(sentence: error.description))
    case is CancellationError: self.init(.interrupted, Complaint(sentence: "Interrupted."))
    case let error as TargetURL.Malformed:
      self.init(.invalidRequest, Complaint(sentence: "The request is invalid: \(error.description)."))
    default: self.init(.fault, Complaint(sentence: "Internal error: \(type(of: error))."))
    }
  }
}

/// An error message on standard error.
struct Complaint: Sendable, Hashable {
  /// A sentence for the user.
  var sentence: String
  /// Technical details; may be empty.
  var detail = ""

  /// Creates the message for a call's error; `nil` if the reader of the output has closed it.
  init?(_ error: CallError) {
    if let output = error.underlying as? OutputError {
      // The reader of the output has closed it deliberately.
      if output.isBrokenPipe { return nil }
      sentence = output.description
      return
    }
    if let input = error.underlying as? InputError {
      sentence = input.description
      return
    }
    guard !error.isCancellation else {
      sentence = "Interrupted."
      return
    }
    if error.code == .rejected, let status = error.status {
      sentence = Self.rejection(status, reason: "")
      detail = error.rejection?.message ?? ""
      return
    }
    sentence = error.message
    let facts = "\(error.code.rawValue), \(error.requestState) while \(error.phase)"
    detail = error.detail.isEmpty ? facts : "\(facts): \(error.detail)"
  }

  init(sentence: String) {
    self.sentence = sentence
  }

  /// Creates the message for a response that was not accepted.
  init(rejection status: Int, reason: String) {
    sentence = Self.rejection(status, reason: reason)
  }

  private static func rejection(_ status: Int, reason: String) -> String {
    "The server rejected the request: \(status)" + (reason.isEmpty ? "." : " \(reason).")
  }

  /// The lines for standard error. Control characters and newlines from servers are escaped.
  var text: String {
    let (sentence, detail) = (
      TerminalText.harmless(sentence, keepsLines: false), TerminalText.harmless(detail, keepsLines: false)
    )
    return "apus: \(sentence)\n" + (detail.isEmpty ? "" : "      \(detail)\n")
  }
}

import Apus

/// How the tool ends, and what it says before.
struct Ending: Sendable, Hashable {
  var status: ExitStatus
  var complaint: Complaint?

  init(_ status: ExitStatus, _ complaint: Complaint? = nil) {
    self.status = status
    self.complaint = complaint
  }

  /// The ending that an error means.
  init(_ error: any Error) {
    switch error {
    case let error as CallError: self.init(ExitStatus(error), Complaint(error))
    case let error as InputError: self.init(.input, Complaint(sentence: error.description))
    case let error as OutputError:
      self.init(.output, error.isBrokenPipe ? nil : Complaint(sentence: error.description))
    case let error as ProfileError: self.init(error.status, Complaint(sentence: error.description))
    case let error as PlanError: self.init(.usage, Complaint(sentence: error.description))
    case is CancellationError: self.init(.interrupted, Complaint(sentence: "Interrupted."))
    case let error as TargetURL.Malformed:
      self.init(.invalidRequest, Complaint(sentence: "This request cannot be made: \(error.description)."))
    default: self.init(.fault, Complaint(sentence: "This should not have happened: \(type(of: error))."))
    }
  }
}

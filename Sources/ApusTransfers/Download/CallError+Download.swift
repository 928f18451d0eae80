import ApusCore

extension TransferError {
  /// Creates the cause of a failed exchange.
  init(of error: CallError) {
    let problem: Problem = error.underlying is ContentChanged ? .contentChanged : .interrupted
    self = error.transfer ?? TransferError(problem, underlying: error.underlying)
  }
}

extension CallError {
  /// Whether a download may continue after this error: the connection was lost, the transfer stalled, or the content
  /// ended early. `false` after a deadline of the app, because a streamed response has no other deadline. `false` after
  /// a success that arrived before the request was sent completely.
  var isTemporaryInterruption: Bool {
    if let transfer { return transfer.problem == .wrongLength }
    return (code == .connectionLost && !isIncompleteRequest) || (code == .timeout && cancellation == nil)
  }

  /// Returns the error of a download whose exchange failed with this error.
  func explained(by cause: TransferError) -> CallError {
    var error = caused(by: cause, code: cause.code, message: cause.message)
    error.detail = cause.description
    if cause.problem == .interrupted {
      let first = detail.isEmpty ? cancellation?.description ?? "" : detail
      if !first.isEmpty { error.detail = "\(first); \(cause.description)" }
    }
    // The server may have rejected only the range.
    if code == .rejected, cause.keptBytes > 0 { error.detail += ", or starts over with `resumes` set to false" }
    return error
  }
}

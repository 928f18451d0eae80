extension TraceEvent.Kind: CustomStringConvertible {
  /// The event as it stands in a timeline.
  public var description: String {
    switch self {
    case .started: "started"
    case .prepared: "request prepared"
    case .joined(let serial): "joined the exchange of call #\(serial)"
    case .attemptStarted: "attempt started"
    case .attemptFailed(let attempt): "attempt failed with \(attempt)"
    case .queued(let cause): "waits for its turn: \(cause)"
    case .admitted(let time): "has its turn after \(Trace.milliseconds(time)) ms"
    case .authorized(let generation): "credentials of generation \(generation) added"
    case .unauthorized(let generation): "credentials of generation \(generation) not accepted"
    case .awaitingCredentials(let generation): "waits for other credentials than those of generation \(generation)"
    case .redirected(let status, let from, let to): "redirected with status \(status) from \(from) to \(to)"
    case .exchangeStarted: "exchange started"
    case .phase(let phase, let time): "\(phase.rawValue): \(Trace.milliseconds(time)) ms"
    case .connected(let reused): reused ? "on a connection in use before" : "on a new connection"
    case .requestSent: "request sent"
    case .resent: "to a new connection: the one in use before was closed before any byte of the answer"
    case .interim(let status): "interim response with status \(status)"
    case .firstByteArrived: "first byte of the answer"
    case .headArrived(let status): "answered with status \(status)"
    case .sendProgress(let sent, let expected): "sent \(sent) of \(Self.total(expected)) bytes"
    case .receiveProgress(let received, let expected): "received \(received) of \(Self.total(expected)) bytes"
    case .contentArrived(let length): "content complete, \(length) bytes"
    case .decoded: "decoded"
    case .cancelRequested(let reason): "cancel requested: \(reason)"
    case .note(let note, let number): "\(note): \(number)"
    case .succeeded: "succeeded"
    case .failed(let code): "failed: \(code.rawValue)"
    }
  }

  private static func total(_ expected: Int64?) -> String {
    expected.map { String($0) } ?? "an unknown number of"
  }
}

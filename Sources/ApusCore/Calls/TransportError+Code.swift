extension TransportError {
  /// The code of the ``CallError`` that a call ends with when this is thrown.
  public var code: CallError.Code {
    switch kind {
    case .offline: .offline
    case .hostNotFound: .hostNotFound
    case .connectionFailed: .connectionFailed
    case .tls: .tls
    case .broken: .broken
    case .malformedResponse: .malformedResponse
    case .contentTooLarge: .contentTooLarge
    case .declined: .declined
    case .unsupported: .invalidRequest
    case .timedOut: .timeout
    }
  }
}

public import ApusCore

extension CallError {
  /// The reason why there is no session for the call any more, as far as that is why it failed; `nil`: it failed for
  /// another reason. See the table of ``SessionEnd``.
  ///
  /// A call that shares the exchange of another one knows of a refusal by its ``status`` only.
  public var sessionEnd: SessionEnd.Reason? {
    switch code {
    case .declined:
      if underlying is PrincipalChanged { return .signedOut }
      if let underlying, RefreshRefusal.isLasting(underlying) { return .expired }
      return SessionEnd.Reason(trace)
    case .rejected where status == 401: return SessionEnd.Reason(trace)
    default: return nil
    }
  }

  /// Whether the call failed since its session is over: somebody has to sign in, and there is no other error to show.
  public var isSessionOver: Bool { sessionEnd.map { $0 != .neverSignedIn } ?? false }
}

extension CallState {
  /// What a call waited for ahead of an exchange until it was ended, as half a sentence; empty where the last that
  /// happened to it does not tell.
  var waitedFor: String {
    for event in events.reversed() {
      switch event.kind {
      case .cancelRequested, .failed: continue
      case .queued(.network): return "waited for a network"
      case .queued(let cause): return "waited for its turn (\(cause))"
      case .awaitingCredentials: return "waited for other credentials"
      case .attemptFailed: return "waited for its next attempt"
      case .redirected: return "waited to follow a redirect"
      default: return ""
      }
    }
    return ""
  }
}

public import Apus

extension Authentication {
  /// How an accounts server is shown who is calling: by the tokens of a sign-in, which are refreshed with it.
  ///
  /// Every client that is given the same one shares the tokens and their refreshes.
  ///
  /// - Parameter tokens: filled at sign-in, emptied at sign-out, and once the server refreshes them no more.
  public static func accounts(_ tokens: MemoryCredentials) -> Authentication {
    .bearer(tokens) { refresh in try await refresh.send(RefreshSession(token: refresh.token)) }
  }
}

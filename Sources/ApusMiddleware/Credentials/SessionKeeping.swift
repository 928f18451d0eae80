package import ApusCore

/// A middleware that keeps data of a session, and removes the data at a sign-out.
package protocol SessionKeeping: Middleware {
  /// Removes the data of an environment's session, before its credentials are removed. When this returns, data that
  /// outlives the process is removed, too.
  ///
  /// - Throws: the error because of which data may still exist.
  func signedOut(of environment: Environment) async throws
}

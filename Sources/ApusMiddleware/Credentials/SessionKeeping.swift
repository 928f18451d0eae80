package import ApusCore

/// A middleware that keeps data of a session, and removes the data at a sign-out.
package protocol SessionKeeping: Middleware {
  /// Removes the data of an environment's session. When this returns, data that outlives the process is removed, too.
  ///
  /// Called before and after the credentials of the session are removed: in between, a call may still have been made with
  /// them.
  ///
  /// - Throws: the error because of which data may still exist.
  func signedOut(of environment: Environment) async throws
}

import ApusCore
import HTTPTypes

/// Credentials that a message of a call carries or is about to carry.
struct CallCredential: Sendable {
  private(set) var stored: StoredCredential
  let authentication: Authentication
  let context: CallContext
  /// Reports the session's end to the app of the call's client.
  private let middleware: AuthenticationMiddleware
  /// The server of the message, which is parsed only for a report.
  private let server: (scheme: String?, authority: String?)

  init(_ stored: StoredCredential, _ authentication: Authentication, in exchange: AuthenticatedExchange) {
    self.stored = stored
    self.authentication = authentication
    (context, middleware) = (exchange.context, exchange.middleware)
    server = (exchange.request.head.scheme, exchange.request.head.authority)
  }

  /// The maximum number of refreshes before a message is sent: new tokens may have expired on arrival.
  private static let maximumRefreshes = 2

  /// Returns the credentials to send. Waits while the current credentials are unusable.
  func usable(_ refresher: Refresher) async throws -> StoredCredential {
    var (credential, refreshes, coolDowns) = (self, 0, 0)
    while refreshes < Self.maximumRefreshes, credential.stored.credential != nil {
      switch try await refresher.prepare(credential, after: coolDowns) {
      case .noWait: return credential.stored
      case .replaced: refreshes += 1
      case .coolDownEnded: coolDowns += 1
      }
      credential.stored = try await readAgain()
    }
    return credential.stored
  }

  /// Waits, after a rejection, until other credentials replace these credentials. Returns whether there are other
  /// credentials to send.
  func awaitReplacement(by refresher: Refresher) async throws -> Bool {
    var coolDowns = 0
    while true {
      let current = try await readAgain()
      switch try await refresher.awaitRenewal(of: self, current: current.generation, after: coolDowns) {
      case .noWait: return false
      case .coolDownEnded: coolDowns += 1
      case .replaced:
        let latest = try await readAgain()
        return latest.credential != nil && latest.generation != stored.generation
      }
    }
  }

  private func readAgain() async throws -> StoredCredential {
    try await authentication.read(as: stored.principal)
  }

  // MARK: The end of the session

  /// Returns the error of a call that needed a refresh. If the failure ended a session, reports this to the app of the
  /// call's client.
  func error(reporting failure: RefreshFailure) -> any Error {
    if let ended = failure.endedSession { reportExpiry(next: ended.next) }
    return failure.error
  }

  /// Reports that a refresh was rejected permanently.
  ///
  /// - Parameter next: the generation after the session.
  func reportExpiry(next: UInt64) {
    middleware.report(sessionEnd(.expired), upTo: next, of: authentication)
  }

  /// Returns the end of the credentials' session; `nil` if the message has no valid origin.
  ///
  /// - Parameter generation: the generation of the session. Default: the generation of the credentials.
  func sessionEnd(_ reason: SessionEnd.Reason, generation: UInt64? = nil) -> SessionEnd? {
    guard let scheme = server.scheme, let authority = server.authority,
      let origin = Origin(scheme: scheme, authority: authority)
    else { return nil }
    return SessionEnd(
      reason: reason, origin: origin, environment: context.environment.name,
      scheme: authentication.parts.scheme.name, call: context.call.id, generation: generation ?? stored.generation)
  }
}

extension Authentication {
  /// Reads the credentials; throws if they belong to another principal.
  ///
  /// - Throws: ``PrincipalChangedError`` as the cause of a ``TransportError`` if the credentials belong to another
  ///   principal, or the error of the refresh that ended the principal's session; errors of ``read()``.
  func read(as principal: UInt64) async throws -> StoredCredential {
    let stored = try await read()
    guard stored.principal == principal else {
      throw parts.refresher?.sessionEnd(of: principal) ?? PrincipalChangedError.error
    }
    return stored
  }

  /// Reads the credentials.
  ///
  /// - Throws: ``TransportError`` if they cannot be read; the error of another call and `CancellationError` unchanged.
  func read() async throws -> StoredCredential {
    do {
      let stored = try await parts.store.current()
      await parts.recordRead(stored)
      return stored
    } catch let error as CallError {
      throw error
    } catch is CancellationError where Task.isCancelled {
      throw CancellationError()
    } catch {
      throw TransportError.unusable("the credentials could not be read: \(error.loggedReason)", underlying: error)
    }
  }
}

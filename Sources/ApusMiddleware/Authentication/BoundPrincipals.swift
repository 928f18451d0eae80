import ApusCore

/// The principals that a call is bound to: the content of each authentication's store when the call began.
struct BoundPrincipals: Sendable {
  private struct Entry: Sendable {
    let authentication: Authentication
    let stored: Result<StoredCredential, any Error>

    var principal: UInt64 {
      if case .success(let stored) = stored { return stored.principal }
      return CallBinderKey.unreadable
    }
  }

  private var entries: [Entry] = []

  /// Reads the stores of all authentications whose credentials the call may carry.
  ///
  /// - Throws: `CancellationError` when the call is cancelled. An error of a store is thrown later, if its credentials
  ///   are needed.
  init(_ authentications: [Authentication], for request: RequestMessage) async throws {
    for authentication in authentications {
      // Skips authentications that the call overrides, or that the current task is refreshing.
      if authentication.isRefreshing || authentication.isOverridden(by: request) { continue }
      let stored: Result<StoredCredential, any Error>
      do {
        stored = .success(try await authentication.read())
      } catch let error as CancellationError {
        throw error
      } catch {
        stored = .failure(error)
      }
      entries.append(Entry(authentication: authentication, stored: stored))
    }
  }

  /// The content of the store, or the error of reading the store; `nil` if the call is not bound to the
  /// authentication's principal.
  subscript(authentication: Authentication) -> Result<StoredCredential, any Error>? {
    let id = authentication.id
    return entries.first { $0.authentication.id == id }?.stored
  }

  /// The credentials of which one account has others than every other account, in this process. Empty for a call that
  /// began signed out; `nil` if a store cannot be read.
  var identities: [CredentialIdentity]? {
    var identities: [CredentialIdentity] = []
    for entry in entries {
      guard case .success(let stored) = entry.stored else { return nil }
      guard let credential = stored.credential else { continue }
      let parts = entry.authentication.parts
      identities.append(
        parts.store is FixedCredential ? .fixed(credential) : .session(store: parts.serial, stored.principal))
    }
    return identities
  }

  /// A combined id of all bound principals; `nil` if there are none.
  var combined: UInt64? {
    guard entries.count != 1 else { return entries[0].principal }
    var hasher = Hasher()
    for entry in entries { hasher.combine(entry.principal) }
    return entries.isEmpty ? nil : UInt64(bitPattern: Int64(hasher.finalize()))
  }
}

/// A credential that no other account has.
enum CredentialIdentity: Sendable, Hashable {
  /// A credential that does not change.
  case fixed(Credential)
  /// The principal of a store, whose numbers have a meaning only for that store.
  case session(store: UInt64, UInt64)
}

/// The principals that a call is bound to.
enum BoundPrincipalsKey: ContextKey {
  static let defaultValue: BoundPrincipals? = nil
  /// Coalescing compares ``CallContext/principal``.
  static let affectsCoalescing = false
}

import ApusMiddleware

/// A change of the credentials in a store that outlives the process.
struct RecordChange: Sendable {
  /// Whether the user signs in or out. Waiting calls are then notified.
  let changesPrincipal: Bool
  /// Whether the change creates a missing file or key of the store. Otherwise nothing is changed if it is missing.
  let createsStore: Bool
  private let next: @Sendable (CredentialRecord) -> CredentialRecord?

  /// The user signs in.
  ///
  /// - Parameters:
  ///   - account: the name of the account; if it is that of the present credentials, the principal stays the same.
  ///   - now: seconds since 1970.
  static func signIn(_ credential: Credential, account: String? = nil, at now: Double) -> RecordChange {
    RecordChange(changesPrincipal: true, createsStore: true) {
      $0.replaced(by: credential, at: now, account: account)
    }
  }

  /// The user signs out.
  static func signOut(at now: Double) -> RecordChange {
    RecordChange(changesPrincipal: true, createsStore: false) { $0.replaced(by: nil, at: now) }
  }

  /// The credentials of a generation are replaced or removed, if that generation is still stored.
  static func refresh(_ generation: UInt64, to credential: Credential?, at now: Double) -> RecordChange {
    RecordChange(changesPrincipal: false, createsStore: true) { present in
      present.generation == generation ? present.refreshed(to: credential, at: now) : nil
    }
  }

  /// Returns the record to store in place of the present record; `nil`: none.
  ///
  /// - Parameters:
  ///   - isStored: whether the present record is stored, and not that of an empty store.
  ///   - random: returns 64 random bits.
  func record(
    after present: CredentialRecord, isStored: Bool, _ clocks: Clocks, random: () -> UInt64
  ) -> CredentialRecord? {
    let new = next(present)
    return isStored ? new : new?.counted(from: clocks.wall, random: random())
  }
}

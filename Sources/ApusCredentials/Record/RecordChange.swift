import ApusMiddleware

/// A change of the credentials in a durable store.
struct RecordChange: Sendable {
  /// Whether the user signs in or out, so that waiting calls are notified.
  let changesPrincipal: Bool
  /// Whether the change creates a missing file or key of the store. If `false`, the change has no effect without a file
  /// or key.
  let createsStore: Bool
  private let next: @Sendable (CredentialRecord) -> CredentialRecord?

  /// Returns the change of a sign-in.
  ///
  /// - Parameters:
  ///   - account: the name of the account. If the present credentials have the same account, the principal stays the
  ///     same.
  ///   - now: seconds since 1970.
  static func signIn(_ credential: Credential, account: String? = nil, at now: Double) -> RecordChange {
    RecordChange(changesPrincipal: true, createsStore: true) {
      $0.replaced(by: credential, at: now, account: account)
    }
  }

  /// Returns the change of a sign-out.
  static func signOut(at now: Double) -> RecordChange {
    RecordChange(changesPrincipal: true, createsStore: false) { $0.replaced(by: nil, at: now) }
  }

  /// Returns the change of a refresh, which replaces or removes the credentials of a generation, if that generation is
  /// still stored.
  static func refresh(_ generation: UInt64, to credential: Credential?, at now: Double) -> RecordChange {
    RecordChange(changesPrincipal: false, createsStore: true) { present in
      present.generation == generation ? present.refreshed(to: credential, at: now) : nil
    }
  }

  /// Returns the record that replaces the present record; `nil` if the present record stays.
  ///
  /// - Parameters:
  ///   - isStored: whether the present record is stored. `false` for the record of an empty store.
  ///   - random: returns 64 random bits.
  func record(
    after present: CredentialRecord, isStored: Bool, _ clocks: Clocks, random: () -> UInt64
  ) -> CredentialRecord? {
    let new = next(present)
    return isStored ? new : new?.counted(from: clocks.wall, random: random())
  }
}

#if Credentials
  import ApusCore
  import ApusMiddleware

  /// A record in memory, and when it came there.
  struct HeldRecord: Sendable {
    let record: CredentialRecord
    private let remaining: Duration?
    private let arrival: MonotonicInstant

    init(_ record: CredentialRecord, _ clocks: Clocks) {
      self.record = record
      remaining = record.remaining(at: clocks.wall)
      arrival = clocks.clock.now
    }

    /// What it is now.
    ///
    /// The time that is left is counted by both clocks, and the lesser counts: one that is turned back while the process
    /// runs lengthens nothing.
    func stored(_ clocks: Clocks) -> StoredCredential {
      var left: Duration?
      if let remaining, let byWall = record.remaining(at: clocks.wall) {
        left = min(byWall, remaining - arrival.duration(to: clocks.clock.now))
      }
      return StoredCredential(
        record.credential, generation: record.generation, principal: record.principal, remaining: left)
    }
  }
#endif

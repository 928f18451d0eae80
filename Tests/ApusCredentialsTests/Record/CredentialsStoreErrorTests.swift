import Testing

@testable import ApusCredentials

@Suite("Reasons of errors of credentials stores")
struct CredentialsStoreErrorTests {
  @Test("The reason suggests whether to wait, to change permissions, to restore the key or to change the code")
  func reasons() {
    let rows: [(CredentialsStoreError.Reason, [CredentialsStoreError.Problem])] = [
      (.unavailable, [.system, .noKeyring, .notPermitted, .quotaExceeded, .noKeyrings, .keychain]),
      (.insecure, [.notAFile, .foreignOwner, .accessibleToOthers]),
      (
        .unreadable,
        [
          .fileTooLarge, .unknownFormat, .wrongKeyOrDamaged, .keyKindMismatch, .keyMissing, .malformedKey,
          .unknownKeyFormat, .unknownItemFormat,
        ]
      ),
      (.tooLarge, [.tooLarge]),
      (.misconfigured, [.keyPathCollision, .invalidName]),
    ]
    for (reason, problems) in rows {
      for problem in problems { #expect(CredentialsStoreError(problem, "credentials").reason == reason) }
    }
  }
}

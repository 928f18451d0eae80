import ApusCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A cache of the server's keys. The keys are fetched when they are needed.
final class KeySets: Sendable {
  /// The minimum interval between fetches that tokens with unknown keys cause.
  static let minimumInterval = Duration.seconds(60)
  /// The maximum age of cached keys, so that keys that the server has removed become invalid.
  static let maximumAge = Duration.seconds(24 * 60 * 60)

  private struct Fetched {
    let keys: [JSONWebKey]
    let instant: MonotonicInstant
  }

  private let clock: any MonotonicClock
  private let fetched = Mutex<Fetched?>(nil)

  init(clock: any MonotonicClock) {
    self.clock = clock
  }

  /// Checks a token with the server's keys. Fetches the keys at most once.
  ///
  /// - Parameter fetch: fetches the keys.
  func check(
    _ text: String, by rules: IDTokenRules, at now: Date,
    fetch: () async throws(OAuthError) -> [JSONWebKey]
  ) async throws(OAuthError) -> IDToken {
    let known = fetched.withLock { $0 }
    let age = known.map { $0.instant.duration(to: clock.now) }
    if let known, let age, age < Self.maximumAge {
      if case .verified(let token) = try rules.check(text, with: known.keys, at: now) { return token }
      guard age >= Self.minimumInterval else { throw Self.unknownKey }
    }
    let keys = try await fetch()
    let instant = clock.now
    fetched.withLock { $0 = Fetched(keys: keys, instant: instant) }
    guard case .verified(let token) = try rules.check(text, with: keys, at: now) else { throw Self.unknownKey }
    return token
  }

  private static var unknownKey: OAuthError {
    OAuthError(.idToken, .invalidIDToken, "the server has no key of its name")
  }
}

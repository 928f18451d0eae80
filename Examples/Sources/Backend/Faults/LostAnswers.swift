import Synchronization

/// Loses answers of a backend: its work is done, and what came of it never arrives. The client gets a 502 in its place,
/// as from a gateway whose server went away.
///
/// ```swift
/// let options = Backend.Options()
/// options.lost.lose("POST /friends")
/// let backend = try await Backend.start(options)
/// // … a client adds a friend, and does not learn that it has …
/// ```
public final class LostAnswers: Sendable {
  private let counts = Mutex<[String: Int]>([:])

  /// Loses nothing yet.
  public init() {}

  /// Loses the next answers to requests with a method and a path.
  ///
  /// - Parameters:
  ///   - subject: method and path, without a query: `POST /friends`.
  ///   - count: how many. Default: one.
  public func lose(_ subject: String, count: Int = 1) {
    counts.withLock { $0[subject] = count }
  }

  /// Whether the answer to a request is lost; then there is one less to lose.
  func takes(_ subject: String) -> Bool {
    counts.withLock { counts in
      guard let count = counts[subject], count > 0 else { return false }
      counts[subject] = count - 1
      return true
    }
  }
}

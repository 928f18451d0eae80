import Synchronization

/// Faults that drop responses of a backend after the work is done. The client receives a 502 instead, as from a gateway
/// whose server closed the connection.
///
/// ```swift
/// let options = Backend.Options()
/// options.lost.lose("POST /friends")
/// let backend = try await Backend.start(options)
/// // … a client adds a friend and does not learn of its success …
/// ```
public final class LostResponses: Sendable {
  private let counts = Mutex<[String: Int]>([:])

  /// Creates an object that drops no responses.
  public init() {}

  /// Drops the next responses to requests with a method and a path.
  ///
  /// - Parameters:
  ///   - subject: method and path without the query, for example `POST /friends`.
  ///   - count: the number of responses to drop. Default: 1.
  public func lose(_ subject: String, count: Int = 1) {
    counts.withLock { $0[subject] = count }
  }

  /// Whether the response to a request is dropped. Each call that returns `true` reduces the count.
  func drops(_ subject: String) -> Bool {
    counts.withLock { counts in
      guard let count = counts[subject], count > 0 else { return false }
      counts[subject] = count - 1
      return true
    }
  }
}

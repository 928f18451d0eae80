/// The statuses that count as success. A call with any other status is rejected.
public struct StatusAcceptance: Sendable {
  private let accepts: @Sendable (Int) -> Bool

  /// Creates an acceptance from a predicate.
  public init(_ accepts: @escaping @Sendable (Int) -> Bool) {
    self.accepts = accepts
  }

  /// Whether a status is accepted.
  package func contains(_ status: Int) -> Bool { accepts(status) }

  /// 200 to 299 (RFC 9110 §15.3).
  public static let successful = StatusAcceptance { (200...299).contains($0) }
  /// Every status.
  public static let any = StatusAcceptance { _ in true }

  /// Only the listed statuses.
  public static func statuses(_ statuses: Int...) -> StatusAcceptance {
    StatusAcceptance { statuses.contains($0) }
  }

  /// 200 to 299 and the listed statuses, for example 304 or 404.
  public static func successful(and statuses: Int...) -> StatusAcceptance {
    StatusAcceptance { (200...299).contains($0) || statuses.contains($0) }
  }
}

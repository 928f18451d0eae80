/// The statuses that count as success. A call with any other status is rejected.
public struct StatusAcceptance: Sendable {
  private let accepts: @Sendable (Int) -> Bool

  /// Creates an acceptance from a predicate.
  public init(_ accepts: @escaping @Sendable (Int) -> Bool) {
    self.accepts = accepts
  }

  /// Whether a status is accepted.
  public func contains(_ status: Int) -> Bool { accepts(status) }

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

/// The class of a status: its first digit (RFC 9110 §15).
public enum StatusClass: Int, Sendable, Hashable {
  /// 100 to 199
  case informational = 1
  /// 200 to 299
  case successful
  /// 300 to 399
  case redirection
  /// 400 to 499
  case clientError
  /// 500 to 599
  case serverError

  /// Creates the class of a status, or `nil` outside 100 to 599.
  public init?(status: Int) {
    guard (100...599).contains(status) else { return nil }
    self.init(rawValue: status / 100)
  }
}

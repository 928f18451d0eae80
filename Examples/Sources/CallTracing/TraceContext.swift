/// The trace context of a call: the value of the field `traceparent` (W3C Trace Context, version 00).
public struct TraceContext: Sendable, Hashable {
  /// The trace that the call belongs to: 32 hexadecimal digits.
  public let traceID: String
  /// The operation that makes the call: 16 hexadecimal digits.
  public let parentID: String
  /// Whether the trace is recorded.
  public let isSampled: Bool

  /// Creates a trace context from random bits.
  ///
  /// - Parameters:
  ///   - random: returns 64 random bits.
  ///   - isSampled: whether the trace is recorded.
  public init(random: () -> UInt64, isSampled: Bool) {
    traceID = Self.hexadecimal(random()) + Self.hexadecimal(random())
    parentID = Self.hexadecimal(random())
    self.isSampled = isSampled
  }

  /// Reads the value of the field `traceparent`, for example of a request that a server handles.
  ///
  /// - Returns: `nil` if the value is malformed; the trace then starts anew.
  public init?(_ value: String) {
    let parts = value.split(separator: "-", omittingEmptySubsequences: false).map { String($0) }
    // Later versions may have more parts.
    guard parts.count >= 4, Self.isHexadecimal(parts[0], digits: 2), parts[0] != "ff",
      parts[0] != "00" || parts.count == 4, Self.isID(parts[1], digits: 32), Self.isID(parts[2], digits: 16),
      Self.isHexadecimal(parts[3], digits: 2), let flags = UInt8(parts[3], radix: 16)
    else { return nil }
    (traceID, parentID, isSampled) = (parts[1], parts[2], flags & 1 == 1)
  }

  /// The value of the field.
  public var value: String { "00-\(traceID)-\(parentID)-\(isSampled ? "01" : "00")" }

  /// Returns the trace context of a child span: the same trace ID, and a new parent ID.
  func child(_ random: () -> UInt64) -> TraceContext {
    TraceContext(traceID: traceID, parentID: Self.hexadecimal(random()), isSampled: isSampled)
  }

  private init(traceID: String, parentID: String, isSampled: Bool) {
    (self.traceID, self.parentID, self.isSampled) = (traceID, parentID, isSampled)
  }

  /// Returns 16 hexadecimal digits. An ID of zeros is not valid, so 0 is replaced.
  private static func hexadecimal(_ number: UInt64) -> String {
    let digits = String(max(number, 1), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  private static func isHexadecimal(_ text: String, digits: Int) -> Bool {
    text.utf8.count == digits && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  private static func isID(_ text: String, digits: Int) -> Bool {
    isHexadecimal(text, digits: digits) && text.contains { $0 != "0" }
  }
}

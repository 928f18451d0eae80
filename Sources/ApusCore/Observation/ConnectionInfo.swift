/// The connection of an exchange, as the transport knows it when the exchange gets the connection.
public struct ConnectionInfo: Sendable, Hashable {
  /// The version of HTTP that the connection speaks, or `nil` if the transport does not report it.
  public var protocolVersion: HTTPVersion?
  // In units of 2⁵⁰ attoseconds, 1.1 ms, because a shift takes less time than a division.
  private var ageUnits: UInt32 = 0
  /// The identifier of the exchange's stream (RFC 9113 §5.1.1); 0 for connections without streams.
  package var stream: UInt32 = 0
  /// The number of open streams, including that of the exchange.
  package var openStreams: UInt32 = 0
  /// The number of streams that the server accepts at a time.
  package var maximumStreams: UInt32 = 0

  /// Creates the information about a connection.
  public init(_ protocolVersion: HTTPVersion? = nil) {
    self.protocolVersion = protocolVersion
  }

  /// The time since the connection was made, to about a millisecond, at most 55 days.
  package var age: Duration {
    get { Duration(attoseconds: Int128(ageUnits) << 50) }
    set { ageUnits = UInt32(clamping: newValue.attoseconds >> 50) }
  }
}

extension ConnectionInfo {
  /// Returns the line of a timeline, for example `reused HTTP/2 connection, 12 s old, stream 41, 3 of 100 streams`.
  func text(reused: Bool) -> String {
    var text = reused ? "reused " : "new "
    if let protocolVersion { text += "HTTP/\(protocolVersion.rawValue) " }
    text += "connection"
    if reused, protocolVersion != nil { text += ", \((age + .milliseconds(500)).components.seconds) s old" }
    if stream > 0 { text += ", stream \(stream), \(openStreams) of \(maximumStreams) streams" }
    return text
  }
}

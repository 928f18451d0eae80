extension URLSessionTransport {
  /// Something the transport contract asks for that `URLSession` cannot do on this platform.
  public struct Gap: Sendable, Hashable, CustomStringConvertible {
    /// A stable name.
    public let name: String
    /// What is missing, and what happens instead.
    public let description: String
  }

  /// What this transport cannot do here; empty on Apple platforms.
  public static var knownGaps: [Gap] {
    #if canImport(Darwin)
      []
    #else
      []
    #endif
  }
}

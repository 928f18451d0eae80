extension URLSessionTransport {
  /// Something the transport contract asks for that `URLSession` cannot do on this platform.
  public struct Gap: Sendable, Hashable, CustomStringConvertible {
    /// A stable name.
    public let name: String
    /// What is missing, and what happens instead.
    public let description: String
  }

  /// What this transport cannot do here; little on Apple platforms.
  public static var knownGaps: [Gap] {
    #if canImport(Security)
      [trailers]
    #else
      [
        trailers,
        Gap(
          name: "back-pressure",
          description: "content arrives as fast as the server sends it; what waits to be read is in memory"),
        Gap(
          name: "phase timings",
          description: "the trace has no times of name look-up, connecting, TLS and the end of sending"),
        Gap(name: "trust", description: "pinned keys and client certificates are refused, never ignored"),
        Gap(
          name: "content made while it is sent",
          description: "it is made first, in memory or a temporary file, and then sent"),
        Gap(name: "GET with content", description: "refused as unsupported; use QUERY or POST"),
        Gap(
          name: "broken answers",
          description: "the platform ends the process when a head breaks off or holds a line of NUL, and when an "
            + "answer in chunks has trailer fields"),
        Gap(
          name: "strict framing",
          description: "answers that break RFC 9112 are taken as far as the platform understands them, and it has its "
            + "own limits on heads"),
        Gap(name: "strict codings", description: "coded content that ends too soon passes for whole"),
        Gap(name: "interim responses", description: "nobody is told of them"),
        Gap(name: "IPv6 addresses", description: "a host written as an IPv6 address cannot be reached"),
      ]
    #endif
  }

  private static let trailers = Gap(
    name: "trailers", description: "the platform shows no fields that come after the content: there are none")
}

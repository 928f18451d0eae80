extension URLSessionTransport {
  /// The parts of the transport contract that `URLSession` cannot fulfill on this platform, by name. The module's page
  /// describes them.
  package static var knownGaps: [String] {
    let everywhere = ["trailers", "exchange timeouts", "address policy", "new connections", "back-pressure"]
    #if canImport(Security)
    return everywhere
    #else
    return everywhere + [
      "phase timings", "trust", "content made while it is sent", "GET with content", "malformed responses",
      "strict framing", "strict codings", "interim responses", "early responses", "IPv6 addresses",
    ]
    #endif
  }
}

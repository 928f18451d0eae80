public import ApusCore

extension URLSessionTransport: SelfDescribing {
  /// Its limit on connections. With HTTP/2, which the platform takes where a server has it, several exchanges share one
  /// connection, so the limit is none on exchanges.
  public var facts: [Fact] {
    let limit = Fact.setting("HTTP/1.1 connections to one host", "\(options.connectionsPerHost)")
    return options.reusesConnections ? [limit] : [limit, .setting("a new one for each exchange", "")]
  }
}

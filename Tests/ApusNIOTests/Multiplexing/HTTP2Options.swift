import ApusNIO

// Until `ApusCore` declares `HTTPVersion` and `Options` has `protocols`: delete everything but `speakHTTP2`.
enum HTTPVersion {
  case http1, http2
}

extension NIOTransport.Options {
  var protocols: [HTTPVersion] {
    get { [] }
    set {}
  }
}

extension NIOTransport.Options {
  /// Restricts the transport to HTTP/2: by ALPN on https origins, by prior knowledge on http origins.
  mutating func speakHTTP2() {
    protocols = [.http2]
  }
}

// Until the merge only: the declarations of HTTP/2 that the tests use.
import ApusCore
import ApusNIO

enum HTTPVersion: String, Sendable, Hashable, CaseIterable {
  case http1 = "1.1"
  case http2 = "2"
}

extension NIOTransport.Options {
  var protocols: [HTTPVersion] {
    get { [.http2, .http1] }
    set {}
  }
}

import ApusCore
import HTTPTypes

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension TransportConformance {
  /// Which connections are used again.
  static let connectionChecks: [Check] = [
    Check("makes a new connection after an answer that says close") { bench in
      await bench.server.answer("/", .status(200, fields: [.connection: "close"]))
      for _ in 0..<3 {
        try require(try await bench.send(ConformanceMessage("GET", "/")).status, is: 200, "the status")
      }
      let connections = Set(await bench.server.requests.map(\.connection))
      try require(connections.count, is: 3, "the number of connections")
    },
    Check("goes on where the server closes the connection behind an answer, unannounced") { bench in
      let head = ConformanceReply.Step.head(status: 200, fields: [.contentLength: "2"])
      await bench.server.answer("/", ConformanceReply([head, .content(Data("ok".utf8)), .close]))
      for _ in 0..<20 {
        try require(try await bench.send(ConformanceMessage("GET", "/")).text, is: "ok", "the content")
      }
    },
    Check("takes bytes behind an answer for nobody's", needs: [.strictFraming]) { bench in
      let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
      let poison = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"
      await bench.server.answer("/", ConformanceReply([.raw(Data((answer + poison).utf8))]))
      await bench.server.answer("/next", .status(200, content: "next"))
      for _ in 0..<20 {
        try require(try await bench.send(ConformanceMessage("GET", "/")).text, is: "ok", "the content")
        try require(try await bench.send(ConformanceMessage("GET", "/next")).text, is: "next", "the next content")
      }
    },
  ]
}

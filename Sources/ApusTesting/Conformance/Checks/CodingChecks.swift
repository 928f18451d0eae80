import ApusCore
import HTTPTypes

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension TransportConformance {
  /// Content codings (RFC 9110 §8.4), where nobody but the transport sees to them.
  static let codingChecks: [Check] = [
    Check("offers gzip, and undoes it and deflate", needs: [.contentCodings]) { bench in
      for (coding, bytes) in [("gzip", hello), ("deflate", deflated)] {
        await bench.server.answer("/\(coding)", try coded(bytes, coding))
        let answer = try await bench.send(ConformanceMessage("GET", "/\(coding)"))
        try require(answer.text, is: String(repeating: "hello ", count: 4), "the content")
        try require(answer.head.headerFields[.contentEncoding] == nil, "Content-Encoding is left")
        let offered = try await bench.server.waitForRequest("/\(coding)").fields[.acceptEncoding] ?? ""
        try require(offered.contains("gzip"), "gzip was not offered")
      }
    },
    Check("leaves the head and the content alone where there is none of it", needs: [.contentCodings]) { bench in
      await bench.server.answer("/", ConformanceReply([.head(status: 304, fields: [.contentEncoding: "gzip"])]))
      try require(try await bench.send(ConformanceMessage("GET", "/")).content.isEmpty, "content came")
    },
    Check("refuses coded content that ends too soon, or breaks its coding", needs: [.strictCodings]) { bench in
      let texts = [hello.prefix(hello.count - 9), hello.prefix(12), Data("no gzip at all".utf8)]
      for (number, bytes) in texts.enumerated() {
        await bench.server.answer("/\(number)", try coded(bytes, "gzip"))
        do {
          let error = try await bench.failure(of: ConformanceMessage("GET", "/\(number)"))
          try require([.malformedResponse, .broken].contains(error.kind), "the kind is \(error.kind)")
          try require(error.requestState, is: .answered, "the request's state")
        } catch let failure as ConformanceFailure {
          throw ConformanceFailure("\(failure.text), after \(bytes.count) bytes of gzip")
        }
      }
    },
    Check("gives content up that grows past the limit once it is decoded", needs: [.contentCodings]) { bench in
      await bench.server.answer("/", try coded(zeros, "gzip"))
      let client = try bench.client(contentLimit: 1000) { request, context in
        try await bench.transport.send(ConformanceMessage("GET", "/").message(like: request), context: context)
      }
      do {
        _ = try await client.send(Request<Data>.get("/"))
        throw ConformanceFailure("more content was taken than allowed")
      } catch let error as CallError {
        try require(error.code, is: .contentTooLarge, "the error's code")
      }
    },
  ]

  private static func coded(_ bytes: Data, _ coding: String) throws -> ConformanceReply {
    ConformanceReply([
      .head(status: 200, fields: [.contentEncoding: coding, .contentLength: String(bytes.count)]), .content(bytes),
    ])
  }

  /// "hello " four times in gzip.
  private static let hello = bytes("H4sIAAAAAAACA8tIzcnJV8jAIAHWQeLQGAAAAA==")
  /// The same in deflate, which is zlib's format.
  private static let deflated = bytes("eJzLSM3JyVfIwCABcNQI0Q==")
  /// 64 KiB of zeros in gzip.
  private static let zeros = bytes(
    "H4sIAAAAAAACA+3BAQEAAACAkP6v7ggKAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
      + "AAAAAAAAAAAAAAAAauuOl9cAAAEA")

  private static func bytes(_ base64: String) -> Data { Data(base64Encoded: base64) ?? Data() }
}

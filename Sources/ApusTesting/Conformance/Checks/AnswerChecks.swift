import ApusCore
import HTTPTypes

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension TransportConformance {
  /// What is given of an answer.
  static let answerChecks: [Check] = [
    Check("returns every final status and judges none") { bench in
      for status in 200...599 {
        let path = "/status/\(status)"
        await bench.server.answer(path, .status(status))
        try require(try await bench.send(ConformanceMessage("GET", path)).status, is: status, "the status")
      }
    },
    Check("passes over interim responses") { bench in
      let head = ConformanceReply.Step.head(status: 200, fields: [.contentLength: "2"])
      await bench.server.answer("/", ConformanceReply([.interim(103), .interim(102), head, .content(Data("ok".utf8))]))
      let answer = try await bench.send(ConformanceMessage("GET", "/"))
      try require(answer.status, is: 200, "the status")
      try require(answer.text, is: "ok", "the content")
    },
    Check("gives every field of the answer") { bench in
      let fields: HTTPFields = [
        .contentType: "text/plain", .eTag: "\"v1\"", .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT",
        .vary: "Accept, Accept-Language", .contentLanguage: "de",
      ]
      await bench.server.answer("/", .status(200, fields: fields, content: "text"))
      let answer = try await bench.send(ConformanceMessage("GET", "/"))
      for field in fields {
        try require(answer.head.headerFields[field.name], is: field.value, "the field \(field.name.rawName)")
      }
    },
    Check("gives the lines of one field in their order") { bench in
      var fields = HTTPFields()
      for value in ["a", "b", "c"] { fields.append(HTTPField(name: .vary, value: "X-\(value)")) }
      await bench.server.answer("/", .status(200, fields: fields))
      let received = try await bench.send(ConformanceMessage("GET", "/")).head.headerFields[values: .vary]
      try require(
        received.joined(separator: ", "), is: "X-a, X-b, X-c", "the field Vary")
    },
    Check("gives content framed by length and in chunks, whole") { bench in
      let pieces = (1...10).map { sample($0 * 100) }
      let content = joined(pieces)
      for fields: HTTPFields in [[:], [.contentLength: String(content.count)]] {
        let head = ConformanceReply.Step.head(status: 200, fields: fields)
        await bench.server.answer("/", ConformanceReply([head] + pieces.map { .content($0) }))
        for delivery in [ContentDelivery.buffered, .streamed] {
          let answer = try await bench.send(ConformanceMessage("GET", "/"), delivery)
          try require(answer.content == content, "\(answer.content.count) of \(content.count) bytes, or others")
        }
      }
    },
    Check("gives no content in answer to HEAD, whatever length is announced") { bench in
      await bench.server.answer("/", ConformanceReply([.head(status: 200, fields: [.contentLength: "1000"])]))
      let answer = try await bench.send(ConformanceMessage("HEAD", "/"))
      try require(answer.content.isEmpty, "content came")
      try require(answer.head.headerFields[.contentLength], is: "1000", "Content-Length")
    },
    Check("gives no content with 204 and 304") { bench in
      await bench.server.answer("/204", .status(204))
      await bench.server.answer("/304", ConformanceReply([.head(status: 304, fields: [.eTag: "\"v1\""])]))
      for status in [204, 304] {
        let answer = try await bench.send(ConformanceMessage("GET", "/\(status)"))
        try require(answer.status, is: status, "the status")
        try require(answer.content.isEmpty, "content came with \(status)")
      }
    },
    Check("gives pieces of streamed content as they arrive") { bench in
      let head = ConformanceReply.Step.head(status: 200, fields: [:])
      await bench.server.answer(
        "/", ConformanceReply([head, .content(Data("one".utf8)), .hold, .content(Data("two".utf8))]))
      let client = try bench.client { request, context in
        try await bench.transport.send(request, context: context)
      }
      try await client.withResponse(to: Request<Data>.get("/")) { response in
        var first = Data()
        while first.count < 3, let piece = try await response.next() { first.append(piece) }
        try require(String(decoding: first, as: UTF8.self), is: "one", "the first piece")
        await bench.server.release()
        let rest = try await response.collect()
        try require(String(decoding: rest, as: UTF8.self), is: "two", "the rest")
      }
    },
  ]
}

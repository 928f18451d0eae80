import ApusCore
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension TransportConformance {
  /// Checks for the final response.
  static let answerChecks: [Check] = [
    Check("returns every final status without judging it") { bench in
      for status in 200...599 {
        let path = "/status/\(status)"
        await bench.server.reply(to: path, with: .status(status))
        try require(try await bench.send(ConformanceMessage("GET", path)).status, is: status, "the status")
      }
    },
    Check("skips interim responses") { bench in
      let head = ConformanceReply.Step.head(status: 200, fields: [.contentLength: "2"])
      await bench.server.reply(
        to: "/", with: ConformanceReply([.interim(103), .interim(102), head, .content(Data("ok".utf8))]))
      let response = try await bench.send(ConformanceMessage("GET", "/"))
      try require(response.status, is: 200, "the status")
      try require(response.text, is: "ok", "the content")
    },
    Check("returns every field of the response") { bench in
      let fields: HTTPFields = [
        .contentType: "text/plain", .eTag: "\"v1\"", .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT",
        .vary: "Accept, Accept-Language", .contentLanguage: "de",
      ]
      await bench.server.reply(to: "/", with: .status(200, fields: fields, content: "text"))
      let response = try await bench.send(ConformanceMessage("GET", "/"))
      for field in fields {
        try require(response.head.headerFields[field.name], is: field.value, "the field \(field.name.rawName)")
      }
    },
    Check("returns lines of the same field in order") { bench in
      var fields = HTTPFields()
      for value in ["a", "b", "c"] { fields.append(HTTPField(name: .vary, value: "X-\(value)")) }
      await bench.server.reply(to: "/", with: .status(200, fields: fields))
      let received = try await bench.send(ConformanceMessage("GET", "/")).head.headerFields[values: .vary]
      try require(
        received.joined(separator: ", "), is: "X-a, X-b, X-c", "the field Vary")
    },
    Check("returns content intact, framed by length or in chunks") { bench in
      let pieces = (1...10).map { sample($0 * 100) }
      let content = joined(pieces)
      for fields: HTTPFields in [[:], [.contentLength: String(content.count)]] {
        let head = ConformanceReply.Step.head(status: 200, fields: fields)
        await bench.server.reply(to: "/", with: ConformanceReply([head] + pieces.map { .content($0) }))
        for delivery in [ContentDelivery.buffered, .streamed] {
          let response = try await bench.send(ConformanceMessage("GET", "/"), delivery)
          try require(
            response.content == content, "the content differs (\(response.content.count) of \(content.count) bytes)")
        }
      }
    },
    Check("returns no content for HEAD, whatever length is announced") { bench in
      await bench.server.reply(to: "/", with: ConformanceReply([.head(status: 200, fields: [.contentLength: "1000"])]))
      let response = try await bench.send(ConformanceMessage("HEAD", "/"))
      try require(response.content.isEmpty, "there is content")
      try require(response.head.headerFields[.contentLength], is: "1000", "Content-Length")
    },
    Check("returns no content with 204 and 304") { bench in
      await bench.server.reply(to: "/204", with: .status(204))
      await bench.server.reply(to: "/304", with: ConformanceReply([.head(status: 304, fields: [.eTag: "\"v1\""])]))
      for status in [204, 304] {
        let response = try await bench.send(ConformanceMessage("GET", "/\(status)"))
        try require(response.status, is: status, "the status")
        try require(response.content.isEmpty, "there is content with \(status)")
      }
    },
    Check("delivers pieces of streamed content as they arrive") { bench in
      let head = ConformanceReply.Step.head(status: 200, fields: [:])
      await bench.server.reply(
        to:
          "/", with: ConformanceReply([head, .content(Data("one".utf8)), .hold, .content(Data("two".utf8))]))
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

extension TransportConformance {
  /// Checks for interim responses.
  static let interimChecks: [Check] = [
    Check("reports interim responses with their fields, in order, before the head", needs: [.interimResponses]) {
      bench in
      let link = try field("Link", "</style.css>; rel=preload")
      await bench.server.reply(
        to:
          "/",
        with: ConformanceReply([
          .interim(103, fields: HTTPFields([link])), .interim(102), .head(status: 200, fields: [.contentLength: "0"]),
        ]))
      let reported = Mutex<[HTTPResponse]>([])
      let before = try await bench.perform(ConformanceMessage("GET", "/")) { request, context in
        let context = context.changed {
          $0.values[InterimResponses.self] = { response in reported.withLock { $0.append(response) } }
        }
        let response = try await bench.transport.send(request, context: context)
        let before = reported.withLock { $0.count }
        try require(response.head.status.code, is: 200, "the status")
        return before
      }
      let all = reported.withLock { $0 }
      try require(before, is: 2, "the number of interim responses reported before the head")
      try require(all.map(\.status.code), is: [103, 102], "the list of their statuses")
      try require(all.first?.headerFields[link.name], is: link.value, "the field Link")
    },
    Check("fails on endless interim responses", needs: [.strictFraming]) { bench in
      let flood = String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 10_000)
      await bench.server.reply(to: "/", with: ConformanceReply([.raw(Data(flood.utf8)), .hold]))
      let error = try await bench.failure(of: ConformanceMessage("POST", "/"))
      try require(error.code, is: .malformedResponse, "the code")
      try require(error.requestState, is: .maybeSent, "the request's state")
      try await bench.server.waitForClientClose("/")
    },
    Check("refuses an unsolicited switch of protocols", needs: [.strictFraming]) { bench in
      await bench.server.reply(
        to:
          "/", with: .raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"))
      let error = try await bench.failure(of: ConformanceMessage("POST", "/"))
      try require(error.code, is: .malformedResponse, "the code")
    },
  ]
}

extension TransportConformance {
  /// Checks for trailers (RFC 9110 §6.5).
  static let trailerChecks: [Check] = [
    Check("returns the trailers after the content, except fields that are not allowed there", needs: [.trailers]) {
      bench in
      let digest = try field("X-Digest", "abc")
      let fields = HTTPFields([digest, HTTPField(name: .contentType, value: "text/evil")])
      await bench.server.reply(
        to:
          "/",
        with: ConformanceReply([.head(status: 200, fields: [:]), .content(Data("hello".utf8)), .trailers(fields)]))
      for delivery in [ContentDelivery.buffered, .streamed] {
        let trailers = try await bench.perform(ConformanceMessage("GET", "/"), delivery) { request, context in
          let response = try await bench.transport.send(request, context: context)
          let content = try await response.content.collect(upTo: context.contentLimit)
          try require(content == Data("hello".utf8), "the content differs")
          return response.content.trailers
        }
        try require(trailers[digest.name], is: "abc", "the trailer X-Digest")
        try require(trailers[.contentType], is: nil, "the trailer Content-Type")
        try require(trailers.count, is: 1, "the number of trailers")
      }
    }
  ]
}

extension TransportConformance {
  /// Checks for content codings (RFC 9110 §8.4), if the transport decodes them.
  static let codingChecks: [Check] = [
    Check("offers gzip, and decodes gzip and deflate", needs: [.contentCodings]) { bench in
      for (coding, bytes) in [("gzip", hello), ("deflate", deflated)] {
        await bench.server.reply(to: "/\(coding)", with: try coded(bytes, coding))
        let response = try await bench.send(ConformanceMessage("GET", "/\(coding)"))
        try require(response.text, is: String(repeating: "hello ", count: 4), "the content")
        try require(response.head.headerFields[.contentEncoding] == nil, "Content-Encoding was not removed")
        let offered = try await bench.server.waitForRequest("/\(coding)").fields[.acceptEncoding] ?? ""
        try require(offered.contains("gzip"), "gzip was not offered")
      }
    },
    Check("ignores Content-Encoding of a response without content", needs: [.contentCodings]) { bench in
      await bench.server.reply(
        to: "/", with: ConformanceReply([.head(status: 304, fields: [.contentEncoding: "gzip"])]))
      try require(try await bench.send(ConformanceMessage("GET", "/")).content.isEmpty, "there is content")
    },
    Check("refuses encoded content that is truncated or malformed", needs: [.strictCodings]) { bench in
      let texts = [hello.prefix(hello.count - 9), hello.prefix(12), Data("no gzip at all".utf8)]
      for (number, bytes) in texts.enumerated() {
        await bench.server.reply(to: "/\(number)", with: try coded(bytes, "gzip"))
        do {
          let error = try await bench.failure(of: ConformanceMessage("GET", "/\(number)"))
          try require([.malformedResponse, .connectionLost].contains(error.code), "the code is \(error.code)")
          try require(error.requestState, is: .responded, "the request's state")
        } catch let failure as ConformanceFailure {
          throw ConformanceFailure("\(failure.text), after \(bytes.count) bytes of gzip")
        }
      }
    },
    Check("fails if decoded content exceeds the limit", needs: [.contentCodings]) { bench in
      await bench.server.reply(to: "/", with: try coded(zeros, "gzip"))
      let client = try bench.client(contentLimit: 1000) { request, context in
        try await bench.transport.send(ConformanceMessage("GET", "/").message(like: request), context: context)
      }
      do {
        _ = try await client.send(Request<Data>.get("/"))
        throw ConformanceFailure("content above the limit was accepted")
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

  /// "hello " four times, coded with gzip.
  private static let hello = bytes("H4sIAAAAAAACA8tIzcnJV8jAIAHWQeLQGAAAAA==")
  /// "hello " four times, coded with deflate (the zlib format).
  private static let deflated = bytes("eJzLSM3JyVfIwCABcNQI0Q==")
  /// 64 KiB of zeros, coded with gzip.
  private static let zeros = bytes(
    "H4sIAAAAAAACA+3BAQEAAACAkP6v7ggKAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
      + "AAAAAAAAAAAAAAAAauuOl9cAAAEA")

  private static func bytes(_ base64: String) -> Data { Data(base64Encoded: base64) ?? Data() }
}

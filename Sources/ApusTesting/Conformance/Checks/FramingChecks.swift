import ApusCore
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension TransportConformance {
  /// Checks for responses that violate RFC 9112 and must be refused.
  static let framingChecks: [Check] = [
    refuses(
      "refuses an invalid status line",
      [
        "HTTP/2 200 OK", "HTTP/1 200 OK", "http/1.1 200 OK", "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 OK",
        "HTTP/1.1  200 OK", " HTTP/1.1 200 OK", "ICY 200 OK", "200 OK", "HTTP/1.1 2x0 OK", "HTTP/1.1 200 O\0K",
      ].map { "\($0)\r\nContent-Length: 2\r\n\r\nok" }),
    refuses(
      "refuses an invalid field line: its name, its colon, folding, NUL or CR in its value",
      [
        "X Y: 1", "X : 1", ": 1", "no colon", "X: 1\r\n folded", "X: a\0b", "X: a\rb", "X: 1\nY: 2",
      ].map { "HTTP/1.1 200 OK\r\n\($0)\r\nContent-Length: 2\r\n\r\nok" }),
    refuses(
      "refuses a conflicting or invalid Content-Length",
      [
        "2\r\nContent-Length: 3", "2, 3", "+2", "-2", "0x2", "2x", "", "2 2", "99999999999999999999",
      ].map { "HTTP/1.1 200 OK\r\nContent-Length: \($0)\r\n\r\nok" }),
    refuses(
      "refuses transfer codings other than a single chunked, and any with Content-Length",
      ["gzip", "chunked, gzip", "chunked, chunked", "xchunked", "chunked\r\nContent-Length: 12", "identity, x"]
        .map { "HTTP/1.1 200 OK\r\nTransfer-Encoding: \($0)\r\n\r\n2\r\nok\r\n0\r\n\r\n" }),
    refuses(
      "refuses a chunk size that is not hexadecimal or too large",
      ["", "x", "-2", "+2", "0x2", "2 2", "ffffffffffffffffff", "8000000000000000"]
        .map { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\($0)\r\nok\r\n0\r\n\r\n" }, isAnswered: true),
    refuses(
      "refuses a chunk that is longer or shorter than its size",
      ["1\r\nok\r\n0\r\n\r\n", "3\r\nok\r\n0\r\n\r\n", "2\r\nok0\r\n\r\n", "2\nok\r\n0\r\n\r\n"]
        .map { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\($0)" }, isAnswered: true),
  ]

  /// Returns a check that the transport refuses each response, and that the next exchange succeeds.
  static func refuses(_ name: String, _ responses: [String], isAnswered: Bool = false) -> Check {
    Check(name, needs: [.strictFraming]) { bench in
      await bench.server.reply(to: "/next", with: .status(200, content: "next"))
      for (number, response) in responses.enumerated() {
        let path = "/\(number)"
        await bench.server.reply(to: path, with: .raw(response))
        do {
          let error = try await bench.failure(of: ConformanceMessage("POST", path))
          try require([.malformedResponse, .connectionLost].contains(error.code), "the code is \(error.code)")
          let states: [RequestState] = isAnswered ? [.responded] : [.maybeSent, .responded]
          try require(states.contains(error.requestState), "the request's state is \(error.requestState)")
          try require(try await bench.send(ConformanceMessage("POST", "/next")).text, is: "next", "the next response")
        } catch let failure as ConformanceFailure {
          throw ConformanceFailure("\(failure.text), after \(response.prefix(200).debugDescription)")
        }
      }
    }
  }
}

extension TransportConformance {
  /// Checks for the limits on heads and trailers: 256 KiB and 1,000 fields.
  static let limitChecks: [Check] = [
    Check("accepts a head of 100 fields and 30 kB") { bench in
      var fields = HTTPFields()
      for number in 0..<100 { fields.append(try field("X-\(number)", String(repeating: "x", count: 300))) }
      await bench.server.reply(to: "/", with: .status(200, fields: fields, content: "ok"))
      let response = try await bench.send(ConformanceMessage("GET", "/"))
      for field in fields { try require(response.head.headerFields[field.name], is: field.value, field.name.rawName) }
      try require(response.text, is: "ok", "the content")
    },
    floods(
      "refuses a head of more than 256 KiB", Array(repeating: "X: " + String(repeating: "x", count: 4000), count: 70)),
    floods("refuses a head with more than 1,000 fields", Array(repeating: "X: x", count: 1100)),
    floods("refuses an endless field", ["X: " + String(repeating: "x", count: 1 << 20)]),
    refuses(
      "refuses endless trailers and chunk extensions",
      [
        "0\r\n" + String(repeating: "X: x\r\n", count: 1100) + "\r\n",
        "2;x=" + String(repeating: "x", count: 1 << 18) + "\r\nok\r\n0\r\n\r\n",
        String(repeating: "1;x=" + String(repeating: "x", count: 500) + "\r\no\r\n", count: 1000) + "0\r\n\r\n",
      ].map { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\($0)" }, isAnswered: true),
  ]

  private static func floods(_ name: String, _ lines: [String]) -> Check {
    refuses(name, ["HTTP/1.1 200 OK\r\n" + lines.joined(separator: "\r\n") + "\r\nContent-Length: 2\r\n\r\nok"])
  }
}

extension TransportConformance {
  /// Checks for truncated responses, which must not be returned as complete.
  static let breakingOffChecks: [Check] = [
    breaksOff(
      "reports maybeSent when the head breaks off at any point",
      ["H", "HTTP/1.1 20", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Le"]
        + ["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", "HTTP/1.1 103 Early Hints\r\n\r\n"], .maybeSent),
    breaksOff(
      "reports responded when the content breaks off at any point",
      ["Content-Length: 3\r\n\r\nok", "Content-Length: 3\r\n\r\n"]
        + [
          "", "2", "2\r\n", "2\r\no", "2\r\nok", "2\r\nok\r\n", "2\r\nok\r\n0", "2\r\nok\r\n0\r\n",
          "2\r\nok\r\n0\r\nX: x\r\n",
        ]
        .map { "Transfer-Encoding: chunked\r\n\r\n\($0)" }, .responded),
    Check("fails the reader of streamed content that breaks off, after the bytes received") { bench in
      await bench.server.reply(
        to:
          "/",
        with: ConformanceReply([.head(status: 200, fields: [.contentLength: "2000"]), .content(sample(1000)), .close]))
      let client = try bench.client { request, context in
        try await bench.transport.send(request, context: context)
      }
      try await client.withResponse(to: Request<Data>.get("/")) { response in
        var count = 0
        do {
          while let piece = try await response.next() { count += piece.count }
          throw ConformanceFailure("the content ended as if it were complete")
        } catch let error as CallError {
          try require(error.code, is: .connectionLost, "the error's code")
          try require(error.requestState, is: .responded, "the request's state")
        }
        try require(count <= 1000, "more was received than sent")
      }
    },
  ]

  private static func breaksOff(_ name: String, _ responses: [String], _ state: RequestState) -> Check {
    Check(name, needs: [.strictFraming]) { bench in
      for (number, response) in responses.enumerated() {
        let path = "/\(number)"
        await bench.server.reply(
          to: path, with: .raw(state == .responded ? "HTTP/1.1 200 OK\r\n\(response)" : response))
        do {
          let error = try await bench.failure(of: ConformanceMessage("POST", path))
          try require(error.code, is: .connectionLost, "the code")
          try require(error.requestState, is: state, "the request's state")
        } catch let failure as ConformanceFailure {
          throw ConformanceFailure("\(failure.text), after \(response.debugDescription)")
        }
      }
    }
  }
}

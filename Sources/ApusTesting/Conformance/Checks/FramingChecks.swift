import ApusCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension TransportConformance {
  /// What breaks RFC 9112, and may not be taken for an answer.
  static let framingChecks: [Check] = [
    refuses(
      "refuses a status line that is none",
      [
        "HTTP/2 200 OK", "HTTP/1 200 OK", "http/1.1 200 OK", "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 OK",
        "HTTP/1.1  200 OK", " HTTP/1.1 200 OK", "ICY 200 OK", "200 OK", "HTTP/1.1 2x0 OK", "HTTP/1.1 200 O\0K",
      ].map { "\($0)\r\nContent-Length: 2\r\n\r\nok" }),
    refuses(
      "refuses a field that breaks the rules: its name, its colon, its folding, NUL or CR in its value",
      [
        "X Y: 1", "X : 1", ": 1", "no colon", "X: 1\r\n folded", "X: a\0b", "X: a\rb", "X: 1\nY: 2",
      ].map { "HTTP/1.1 200 OK\r\n\($0)\r\nContent-Length: 2\r\n\r\nok" }),
    refuses(
      "refuses lengths that conflict, or are no number",
      [
        "2\r\nContent-Length: 3", "2, 3", "+2", "-2", "0x2", "2x", "", "2 2", "99999999999999999999",
      ].map { "HTTP/1.1 200 OK\r\nContent-Length: \($0)\r\n\r\nok" }),
    refuses(
      "refuses transfer codings other than one chunked, and any beside a length",
      ["gzip", "chunked, gzip", "chunked, chunked", "xchunked", "chunked\r\nContent-Length: 12", "identity, x"]
        .map { "HTTP/1.1 200 OK\r\nTransfer-Encoding: \($0)\r\n\r\n2\r\nok\r\n0\r\n\r\n" }),
    refuses(
      "refuses a chunk whose size is no hexadecimal number, or too large a one",
      ["", "x", "-2", "+2", "0x2", "2 2", "ffffffffffffffffff", "8000000000000000"]
        .map { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\($0)\r\nok\r\n0\r\n\r\n" }, isAnswered: true),
    refuses(
      "refuses a chunk that is longer or shorter than its size",
      ["1\r\nok\r\n0\r\n\r\n", "3\r\nok\r\n0\r\n\r\n", "2\r\nok0\r\n\r\n", "2\nok\r\n0\r\n\r\n"]
        .map { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\($0)" }, isAnswered: true),
  ]

  /// None of the answers may be taken; each on a connection of its own, and the next exchange is as ever.
  static func refuses(_ name: String, _ answers: [String], isAnswered: Bool = false) -> Check {
    Check(name, needs: [.strictFraming]) { bench in
      await bench.server.answer("/next", .status(200, content: "next"))
      for (number, answer) in answers.enumerated() {
        let path = "/\(number)"
        await bench.server.answer(path, .raw(answer))
        do {
          let error = try await bench.failure(of: ConformanceMessage("POST", path))
          try require([.malformedResponse, .broken].contains(error.kind), "the kind is \(error.kind)")
          let states: [RequestState] = isAnswered ? [.answered] : [.maybeSent, .answered]
          try require(states.contains(error.requestState), "the request's state is \(error.requestState)")
          try require(try await bench.send(ConformanceMessage("POST", "/next")).text, is: "next", "the next answer")
        } catch let failure as ConformanceFailure {
          throw ConformanceFailure("\(failure.text), after \(answer.prefix(200).debugDescription)")
        }
      }
    }
  }
}

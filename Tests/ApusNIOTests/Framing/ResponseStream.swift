import HTTPTypes

import struct ApusTesting.SeededGenerator

/// All bytes that arrive on a connection after one request: valid responses, almost valid responses, and noise.
struct ResponseStream {
  let seed: UInt64
  let method: HTTPRequest.Method
  var end: Decoded.End
  let bytes: [UInt8]

  init(seed: UInt64) {
    self.seed = seed
    var writer = AnswerWriter(seed: seed)
    let number = Int.random(in: 0..<16, using: &writer.random)
    method = number == 0 ? .connect : number < 3 ? .head : .get
    end = writer.chance(8) ? .unclean : .clean
    bytes = writer.stream()
  }

  /// The offsets at which to split the bytes, the same for each seed.
  var cuts: [Int] {
    var generator = ResponseGenerator(seed: seed ^ 0xC075)
    return generator.cuts(of: bytes)
  }
}

/// Writes responses by the grammar of RFC 9112, sometimes with a broken rule.
///
/// Breaking a rule of the grammar reaches cases that random changes rarely reach; the tests use both.
struct AnswerWriter {
  var random: SeededGenerator
  /// Each rule is broken with a probability of 1 in this number. With 0, no rule is broken.
  private var oddity = 0

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
  }

  mutating func chance(_ sides: Int) -> Bool { Int.random(in: 0..<sides, using: &random) == 0 }

  mutating func stream() -> [UInt8] {
    oddity = [0, 12, 40, 120][Int.random(in: 0..<4, using: &random)]
    var bytes = chance(3000) ? flood() : []
    bytes += answer()
    if chance(24) { bytes += answer() }
    guard oddity == 0 || chance(3), !chance(4) else { return bytes }
    if chance(6) {
      let other = answer()
      let cut = Int.random(in: 0...bytes.count, using: &random)
      bytes = Array(bytes[..<cut]) + other[Int.random(in: 0...other.count, using: &random)...]
    }
    if chance(8) { bytes.removeLast(Int.random(in: 0...bytes.count, using: &random)) }
    var generator = ResponseGenerator(seed: random.next())
    return chance(2) ? generator.mutated(bytes) : bytes
  }

  /// Returns bytes whose number is close to a limit or beyond the limit.
  private mutating func flood() -> [UInt8] {
    if chance(2) {
      let one = Array("HTTP/1.1 102 Processing\r\n\r\n".utf8)
      return Array(repeatElement(one, count: pick([60, 64, 65, 70])).joined())
    }
    let fields = Array(repeatElement(Array("x:y\r\n".utf8), count: pick([99, 100, 101, 998, 1001, 1100])).joined())
    return Array("HTTP/1.1 \(pick(["200 OK", "103 Hints"]))\r\nContent-Length: 0\r\n".utf8) + fields
      + Array("\r\n".utf8)
  }

  private mutating func answer() -> [UInt8] {
    var bytes: [UInt8] = []
    while chance(8) {
      write(&bytes, statusLine(isInterim: true))
      writeFields(&bytes)
      if odd() { write(&bytes, pick(["Content-Length: 3", "Transfer-Encoding: chunked", "Content-Length: x"])) }
      end(&bytes)
    }
    write(&bytes, statusLine(isInterim: false))
    writeFields(&bytes)
    let content = (0..<Int.random(in: 0...24, using: &random)).map { _ in pick(Array("ab\r\n0\0\u{7F}5;".utf8)) }
    var framings = [pick([0, 1, 1, 2])]
    if odd() { framings.append(pick([0, 1, 2])) }
    for framing in framings {
      if framing == 0 { writeLength(&bytes, content.count) }
      if framing == 1 { writeCoding(&bytes) }
      if odd() { writeFields(&bytes) }
    }
    end(&bytes)
    return bytes + (framings.contains(1) ? chunks(of: content) : content)
  }
}

// MARK: Heads

extension AnswerWriter {
  private mutating func odd() -> Bool { oddity > 0 && chance(oddity) }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: 0..<elements.count, using: &random)]
  }

  private mutating func write(_ bytes: inout [UInt8], _ line: String) {
    bytes += Array(line.utf8)
    end(&bytes)
  }

  private mutating func end(_ bytes: inout [UInt8]) {
    bytes += Array(
      (odd() ? pick(["\n", "\r", "\r\r\n", "\n\r", "", "\r\n\r\n", " \r\n", "\0\r\n", " \n"]) : "\r\n").utf8)
  }

  private mutating func statusLine(isInterim: Bool) -> String {
    let version =
      odd()
      ? pick(["HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "http/1.1", "HTTP/1.10", "HTTP/1", "ICY", ""])
      : "HTTP/1.1"
    var status =
      isInterim
      ? pick(["100", "102", "103", "199"]) : pick(["200", "200", "201", "204", "206", "304", "404", "500"])
    if odd() { status = pick(["101", "000", "099", "600", "999", "1000", "20", "2x0", "+20", "", "٢٠٠"]) }
    let space = odd() ? pick(["", "  ", "\t", "\r", "\u{B}"]) : " "
    let reason =
      odd() ? pick(["", " ", "\t", " é", " \u{1}", " a\rb", " a\0b", "OK"]) : pick([" OK", " Not Found", " "])
    let version10 = chance(12) && oddity == 0 ? "HTTP/1.0" : version
    return version10 + space + status + reason
  }

  private mutating func writeFields(_ bytes: inout [UInt8]) {
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      if odd() { bytes += Array(pick([" folded", "\tfolded", " ", "x", "", "\u{B}", "\r", "\n"]).utf8) }
      var name = pick([
        "Date", "Server", "etag", "X-A", "!#$%&'*+-.^_`|~9", "Set-Cookie", "Content-Encoding", "Via", "Vary", "From",
      ])
      if odd() { name = pick(["", "a b", "na\u{e9}me", "X\t", "X\0", "(x)", "x\r", ":", "X ", "\"x\""]) }
      let colon = odd() ? pick([" :", "", "\t:", "::", ";", "\r:"]) : ":"
      var value = pick([
        "", "a", "gzip", "a, b", "\"x\"", "W/\"1\"", "é", "a  b", "1.1 x", "Tue, 15 Nov 1994 08:12:31 GMT",
      ])
      if odd() {
        value = pick(["a\0b", "a\rb", "a\nb", "a\r\n b", "\u{1}", "a\u{7F}", "a\r\n\tb", "\u{B}", "a\u{C}b", "\r"])
      }
      bytes += Array((name + colon + pick(["", " ", " ", "\t", "  "]) + value + pick(["", "", " ", "\t "])).utf8)
      if chance(16) { bytes += [UInt8.random(in: 0x80...0xFF, using: &random)] }
      end(&bytes)
    }
    if chance(6) {
      write(
        &bytes,
        pick(["Connection: ", "connection:"])
          + pick([
            "close", "keep-alive", "Close", "x, close", "keep-alive,close", "", ",", "closed", "\"close\"",
            "TE , keep-alive",
          ]))
    }
  }

  private mutating func writeLength(_ bytes: inout [UInt8], _ count: Int) {
    let name = chance(4) ? pick(["content-length", "CONTENT-LENGTH", "Content-length"]) : "Content-Length"
    var value = "\(count)"
    if odd() || chance(40) {
      value = pick([
        "+\(count)", "-\(count)", " ", "", "0x\(count)", "\(count) \(count)", "\(count), \(count)",
        "\(count),\(count + 1)",
        "0\(count)", "\(count).0", "\(count),", ",\(count)", "9223372036854775807", "9223372036854775808",
        "18446744073709551616", "1\(String(repeating: "0", count: 40))", "\(count + 1)", "\(max(0, count - 1))",
        "\(count)\u{B}",
        "00000000000000000000000\(count)", "\(count)a", "\"\(count)\"", "٣", "1_0",
      ])
    }
    write(&bytes, "\(name):\(pick([" ", "", "\t"]))\(value)")
    if odd() { write(&bytes, "\(name): \(pick(["\(count)", "\(count + 1)", "0", value]))") }
  }

  private mutating func writeCoding(_ bytes: inout [UInt8]) {
    let name = chance(4) ? pick(["transfer-encoding", "TRANSFER-ENCODING"]) : "Transfer-Encoding"
    var value = pick(["chunked", "chunked", "chunked", "Chunked", "CHUNKED"])
    if odd() || chance(40) {
      value = pick([
        "gzip, chunked", "chunked, gzip", "chunked, chunked", "identity", "chunked,", ", chunked", "", ",",
        "\"chunked\"",
        "chunked;q=1", "xchunked", "chunked ", "gzip", "gzip;a=b, chunked", "chun ked", "chunked\u{B}",
        "\u{B}chunked",
        "identity, chunked", "x;y, chunked", "chunked\0", "chunkedx",
      ])
    }
    write(&bytes, "\(name): \(value)\(pick(["", "", " "]))")
    if odd() { write(&bytes, "\(name): \(pick(["chunked", "gzip", "", "identity"]))") }
  }
}

// MARK: Chunks

extension AnswerWriter {
  private mutating func chunks(of content: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = content[...]
    while !rest.isEmpty {
      let chunk = rest.prefix(Int.random(in: 1...16, using: &random))
      rest = rest.dropFirst(chunk.count)
      writeChunkLine(&bytes, chunk.count)
      bytes += chunk
      end(&bytes)
    }
    if !odd() { writeChunkLine(&bytes, 0) }
    if chance(4) {
      writeFields(&bytes)
      if chance(4) {
        write(
          &bytes,
          pick(["Content-Length: 5", "Host: x", "Content-Length: x", "Transfer-Encoding: gzip", "Trailer: a"]))
      }
    }
    end(&bytes)
    return bytes
  }

  private mutating func writeChunkLine(_ bytes: inout [UInt8], _ count: Int) {
    var size = String(count, radix: 16, uppercase: chance(2))
    if chance(8) { size = pick(["0", "00", "0000000", "00000000000000", "0000000000000000000"]) + size }
    if odd() {
      size = pick([
        "", "0x\(size)", "-\(size)", "+\(size)", " \(size)", "\(size) ", "\(size)h", "g", "\(count + 1)",
        "8000000000000000",
        "10000000000000000", "ffffffffffffffff", "FFFFFFFFFFFFFFFFF", "7fffffffffffffff", "\(size)\0", "\(size)_0",
        "\(size).0", "٣",
      ])
    }
    var line = size
    if chance(5) {
      line += pick([
        ";a", ";a=b", " ; a = b", ";a=\"b\"", ";a=\"b\\\"c;d\"", "\t;\ta", ";a;b;c=d", ";a=\"é\t \"", ";a=\"\\é\"",
        ";x=" + String(repeating: "y", count: 30),
      ])
    }
    if odd() {
      line += pick([
        ";", ";;", ";=", ";a=", ";a=\"", ";a=\"b", ";a=\"b\"c", "; a b", ";a=b=c", ";a\0", ";a=\"\u{1}\"",
        ";a=\"\\\u{7F}\"", ";a=é",
        ";a=\"b\n\"", ";a\r", " ", ";a ", ";a=b ", "=a", ";\"a\"",
      ])
    }
    if chance(600) { line += ";" + String(repeating: "z", count: pick([4000, 4100, 9000])) }
    write(&bytes, line)
  }
}

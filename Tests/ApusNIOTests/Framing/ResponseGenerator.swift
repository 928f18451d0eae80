import struct ApusTesting.SeededGenerator

/// Generates valid responses, and alters their bytes.
struct ResponseGenerator {
  var random: SeededGenerator

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
  }

  /// Returns a valid response, perhaps after interim responses, and its content.
  mutating func valid() -> (bytes: [UInt8], content: [UInt8]) {
    var bytes: [UInt8] = []
    for _ in 0..<Int.random(in: 0...2, using: &random) where chance(4) {
      bytes += Array("HTTP/1.1 10\(chance(2) ? 0 : 3) Hints\r\n\(fields())\r\n".utf8)
    }
    bytes += Array("HTTP/1.1 \(pick(["200 OK", "404 Not Found", "500 ", "299"]))\r\n\(fields())".utf8)
    let content = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
    if chance(2) {
      bytes += Array("Content-Length: \(content.count)\r\n\r\n".utf8) + content
    } else {
      bytes += Array("Transfer-Encoding: chunked\r\n\r\n".utf8) + chunks(of: content)
    }
    return (bytes, content)
  }

  /// Returns the bytes with a few bytes changed, removed, repeated or inserted, preferably delimiters.
  mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
      let index = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<6, using: &random) {
      case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes.remove(at: index)
      case 2: bytes.insert(pick(Array("\r\n :;,0\t\0x5fF\"=".utf8)), at: index)
      case 3: bytes.removeSubrange(index..<min(bytes.count, index + 7))
      case 4:
        let text = pick([
          "Content-Length: 3\r\n", "Transfer-Encoding: chunked\r\n", "\r\n\r\n", "HTTP/1.1 200 OK\r\n", "0\r\n\r\n",
          "Connection: close\r\n", "ffffffffffffffff\r\n", ";x=\"\r\n",
        ])
        bytes.insert(contentsOf: Array(text.utf8), at: index)
      default: bytes.insert(contentsOf: bytes[index..<min(bytes.count, index + 9)], at: index)
      }
    }
    return bytes
  }

  /// Returns random offsets at which to split the bytes.
  mutating func cuts(of bytes: [UInt8]) -> [Int] {
    (0..<Int.random(in: 1...6, using: &random)).map { _ in Int.random(in: 0...bytes.count, using: &random) }.sorted()
  }

  mutating func chance(_ sides: Int) -> Bool { Int.random(in: 0..<sides, using: &random) == 0 }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: 0..<elements.count, using: &random)]
  }

  private mutating func fields() -> String {
    (0..<Int.random(in: 0...4, using: &random)).map { _ in
      pick([
        "Date: Tue, 15 Nov 1994 08:12:31 GMT\r\n", "x-a:b\r\n", "ETag:\t\"x\" \r\n", "Set-Cookie: a=b; Path=/\r\n",
        "X:\r\n",
        "connection: keep-alive\r\n", "X-Very-Long-Name-That-Nobody-Knows: and, a value\r\n", "via: 1.1 é\r\n",
      ])
    }.joined()
  }

  private mutating func chunks(of content: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = content[...]
    while !rest.isEmpty {
      let chunk = rest.prefix(Int.random(in: 1...20, using: &random))
      rest = rest.dropFirst(chunk.count)
      let size = String(chunk.count, radix: 16, uppercase: chance(2))
      bytes += Array("\(pick(["", "0", "000"]))\(size)\(pick(["", ";a", " ; a = \"b\\\"\""]))\r\n".utf8) + chunk
      bytes += Array("\r\n".utf8)
    }
    return bytes + Array("0\r\n\(chance(3) ? fields().replacing("connection", with: "x-conn") : "")\r\n".utf8)
  }
}

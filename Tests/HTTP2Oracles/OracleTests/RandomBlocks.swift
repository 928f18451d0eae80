import ApusTesting
import NIOCore

@testable import ApusNIO

/// A source of field blocks of one connection, many of which break a rule of RFC 7541.
struct RandomBlocks {
  private var requests: RandomRequests
  private var encoder = FieldEncoder()

  init(seed: UInt64, _ bytes: ValueBytes) {
    requests = RandomRequests(seed: seed, bytes)
  }

  mutating func next() throws -> [UInt8] {
    switch requests.random.number(0...9) {
    case 0, 1: return try request()
    case 2, 3: return altered(try request())
    case 4: return requests.random.bytes(requests.random.number(0...40))
    default: return block()
    }
  }

  private mutating func request() throws -> [UInt8] {
    let request = requests.next()
    var buffer = ByteBuffer()
    try encoder.encode(request.head, adding: request.adding, framing: request.framing, into: &buffer)
    return Array(buffer.readableBytesView)
  }

  private mutating func altered(_ block: [UInt8]) -> [UInt8] {
    var block = block
    for _ in 0..<requests.random.number(1...3) {
      let index = requests.random.number(0...block.count - 1)
      switch requests.random.number(0...3) {
      case 0: block[index] = UInt8(requests.random.number(0...255))
      case 1: block[index] ^= 1 << UInt8(requests.random.number(0...7))
      case 2 where block.count > 1: block.remove(at: index)
      default: block.insert(UInt8(requests.random.number(0...255)), at: index)
      }
    }
    return block
  }
}

// MARK: Grammar

extension RandomBlocks {
  /// Returns a block of representations (RFC 7541 §6). Each is valid with a high probability.
  private mutating func block() -> [UInt8] {
    var bytes: [UInt8] = []
    if requests.random.isOne(in: 3) {
      for _ in 0..<requests.random.number(1...3) { bytes += tableSize() }
    }
    for _ in 0..<requests.random.number(0...6) {
      switch requests.random.number(0...19) {
      case 0...7: bytes += integer(index(from: 1), prefix: 7, pattern: 0x80)
      case 8...12: bytes += literal(prefix: 6, pattern: 0x40)
      case 13...15: bytes += literal(prefix: 4, pattern: 0)
      case 16...18: bytes += literal(prefix: 4, pattern: 0x10)
      default: bytes += tableSize()
      }
    }
    return bytes
  }

  private mutating func tableSize() -> [UInt8] {
    let size = requests.random.pick([0, 30, 31, 64, 100, 4096, requests.random.number(0...4100)])
    return integer(size, prefix: 5, pattern: 0x20)
  }

  private mutating func index(from first: Int) -> Int {
    requests.random.isOne(in: 30) ? requests.random.number(0...140) : requests.random.number(first...64)
  }

  private mutating func literal(prefix: Int, pattern: UInt8) -> [UInt8] {
    let name = requests.random.isOne(in: 2) ? index(from: 1) : 0
    let start = integer(name, prefix: prefix, pattern: pattern)
    return start + (name == 0 ? string(isName: true) : []) + string(isName: false)
  }

  /// Returns an integer. A few have more continuation bytes than necessary, or an immense value.
  private mutating func integer(_ value: Int, prefix: Int, pattern: UInt8) -> [UInt8] {
    let mask = 1 << prefix - 1
    guard value >= mask else { return [pattern | UInt8(value)] }
    var bytes = [pattern | UInt8(mask)]
    var rest = value - mask
    if requests.random.isOne(in: 60) { rest += 1 << requests.random.pick([16, 31, 40]) }
    let zeros = requests.random.isOne(in: 15) ? requests.random.number(1...8) : 0
    while rest >= 0x80 {
      bytes.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    guard zeros > 0 else { return bytes + [UInt8(rest)] }
    return bytes + [UInt8(rest) | 0x80] + [UInt8](repeating: 0x80, count: zeros - 1) + [0]
  }

  private mutating func string(isName: Bool) -> [UInt8] {
    var text: [UInt8]
    if isName {
      let name = requests.random.pick([
        "x-a", "date", "te", "connection", "X-Upper", "", "a b", ":status", ":path", "content-length",
      ])
      // Empty and malformed names are rare, because they end the comparison of a connection.
      text = Array((name.isEmpty && !requests.random.isOne(in: 4) ? "x-b" : name).utf8)
    } else {
      text = requests.random.bytes(
        requests.random.pick([0, 1, 3, 10, 127, 200]), in: requests.random.isOne(in: 20) ? 0...127 : 0x20...0x7E)
    }
    let isCoded = requests.random.isOne(in: 2)
    if isCoded { text = coded(text) }
    return integer(text.count, prefix: 7, pattern: isCoded ? 0x80 : 0) + text
  }

  /// Returns Huffman-coded text. A few have wrong padding or a symbol that does not exist.
  private mutating func coded(_ text: [UInt8]) -> [UInt8] {
    var coded = text.withUnsafeBytes { text in
      var coded = [UInt8](repeating: 0, count: Huffman.shared.encodedCount(text))
      coded.withUnsafeMutableBytes { Huffman.shared.encode(text, into: $0) }
      return coded
    }
    guard requests.random.isOne(in: 15) else { return coded }
    switch requests.random.number(0...3) {
    case 0: coded.append(0xFF)
    case 1: coded += [0xFF, 0xFF, 0xFF, 0xFC]
    case 2 where !coded.isEmpty: coded[coded.count - 1] &= 0xFE
    default: coded += requests.random.bytes(1)
    }
    return coded
  }
}

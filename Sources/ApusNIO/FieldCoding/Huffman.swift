/// The Huffman code of strings in field blocks (RFC 7541 §5.2, Appendix B).
///
/// The code is canonical: codes of one length are consecutive numbers in the order of their symbols. So the lengths of
/// the codes define the code, and the tables are made from them.
final class Huffman: Sendable {
  static let shared = Huffman()

  /// The result of decoding the next ten bits: up to two symbols.
  private struct Step: Sendable {
    /// Bits 0–7: the first symbol. 8–15: the second. 16–19: the bits of all symbols. 20–23: the bits of the first
    /// symbol. 24–25: the number of symbols, 0 if the code is longer than ten bits.
    let bits: UInt32

    @inline(__always) var first: UInt8 { UInt8(truncatingIfNeeded: bits) }
    @inline(__always) var second: UInt8 { UInt8(truncatingIfNeeded: bits >> 8) }
    @inline(__always) var length: UInt64 { UInt64(bits >> 16 & 0xF) }
    @inline(__always) var firstLength: UInt64 { UInt64(bits >> 20 & 0xF) }
    @inline(__always) var count: Int { Int(bits >> 24) }
  }

  /// The codes of one length, in a word of 32 bits that begins with the code.
  private struct Group: Sendable {
    /// The smallest word beyond the codes of this length.
    let limit: UInt64
    let firstCode: UInt32
    /// The position of the first symbol in ``symbols``.
    let firstSymbol: Int
  }

  private static let stepBits: UInt64 = 10
  private static let longest: UInt64 = 30
  private static let endOfString = 256

  private let steps: [Step]
  /// The codes by symbol: the code in the upper 56 bits, its length in the lower eight.
  private let codes: [UInt64]
  /// The codes by length.
  private let groups: [Group]
  /// The symbols in the order of their codes.
  private let symbols: [Int]

  private init() {
    let symbols = Self.lengths.indices.sorted { (Self.lengths[$0], $0) < (Self.lengths[$1], $1) }
    var (codes, groups) = ([UInt64](repeating: 0, count: Self.lengths.count), [Group]())
    var (code, position) = (UInt64(0), 0)
    for length in 0...Self.longest {
      let first = (code: UInt32(truncatingIfNeeded: code), position: position)
      while position < symbols.count, Self.lengths[symbols[position]] == length {
        codes[symbols[position]] = code << 8 | length
        code += 1
        position += 1
      }
      groups.append(Group(limit: code << (32 - length), firstCode: first.code, firstSymbol: first.position))
      code <<= 1
    }
    (self.symbols, self.codes, self.groups) = (symbols, codes, groups)
    steps = Self.steps(codes)
  }

  private static func steps(_ codes: [UInt64]) -> [Step] {
    // The symbol of each code of at most ten bits, at all ten-bit numbers that begin with the code.
    var firsts = [(symbol: UInt32, length: UInt32)?](repeating: nil, count: 1 << Int(stepBits))
    for (symbol, code) in codes.enumerated() where code & 0xFF <= stepBits {
      let rest = stepBits - code & 0xFF
      for bits in (code >> 8) << rest..<(code >> 8 + 1) << rest {
        firsts[Int(bits)] = (UInt32(symbol), UInt32(code & 0xFF))
      }
    }
    return firsts.indices.map { bits in
      guard let first = firsts[bits] else { return Step(bits: 0) }
      let one = first.length << 20 | first.symbol
      let rest = bits << Int(first.length) & (firsts.count - 1)
      guard let second = firsts[rest], first.length + second.length <= stepBits else {
        return Step(bits: 1 << 24 | first.length << 16 | one)
      }
      return Step(bits: 2 << 24 | (first.length + second.length) << 16 | second.symbol << 8 | one)
    }
  }
}

// MARK: Decoding

extension Huffman {
  /// Returns the size of the memory that decoding needs for a number of bytes: the shortest code has five bits, and a
  /// step writes two symbols.
  static func decodedLimit(_ count: Int) -> Int { count / 5 * 8 + 10 }

  /// Decodes text and returns its number of bytes.
  ///
  /// - Parameter output: memory of at least ``decodedLimit(_:)`` bytes.
  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(CompressionFault) -> Int {
    guard output.count >= Self.decodedLimit(input.count) else { throw .truncated }
    return try steps.withUnsafeBufferPointer { steps throws(CompressionFault) in
      try decode(input, into: output, steps)
    }
  }

  private func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, _ steps: UnsafeBufferPointer<Step>
  ) throws(CompressionFault) -> Int {
    // `window` begins with the `available` next bits; zeros follow.
    var (window, available, position, count) = (UInt64(0), UInt64(0), 0, 0)
    while true {
      if available < Self.longest {
        if position &+ 4 <= input.count {
          let word = UInt32(bigEndian: input.loadUnaligned(fromByteOffset: position, as: UInt32.self))
          window |= UInt64(word) &<< (32 &- available)
          (available, position) = (available &+ 32, position &+ 4)
        } else {
          while position < input.count, available <= 56 {
            window |= UInt64(input[position]) &<< (56 &- available)
            (available, position) = (available &+ 8, position &+ 1)
          }
        }
      }
      let step = steps[Int(window &>> (64 &- Self.stepBits))]
      var length = step.length
      if step.count > 0 {
        output[count] = step.first
        output[count &+ 1] = step.second
        if length <= available {
          count &+= step.count
        } else {
          // The second symbol, or both, are made of zeros beyond the end.
          length = step.firstLength
          guard length <= available else { break }
          count &+= 1
        }
      } else {
        let symbol: Int
        (symbol, length) = longCode(window)
        guard length <= available else { break }
        guard symbol != Self.endOfString else { throw .endOfStringSymbol }
        output[count] = UInt8(truncatingIfNeeded: symbol)
        count &+= 1
      }
      window = window &<< length
      available &-= length
    }
    guard available < 8 else { throw .longPadding }
    guard window >> (64 - available) == 1 << available - 1 else { throw .wrongPadding }
    return count
  }

  /// Returns the symbol and the length of a code of more than ten bits.
  private func longCode(_ window: UInt64) -> (symbol: Int, length: UInt64) {
    let word = window >> 32
    var length = Int(Self.stepBits) + 1
    while length < groups.count - 1, word >= groups[length].limit { length += 1 }
    let group = groups[length]
    let code = UInt32(truncatingIfNeeded: word >> UInt64(32 - length))
    return (symbols[group.firstSymbol + Int(code &- group.firstCode)], UInt64(length))
  }
}

// MARK: Encoding

extension Huffman {
  /// Returns the number of bytes that text has when it is encoded.
  func encodedCount(_ text: UnsafeRawBufferPointer) -> Int {
    let bits = codes.withUnsafeBufferPointer { codes in
      var bits: UInt64 = 0
      for byte in text { bits &+= codes[Int(byte)] & 0xFF }
      return bits
    }
    return Int((bits + 7) / 8)
  }

  /// Encodes text.
  ///
  /// - Parameter output: memory of exactly ``encodedCount(_:)`` bytes.
  func encode(_ text: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) {
    codes.withUnsafeBufferPointer { codes in
      var (window, pending, position) = (UInt64(0), UInt64(0), 0)
      for byte in text {
        let code = codes[Int(byte)]
        window = window &<< (code & 0xFF) | code &>> 8
        pending &+= code & 0xFF
        guard pending >= 32 else { continue }
        pending &-= 32
        guard position &+ 4 <= output.count else { return }
        output.storeBytes(
          of: UInt32(truncatingIfNeeded: window &>> pending).bigEndian, toByteOffset: position, as: UInt32.self)
        position &+= 4
      }
      // The last byte is filled with ones.
      let padding = (8 - pending % 8) % 8
      window = window << padding | (1 << padding - 1)
      pending &+= padding
      while pending > 0, position < output.count {
        pending &-= 8
        output[position] = UInt8(truncatingIfNeeded: window >> pending)
        position += 1
      }
    }
  }

  /// The lengths of the codes of all bytes and of the end of the string (RFC 7541, Appendix B).
  private static let lengths: [UInt8] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
    28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12,
    10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6,
    5,
    6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22,
    23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22,
    22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26,
    26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27,
    27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27,
    27, 27, 27, 27, 26, 30,
  ]
}

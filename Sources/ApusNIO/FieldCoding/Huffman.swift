/// The Huffman code of strings in field blocks (RFC 7541 §5.2, Appendix B).
///
/// The code is canonical: codes of the same length are consecutive numbers in the order of their symbols. The code
/// lengths therefore define the code, and the tables are computed from the lengths.
final class Huffman: Sendable {
  static let shared = Huffman()

  /// The result of decoding ten bits: up to two symbols.
  private struct Step: Sendable {
    /// Bits 0–7: the first symbol. Bits 8–15: the second symbol. Bits 16–19: the total code length of the symbols.
    /// Bits 20–23: the code length of the first symbol. Bits 24–25: the number of symbols, or 0 if the code is longer
    /// than ten bits.
    let bits: UInt32

    @inline(__always) var first: UInt8 { UInt8(truncatingIfNeeded: bits) }
    @inline(__always) var second: UInt8 { UInt8(truncatingIfNeeded: bits >> 8) }
    @inline(__always) var length: UInt64 { UInt64(bits >> 16 & 0xF) }
    @inline(__always) var firstLength: UInt64 { UInt64(bits >> 20 & 0xF) }
    @inline(__always) var count: Int { Int(bits >> 24) }
  }

  /// The codes of the same length, left-aligned in words of 32 bits.
  private struct Group: Sendable {
    /// The smallest word above all codes of this length.
    let limit: UInt64
    let firstCode: UInt32
    /// The position of the first symbol in ``symbols``.
    let firstSymbol: Int
  }

  private static let stepBits: UInt64 = 10
  private static let longest: UInt64 = 30
  private static let endOfString = 256

  private let steps: [Step]
  /// The codes by symbol. The upper 56 bits contain the code, the lower eight bits its length.
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
    // Stores the symbol of each code of at most ten bits at all ten-bit numbers that begin with the code.
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
  /// Returns the number of output bytes to allocate for decoding `count` bytes. The shortest code has five bits, and
  /// each step writes two symbols.
  static func decodedLimit(_ count: Int) -> Int { count / 5 * 8 + 10 }

  /// Decodes a string and returns the number of decoded bytes.
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
    // The upper `available` bits of `window` are the next bits of the input. The other bits are zero.
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
          // The code of the second symbol, or of both symbols, includes zeros beyond the end of the input.
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

  /// Returns the symbol and the length of a code that is longer than ten bits.
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
  /// Returns the number of bytes of a Huffman-coded string.
  func encodedCount(_ text: UnsafeRawBufferPointer) -> Int {
    let bits = codes.withUnsafeBufferPointer { codes in
      var bits: UInt64 = 0
      for byte in text { bits &+= codes[Int(byte)] & 0xFF }
      return bits
    }
    return Int((bits + 7) / 8)
  }

  /// Encodes a string.
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
      // Pads the last byte with one bits.
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

  /// The code lengths of all bytes and of the EOS symbol (RFC 7541, Appendix B).
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

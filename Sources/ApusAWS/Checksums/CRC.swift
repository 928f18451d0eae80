import CApusCRC

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A cyclic redundancy check with reflected bits, whose register is inverted at the beginning and at the end, as in
/// CRC-32, CRC-32C and CRC-64/NVME.
struct CRC<Register: FixedWidthInteger & UnsignedInteger & Sendable>: Sendable {
  private let table: CRCTable<Register>
  private var register = ~Register(0)

  init(_ table: CRCTable<Register>) {
    self.table = table
  }

  /// The check of the bytes so far.
  var value: Register { ~register }

  mutating func update(_ data: Data) {
    register = data.withUnsafeBytes { table.update(register, with: $0) }
  }
}

/// The tables of a check that processes sixteen bytes at a time: entry `256 × n + b` is the check of the byte `b` and
/// `n` zero bytes.
///
/// If the processor supports carry-less multiplication, long input is first reduced to sixteen bytes with it. This is
/// six times as fast as the tables alone.
struct CRCTable<Register: FixedWidthInteger & UnsignedInteger & Sendable>: Sendable {
  private static var slices: Int { 16 }

  private let entries: [Register]
  /// The factors of carry-less multiplication; `nil` if the processor does not support it.
  private let factors: apus_crc_factors?

  /// - Parameters:
  ///   - polynomial: the polynomial, reflected.
  ///   - canFold: whether carry-less multiplication is used. Default: whether the processor supports it.
  init(polynomial: Register, canFold: Bool = apus_crc_can_fold() != 0) {
    var entries = [Register](repeating: 0, count: 256 * Self.slices)
    for byte in 0..<256 {
      var check = Register(byte)
      for _ in 0..<8 { check = Self.timesX(check, polynomial) }
      entries[byte] = check
    }
    for index in 256..<entries.count {
      let shorter = entries[index - 256]
      entries[index] = shorter >> 8 ^ entries[Int(shorter & 255)]
    }
    self.entries = entries
    factors =
      canFold
      ? apus_crc_factors(
        far: Self.factors(over: 8 * Self.block, polynomial), near: Self.factors(over: 8 * Self.slices, polynomial))
      : nil
  }

  /// Returns the factors that move a remainder by a number of bits.
  private static func factors(over distance: Int, _ polynomial: Register) -> (UInt64, UInt64) {
    (power(distance + 63, polynomial), power(distance - 1, polynomial))
  }

  /// Returns a power of x modulo the polynomial, reflected in a word.
  private static func power(_ exponent: Int, _ polynomial: Register) -> UInt64 {
    var power = Register(1) << (Register.bitWidth - 1)
    for _ in 0..<exponent { power = timesX(power, polynomial) }
    return UInt64(power) << (64 - Register.bitWidth)
  }

  /// Returns a remainder times x, modulo the polynomial; both are reflected.
  private static func timesX(_ remainder: Register, _ polynomial: Register) -> Register {
    remainder & 1 == 1 ? remainder >> 1 ^ polynomial : remainder >> 1
  }

  private static var block: Int { Int(APUS_CRC_BLOCK) }

  func update(_ register: Register, with bytes: UnsafeRawBufferPointer) -> Register {
    let blocks = bytes.count / Self.block
    guard blocks > 0, var factors else { return updateByTables(register, with: bytes) }
    let check = withUnsafeTemporaryAllocation(byteCount: Self.slices, alignment: 16) { rest in
      apus_crc_fold(bytes.baseAddress, blocks, UInt64(register), &factors, rest.baseAddress)
      return updateByTables(0, with: UnsafeRawBufferPointer(rest))
    }
    return updateByTables(check, with: UnsafeRawBufferPointer(rebasing: bytes[(blocks * Self.block)...]))
  }

  // Specialized for both sizes of the register, because this generic function reads every byte.
  @_specialize(where Register == UInt32)
  @_specialize(where Register == UInt64)
  private func updateByTables(_ register: Register, with bytes: UnsafeRawBufferPointer) -> Register {
    entries.withUnsafeBufferPointer { table in
      var check = register
      var index = 0
      while bytes.count - index >= Self.slices {
        let low = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) ^ UInt64(check)
        let high = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index + 8, as: UInt64.self))
        check = Self.eight(low, before: 8, table) ^ Self.eight(high, before: 0, table)
        index += Self.slices
      }
      while index < bytes.count {
        check = check >> 8 ^ table[Int(UInt8(truncatingIfNeeded: check) ^ bytes[index])]
        index += 1
      }
      return check
    }
  }

  /// Returns the check of eight bytes that are followed by `rest` zero bytes.
  @inline(__always)
  private static func eight(
    _ word: UInt64, before rest: Int, _ table: UnsafeBufferPointer<Register>
  ) -> Register {
    let last = (rest + 7) << 8
    return table[last + Int(word & 255)] ^ table[last - 256 + Int(word >> 8 & 255)]
      ^ table[last - 512 + Int(word >> 16 & 255)] ^ table[last - 768 + Int(word >> 24 & 255)]
      ^ table[last - 1024 + Int(word >> 32 & 255)] ^ table[last - 1280 + Int(word >> 40 & 255)]
      ^ table[last - 1536 + Int(word >> 48 & 255)] ^ table[last - 1792 + Int(word >> 56)]
  }
}

extension CRCTable where Register == UInt32 {
  /// CRC-32 (ISO-HDLC).
  static let crc32 = CRCTable(polynomial: 0xEDB8_8320)
  /// CRC-32C (Castagnoli).
  static let crc32c = CRCTable(polynomial: 0x82F6_3B78)
}

extension CRCTable where Register == UInt64 {
  /// CRC-64/NVME.
  static let crc64nvme = CRCTable(polynomial: 0x9A6C_9329_AC4B_C9B5)
}

#if AWS
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A cyclic redundancy check whose bits are reflected and whose register begins and ends inverted, as CRC-32, CRC-32C and
/// CRC-64/NVME are.
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

/// The tables of a check for sixteen bytes at once: entry `256 × n + b` is the check of the byte `b` and `n` zero bytes.
struct CRCTable<Register: FixedWidthInteger & UnsignedInteger & Sendable>: Sendable {
  private static var slices: Int { 16 }

  private let entries: [Register]

  /// - Parameter polynomial: the polynomial, reflected.
  init(polynomial: Register) {
    var entries = [Register](repeating: 0, count: 256 * Self.slices)
    for byte in 0..<256 {
      var check = Register(byte)
      for _ in 0..<8 { check = check & 1 == 1 ? check >> 1 ^ polynomial : check >> 1 }
      entries[byte] = check
    }
    for index in 256..<entries.count {
      let shorter = entries[index - 256]
      entries[index] = shorter >> 8 ^ entries[Int(shorter & 255)]
    }
    self.entries = entries
  }

  // Specialized for both sizes of register, because it is generic and reads every byte.
  @_specialize(where Register == UInt32)
  @_specialize(where Register == UInt64)
  func update(_ register: Register, with bytes: UnsafeRawBufferPointer) -> Register {
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

  /// The check of eight bytes that are followed by `rest` zero bytes.
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
#endif

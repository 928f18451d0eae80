#if AWS && Transfers
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// CRC-64/NVME, eight bytes at a time.
struct CRC64NVME: Sendable {
  private var register = ~UInt64(0)

  var value: UInt64 { ~register }

  mutating func update(_ data: Data) {
    var crc = register
    let tables = Self.tables
    data.withUnsafeBytes { bytes in
      tables.withUnsafeBufferPointer { table in
        var index = 0
        while index + 8 <= bytes.count {
          crc ^= UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
          crc =
            table[Int(crc & 255) + 1792] ^ table[Int(crc >> 8 & 255) + 1536] ^ table[Int(crc >> 16 & 255) + 1280]
            ^ table[Int(crc >> 24 & 255) + 1024] ^ table[Int(crc >> 32 & 255) + 768]
            ^ table[Int(crc >> 40 & 255) + 512] ^ table[Int(crc >> 48 & 255) + 256] ^ table[Int(crc >> 56)]
          index += 8
        }
        while index < bytes.count {
          crc = table[Int((crc ^ UInt64(bytes[index])) & 255)] ^ crc >> 8
          index += 1
        }
      }
    }
    register = crc
  }

  private static let tables = crcTables(UInt64(0x9A6C_9329_AC4B_C9B5))
}

/// CRC-32C, eight bytes at a time.
struct CRC32C: Sendable {
  private var register = ~UInt32(0)

  var value: UInt32 { ~register }

  mutating func update(_ data: Data) {
    var crc = register
    let tables = Self.tables
    data.withUnsafeBytes { bytes in
      tables.withUnsafeBufferPointer { table in
        var index = 0
        while index + 8 <= bytes.count {
          let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) ^ UInt64(crc)
          crc =
            table[Int(word & 255) + 1792] ^ table[Int(word >> 8 & 255) + 1536] ^ table[Int(word >> 16 & 255) + 1280]
            ^ table[Int(word >> 24 & 255) + 1024] ^ table[Int(word >> 32 & 255) + 768]
            ^ table[Int(word >> 40 & 255) + 512] ^ table[Int(word >> 48 & 255) + 256] ^ table[Int(word >> 56)]
          index += 8
        }
        while index < bytes.count {
          crc = table[Int((crc ^ UInt32(bytes[index])) & 255)] ^ crc >> 8
          index += 1
        }
      }
    }
    register = crc
  }

  private static let tables = crcTables(UInt32(0x82F6_3B78))
}

/// The tables of a reflected CRC for eight bytes, one after the other.
private func crcTables<Register: FixedWidthInteger & UnsignedInteger>(_ polynomial: Register) -> [Register] {
  var tables = [Register](repeating: 0, count: 2048)
  for byte in 0..<256 {
    var crc = Register(byte)
    for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ polynomial : crc >> 1 }
    tables[byte] = crc
  }
  for index in 256..<2048 {
    let previous = tables[index - 256]
    tables[index] = tables[Int(previous & 255)] ^ previous >> 8
  }
  return tables
}
#endif

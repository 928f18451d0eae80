/// A set of ASCII bytes as 128 bits: looked up on the path of every call, so without tables and branches.
struct ByteSet {
  /// Bits of the bytes 0 to 63.
  let low: UInt64
  /// Bits of the bytes 64 to 127.
  let high: UInt64

  func contains(_ byte: UInt8) -> Bool {
    (byte < 64 ? low >> UInt64(byte) : byte < 128 ? high >> UInt64(byte - 64) : 0) & 1 == 1
  }

  /// Letters, digits and `-._~` (RFC 3986 §2.3).
  static var unreserved: ByteSet { ByteSet(low: 0x03FF_6000_0000_0000, high: 0x47FF_FFFE_87FF_FFFE) }

  /// Unreserved characters and `!$&'()*+,;=:@/%`: what a path may hold (RFC 3986 §3.3).
  static var pathText: ByteSet { ByteSet(low: 0x2FFF_FFF2_0000_0000, high: 0x47FF_FFFE_87FF_FFFF) }

  /// ``pathText`` without `%` and `:`, which need a closer look.
  static var plainPathText: ByteSet { ByteSet(low: 0x2BFF_FFD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFF) }

  /// Letters, digits and `*-._` (WHATWG URL §5.2).
  static var formText: ByteSet { ByteSet(low: 0x03FF_6400_0000_0000, high: 0x07FF_FFFE_87FF_FFFE) }
}

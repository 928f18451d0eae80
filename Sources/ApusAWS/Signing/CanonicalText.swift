#if AWS
/// The text in which Signature Version 4 writes the parts of a request, so that client and server sign the same bytes.
struct CanonicalText: Sendable {
  private(set) var bytes: [UInt8] = []

  init(capacity: Int = 0) {
    bytes.reserveCapacity(capacity)
  }

  var string: String { String(decoding: bytes, as: UTF8.self) }

  mutating func append(_ text: some StringProtocol) { bytes.append(contentsOf: text.utf8) }

  mutating func append(_ character: Unicode.Scalar) { bytes.append(UInt8(ascii: character)) }

  /// Appends bytes that are encoded already.
  mutating func append(verbatim encoded: [UInt8]) { bytes += encoded }

  /// Appends bytes as lowercase hexadecimal digits.
  mutating func append(hexadecimal digest: some Sequence<UInt8>) {
    for byte in digest {
      bytes.append(Self.lowercaseDigit(byte >> 4))
      bytes.append(Self.lowercaseDigit(byte & 15))
    }
  }

  /// Appends text of which every byte except unreserved ones (RFC 3986 §2.3) is percent-encoded.
  ///
  /// - Parameter keepsSlashes: whether slashes are kept as well.
  mutating func append(encoding text: some Sequence<UInt8>, keepsSlashes: Bool = false) {
    for byte in text {
      if Self.isUnreserved(byte) || keepsSlashes && byte == UInt8(ascii: "/") {
        bytes.append(byte)
      } else {
        bytes.append(UInt8(ascii: "%"))
        bytes.append(Self.uppercaseDigit(byte >> 4))
        bytes.append(Self.uppercaseDigit(byte & 15))
      }
    }
  }

  /// Appends a field value without surrounding white space and with one space in place of each run of it.
  mutating func append(field value: String) {
    var isPending = false
    let start = bytes.count
    for byte in value.utf8 {
      switch byte {
      case 0x09...0x0D, 0x20: isPending = bytes.count > start
      default:
        if isPending { bytes.append(0x20) }
        isPending = false
        bytes.append(byte)
      }
    }
  }

  /// Decodes percent-encoding. A `%` without two hexadecimal digits stays as it is.
  static func decoded(_ text: some BidirectionalCollection<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var rest = text[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let high = rest.first.flatMap(digit),
        let low = rest.dropFirst().first.flatMap(digit)
      {
        result.append(high << 4 | low)
        rest = rest.dropFirst(2)
      } else {
        result.append(byte)
      }
    }
    return result
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  private static func lowercaseDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  private static func uppercaseDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }
}
#endif

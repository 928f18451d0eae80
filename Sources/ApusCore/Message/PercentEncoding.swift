/// Percent-encoding of URL parts (RFC 3986 §2), byte by byte and without Foundation.
enum PercentEncoding {
  /// Which bytes stay as they are.
  enum Component {
    /// One path segment or query part made of a value: unreserved characters only.
    case value
    /// Path text the developer wrote: everything RFC 3986 allows in a path, `%` included.
    case pathText
    /// A part of `application/x-www-form-urlencoded` content: space becomes `+`.
    case form
  }

  static func append(_ text: some StringProtocol, as component: Component, to result: inout String) {
    var copy = String(text)
    let needsEncoding = copy.withUTF8 { bytes in bytes.contains { !keeps($0, in: component) } }
    guard needsEncoding else {
      result += copy
      return
    }
    result.reserveCapacity(result.utf8.count + copy.utf8.count + 8)
    for byte in copy.utf8 { append(byte, as: component, to: &result) }
  }

  private static func append(_ byte: UInt8, as component: Component, to result: inout String) {
    if keeps(byte, in: component) {
      result.unicodeScalars.append(Unicode.Scalar(byte))
    } else if component == .form, byte == UInt8(ascii: " ") {
      result += "+"
    } else {
      result += "%"
      result.unicodeScalars.append(hexDigit(byte >> 4))
      result.unicodeScalars.append(hexDigit(byte & 15))
    }
  }

  /// Undoes one level of percent-encoding; bytes that are not valid UTF-8 become U+FFFD.
  static func decode(_ text: some StringProtocol) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let high = hexValue(rest.first), let low = hexValue(rest.dropFirst().first) {
        bytes.append(high << 4 | low)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  static func hexValue(_ byte: UInt8?) -> UInt8? {
    switch byte {
    case .some(let byte) where byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case .some(let byte) where byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case .some(let byte) where byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  private static func hexDigit(_ value: UInt8) -> Unicode.Scalar {
    Unicode.Scalar(value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10)
  }

  private static func keeps(_ byte: UInt8, in component: Component) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
      true
    case UInt8(ascii: "~"): component != .form
    case UInt8(ascii: "*"): component != .value
    case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("),
      UInt8(ascii: ")"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="),
      UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "/"), UInt8(ascii: "%"):
      component == .pathText
    default: false
    }
  }
}

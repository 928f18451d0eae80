/// What a path or query that a server wrote becomes on the wire.
enum ReferencePath {
  private static let dot = UInt8(ascii: ".")
  private static let slash = UInt8(ascii: "/")

  /// A path whose segments `.` and `..` are carried out (RFC 3986 §5.2.4), also where their dots are escaped: there are
  /// servers, proxies and transports that read those as dots, and they must not go elsewhere than this says.
  static func withoutDotSegments(_ path: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard path.contains(where: { $0 == dot || $0 == UInt8(ascii: "%") }) else { return path }
    var kept: [ArraySlice<UInt8>] = []
    var segments = path.split(separator: slash, omittingEmptySubsequences: false)[...]
    if path.first == slash { segments = segments.dropFirst() }
    for (index, segment) in segments.enumerated() {
      let isLast = index == segments.count - 1
      switch dots(in: segment) {
      case 1: if isLast { kept.append([]) }
      case 2:
        _ = kept.popLast()
        if isLast { kept.append([]) }
      default: kept.append(segment)
      }
    }
    return [slash] + kept.joined(separator: [slash])
  }

  /// How many dots a segment is made of, if it is made of one or two and nothing else.
  private static func dots(in segment: ArraySlice<UInt8>) -> Int? {
    guard segment.count <= 6 else { return nil }
    var (rest, count) = (segment, 0)
    while !rest.isEmpty {
      if rest.first == dot {
        rest = rest.dropFirst()
      } else if rest.starts(with: Array("%2e".utf8)) || rest.starts(with: Array("%2E".utf8)) {
        rest = rest.dropFirst(3)
      } else {
        return nil
      }
      count += 1
    }
    return (1...2).contains(count) ? count : nil
  }
}

extension ArraySlice<UInt8> {
  /// Whether every `%` is followed by two hexadecimal digits.
  var hasValidEscapes: Bool {
    indices.allSatisfy { index in
      guard self[index] == UInt8(ascii: "%") else { return true }
      return self[(index + 1)...].prefix(2).count { $0.hexValue != nil } == 2
    }
  }

  /// With everything escaped that a path or query cannot hold (RFC 3986 §3.3, §3.4); escapes stay as they are.
  func escaped(keepingQuestionMarks: Bool) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var result: [UInt8] = []
    result.reserveCapacity(count)
    for byte in self {
      if Self.isPathText(byte) || (keepingQuestionMarks && byte == UInt8(ascii: "?")) {
        result.append(byte)
      } else {
        result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func isPathText(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-._~!$&'()*+,;=:@/%".utf8.contains(byte)
    }
  }
}

import Foundation

/// A secret with a recognizable text, for tests that no secret is leaked. Each case has a unique text, which identifies
/// the source of a leak.
public protocol Sentinel: CaseIterable, Hashable, RawRepresentable<String>, Sendable {}

private let sentinelPrefix = "s3nt1nel-"

extension Sentinel {
  /// The secret. Its characters need no encoding in URLs, fields and forms.
  public var secret: String { "\(sentinelPrefix)\(rawValue)-0xDEADBEEF" }

  /// Returns the secrets that a text contains: plain, in Base64 at any offset, or as a list of byte values.
  public static func leaks(in text: String) -> Set<Self> {
    let numbers = numbers(in: text)
    // The common prefix is searched first, which is faster.
    guard forms(of: sentinelPrefix).contains(where: { text.contains($0) }) || holds(numbers, sentinelPrefix) else {
      return []
    }
    return Set(
      allCases.filter { sentinel in
        forms(of: sentinel.secret).contains { text.contains($0) } || holds(numbers, sentinel.secret)
      })
  }

  /// Returns a text and the parts of its Base64 form that do not depend on the surrounding bytes.
  private static func forms(of text: String) -> [String] {
    let encoded = (0..<3).map { offset in
      let groups = (text.utf8.count + offset) / 3
      let encoded = base64(String(repeating: "x", count: offset) + text)
      return String(encoded.prefix(groups * 4).dropFirst(offset > 0 ? 4 : 0))
    }
    return [text] + encoded
  }

  private static func numbers(in text: String) -> [UInt8] {
    text.utf8.split { $0 < UInt8(ascii: "0") || $0 > UInt8(ascii: "9") }.compactMap { UInt8(Substring($0)) }
  }

  private static func holds(_ numbers: [UInt8], _ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard numbers.count >= bytes.count else { return false }
    return (0...numbers.count - bytes.count).contains { numbers[$0] == bytes[0] && numbers[$0...].starts(with: bytes) }
  }
}

/// Returns a text in Base64.
public func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

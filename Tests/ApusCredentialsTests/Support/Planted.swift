#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Secrets in every place of credentials. Each is different, so that a leak shows its source.
enum Planted: String, CaseIterable, Sendable {
  case access, refresh, newAccess, newRefresh, user, password, key

  private static let start = "s3nt1nel-"

  /// Of characters that stay as they are in a URL, a field and a form.
  var secret: String { "\(Self.start)\(rawValue)-0xDEADBEEF" }

  /// All of them as an object of JSON, with a sentence that holds none: what a server says that repeats everything.
  static var quoted: String {
    let members = allCases.map { #""\#($0.rawValue)":"\#($0.secret)""# }
    return #"{"title":"No.","# + members.joined(separator: ",") + "}"
  }

  /// Whose secrets a text holds: plain, in Base64 at any offset, or as the numbers of their bytes.
  static func leaks(in text: String) -> Set<Planted> {
    let numbers = numbers(in: text)
    // What begins like none of them need not be searched for each.
    guard forms(of: start).contains(where: { text.contains($0) }) || holds(numbers, start) else { return [] }
    return Set(
      allCases.filter { planted in
        forms(of: planted.secret).contains { text.contains($0) } || holds(numbers, planted.secret)
      })
  }

  /// A text as it is, and the part of its Base64 that does not depend on what stands around it.
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

/// A text in Base64.
func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

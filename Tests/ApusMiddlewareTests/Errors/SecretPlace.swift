#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The places of secrets. Each has its own secret, so that a leak shows its source.
enum SecretPlace: String, CaseIterable {
  case credential, userName, source
  case baseQuery, baseUser, pathValue, ownParameter, commonParameter
  case ownField, commonField, sensitiveField, cookie, fieldName
  case requestContent, requestFile
  case responseContent, responseKey, setCookie, challenge
  case cause

  private static let start = "s3nt1nel-"

  /// Of characters that stay as they are in a URL.
  var secret: String { "\(Self.start)\(rawValue)-0xDEADBEEF" }

  /// Whose secrets a text holds: plain, in Base64 at any offset, or as the numbers of their bytes.
  static func leaks(in text: String) -> Set<SecretPlace> {
    let numbers = numbers(in: text)
    // What begins like none of them need not be searched for each.
    guard forms(of: start).contains(where: text.contains) || holds(numbers, start) else { return [] }
    return Set(allCases.filter { forms(of: $0.secret).contains(where: text.contains) || holds(numbers, $0.secret) })
  }

  /// A text as it is, and the part of its Base64 that does not depend on what stands around it.
  private static func forms(of text: String) -> [String] {
    let encoded = (0..<3).map { offset in
      let groups = (text.utf8.count + offset) / 3
      return String(
        base64(String(repeating: "x", count: offset) + text).prefix(groups * 4).dropFirst(offset > 0 ? 4 : 0))
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

/// An error with a secret in its texts.
struct TellingError: LocalizedError, CustomStringConvertible, CustomDebugStringConvertible {
  var secret = SecretPlace.cause.secret
  var description: String { "failed with \(secret)" }
  var debugDescription: String { description }
  var errorDescription: String? { description }
  var failureReason: String? { description }
}

/// A text in Base64.
func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

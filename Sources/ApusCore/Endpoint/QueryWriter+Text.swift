#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension QueryWriter {
  /// The text of a single value; `nil` when it is made of several.
  func text(of value: any Encodable, at path: [any CodingKey]) throws -> String? {
    if let text = Self.plainText(of: value) { return text }
    switch value {
    case let text as String: return text
    case let bool as Bool: return style.bools == .words ? String(bool) : bool ? "1" : "0"
    case let number as Double: return try numberText(number, String(number), at: path)
    case let number as Float: return try numberText(Double(number), String(number), at: path)
    case let date as Date: return try dateText(date, at: path)
    case let url as URL: return url.absoluteString
    case let id as UUID: return id.uuidString
    case let data as Data: return data.base64EncodedString()
    case let number as Decimal: return try numberText(number.isNaN ? .nan : 0, number.description, at: path)
    case let integer as any BinaryInteger: return integer.description
    default: return nil
    }
  }

  /// The text of the most frequent types, found without a dynamic cast.
  static func plainText(of value: any Encodable) -> String? {
    let type = type(of: value)
    if type == String.self { return value as? String }
    if type == Int.self { return (value as? Int).map { String($0) } }
    return nil
  }

  private func numberText(_ number: Double, _ text: String, at path: [any CodingKey]) throws -> String {
    guard number.isFinite else {
      throw QueryEncodingError(name: name(of: path), reason: "is not a finite number")
    }
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  private func dateText(_ date: Date, at path: [any CodingKey]) throws -> String {
    let seconds = date.timeIntervalSince1970
    guard abs(seconds) < Self.endOfTime else {
      throw QueryEncodingError(name: name(of: path), reason: "is not a date that can be written")
    }
    switch style.dates {
    case .iso8601: return date.formatted(.iso8601)
    case .millisecondsSince1970: return String(Int64((seconds * 1000).rounded()))
    case .custom(let text): return try text(date)
    case .secondsSince1970: return try numberText(seconds, String(seconds), at: path)
    }
  }

  /// Seconds from 1970 to the year 10000, which ISO 8601 has no room for.
  private static let endOfTime: Double = 253_402_300_800
}

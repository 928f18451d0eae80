#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension JSONDocument {
  /// Decodes a type of Foundation, or a `JSONValue`.
  func decodeOther<T: Decodable>(_ type: T.Type, at position: Int, _ depth: Int) throws -> T {
    let value: Any
    if type == Date.self {
      value = try date(at: position)
    } else if type == Data.self {
      value = try data(at: position, depth)
    } else if type == URL.self {
      guard let url = URL(string: try string(at: position)) else {
        throw corrupted("The text is not a URL", at: position)
      }
      value = url
    } else if type == Decimal.self {
      value = try decimal(at: position)
    } else if type == JSONNumber.self {
      guard tape[position].isNumber else { throw mismatch(type, at: position) }
      value = JSONNumber(valid: string(tape[position]))
    } else {
      value = tape.value(at: position)
    }
    return try value as? T ?? type.init(from: ValueDecoder(document: self, position: position, depth: depth))
  }

  private func date(at position: Int) throws -> Date {
    switch coding.dates {
    case .secondsSince1970: return Date(timeIntervalSince1970: try double(at: position))
    case .millisecondsSince1970: return Date(timeIntervalSince1970: try double(at: position) / 1000)
    case .iso8601, .iso8601WholeSeconds, .custom:
      let text = try string(at: position)
      do {
        return try coding.date(text)
      } catch {
        throw corrupted("The text is not a date", at: position, cause: error)
      }
    }
  }

  private func data(at position: Int, _ depth: Int) throws -> Data {
    guard coding.bytes == .base64 else { return Data(try decode([UInt8].self, at: position, depth)) }
    guard let data = Data(base64Encoded: try string(at: position)) else {
      throw corrupted("The text is not Base64", at: position)
    }
    return data
  }

  private func decimal(at position: Int) throws -> Decimal {
    let word = tape[position]
    guard word.isNumber else { throw mismatch(Decimal.self, at: position) }
    guard let value = Decimal(string: string(word)) else { throw unrepresentable(Decimal.self, at: position) }
    return value
  }
}

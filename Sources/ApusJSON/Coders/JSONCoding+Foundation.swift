#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Foundation's coders with the settings of a coding.
extension JSONCoding {
  func decodeByFoundation<Value: Decodable>(_ type: Value.Type, from bytes: some ContiguousBytes) throws -> Value {
    let decoder = JSONDecoder()
    decoder.userInfo = userInfo
    if keys == .snakeCase { decoder.keyDecodingStrategy = .convertFromSnakeCase }
    switch dates {
    case .secondsSince1970: decoder.dateDecodingStrategy = .secondsSince1970
    case .millisecondsSince1970: decoder.dateDecodingStrategy = .millisecondsSince1970
    case .iso8601, .iso8601WholeSeconds, .custom:
      decoder.dateDecodingStrategy = .custom { decoder in
        let text = try decoder.singleValueContainer().decode(String.self)
        do {
          return try date(text)
        } catch {
          throw DecodingError.dataCorrupted(
            .init(codingPath: decoder.codingPath, debugDescription: "The text is not a date.", underlyingError: error))
        }
      }
    }
    decoder.dataDecodingStrategy = self.bytes == .base64 ? .base64 : .deferredToData
    if case .strings(let infinity, let negative, let nan) = nonFiniteNumbers {
      decoder.nonConformingFloatDecodingStrategy = .convertFromString(
        positiveInfinity: infinity, negativeInfinity: negative, nan: nan)
    }
    return try decoder.decode(type, from: bytes.withUnsafeBytes { Data($0) })
  }

  func encodeByFoundation<Value: Encodable>(_ value: Value) throws -> Data {
    let encoder = JSONEncoder()
    encoder.userInfo = userInfo
    encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
    if isPrettyPrinted { encoder.outputFormatting.insert(.prettyPrinted) }
    if keys == .snakeCase { encoder.keyEncodingStrategy = .convertToSnakeCase }
    switch dates {
    case .secondsSince1970: encoder.dateEncodingStrategy = .secondsSince1970
    case .millisecondsSince1970: encoder.dateEncodingStrategy = .millisecondsSince1970
    case .iso8601, .iso8601WholeSeconds, .custom:
      encoder.dateEncodingStrategy = .custom { date, encoder in
        var container = encoder.singleValueContainer()
        do {
          try container.encode(text(date))
        } catch {
          throw Self.unencodable(date, at: encoder.codingPath, error)
        }
      }
    }
    encoder.dataEncodingStrategy = bytes == .base64 ? .base64 : .deferredToData
    if case .strings(let infinity, let negative, let nan) = nonFiniteNumbers {
      encoder.nonConformingFloatEncodingStrategy = .convertToString(
        positiveInfinity: infinity, negativeInfinity: negative, nan: nan)
    }
    return try encoder.encode(value)
  }
}

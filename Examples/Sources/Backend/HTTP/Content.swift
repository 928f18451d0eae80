import Foundation
import HTTPTypes

/// A reader of requests' content: JSON and forms.
enum Content {
  /// The maximum number of bytes.
  static let limit = 64 * 1024

  /// Reads and decodes the content.
  ///
  /// - Throws: `Problem`: 415 for another media type, 413 above ``limit``, 400 for malformed JSON, 422 when a member is
  ///   missing or has the wrong type.
  static func decode<Value: Decodable>(_ type: Value.Type, from request: Request) throws(Problem) -> Value {
    guard isJSON(request.headers[.contentType]) else {
      throw Problem(
        .unsupportedMediaType, "The content must be application/json.", fields: [.accept: "application/json"])
    }
    return try decode(type, from: try request.content(upTo: limit))
  }

  /// Reads a form (`application/x-www-form-urlencoded`).
  ///
  /// - Throws: `Problem`: 415 for another media type, 413 above ``limit``, 400 for a malformed percent-escape.
  static func form(of request: Request) throws(Problem) -> Query {
    guard mediaType(request.headers[.contentType]) == "application/x-www-form-urlencoded" else {
      throw Problem(.unsupportedMediaType, "The content must be application/x-www-form-urlencoded.")
    }
    return try Query(String(decoding: try request.content(upTo: limit), as: UTF8.self))
  }

  /// Decodes the content.
  static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws(Problem) -> Value {
    do {
      return try JSONDecoder().decode(type, from: data)
    } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
      throw .invalid([FieldError(field: path(context.codingPath), message: "has the wrong type")])
    } catch DecodingError.keyNotFound(let key, let context) {
      throw .invalid([FieldError(field: path(context.codingPath + [key]), message: "is missing")])
    } catch {
      throw .badRequest("The content is not JSON.")
    }
  }

  /// Whether a `Content-Type` names JSON, with or without parameters.
  static func isJSON(_ field: String?) -> Bool {
    let type = mediaType(field)
    return type == "application/json" || type?.hasSuffix("+json") == true
  }

  /// Returns the media type of a `Content-Type` without parameters, in lower case.
  private static func mediaType(_ field: String?) -> String? {
    field?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
  }

  private static func path(_ keys: [any CodingKey]) -> String {
    keys.isEmpty ? "content" : keys.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
  }
}

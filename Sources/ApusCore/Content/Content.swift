#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The complete content of a response, not yet read: bytes, media type and the coders in force.
///
/// An endpoint whose value is `Content` leaves the type to the call: `send(.video(id), as: Video.self)`.
public struct Content: Sendable {
  /// The bytes.
  public let data: Data
  /// What `Content-Type` says; `nil` when the field is missing.
  public let mediaType: MediaType?
  /// The status of the response.
  public let status: Int
  /// Coders and styles in force.
  public let coding: CodingOptions

  /// Makes content of its parts; useful for testing parsers.
  public init(data: Data, mediaType: MediaType? = nil, status: Int = 200, coding: CodingOptions = CodingOptions()) {
    self.data = data
    self.mediaType = mediaType
    self.status = status
    self.coding = coding
  }

  func hasSameBytes(as other: Content) -> Bool { data == other.data }

  /// Decodes a value in the format in force, JSON by default.
  ///
  /// - Throws: what the format throws; for JSON `DecodingError`, and `JSONError` for a model's content that is nested in
  ///   more than 128 levels and for a `JSONValue` that cannot be read.
  public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if let format = coding.format { return try format.decode(type, from: data) }
    return try coding.effectiveJSON.decode(type, from: data)
  }

  /// The text: UTF-8, or Latin-1 where `Content-Type` says so. A byte order mark is left out.
  ///
  /// - Throws: ``CallFault`` when the bytes are not text.
  func text() throws -> String {
    switch mediaType?.parameter("charset")?.lowercased() {
    case "iso-8859-1", "latin1":
      return String(String.UnicodeScalarView(data.map { Unicode.Scalar($0) }))
    default:
      let text = data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data
      guard let text = String(validating: text, as: UTF8.self) else {
        throw CallFault(.decoding, "the content is not UTF-8 text")
      }
      return text
    }
  }
}

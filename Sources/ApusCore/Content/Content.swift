#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The complete, undecoded content (body) of a response with its media type and the coders in effect.
///
/// An endpoint whose value is `Content` lets each call name the type: `send(.video(id), as: Video.self)`.
public struct Content: Sendable, Decodable {
  /// The bytes.
  public let data: Data
  /// The media type from `Content-Type`, or `nil` if the field is missing.
  public let mediaType: MediaType?
  /// The status of the response.
  public let status: Int
  /// The coders and styles in effect.
  public let coding: CodingOptions
  /// The content codings of the bytes. `nil` if there are none, or no bytes.
  var undecoded: UndecodedCoding?

  /// Creates content, for tests of parsers.
  public init(data: Data, mediaType: MediaType? = nil, status: Int = 200, coding: CodingOptions = CodingOptions()) {
    self.data = data
    self.mediaType = mediaType
    self.status = status
    self.coding = coding
  }

  /// Always throws: only the whole content of a response can be ``Content``, not a part of it.
  ///
  /// - Throws: `DecodingError`.
  public init(from decoder: any Decoder) throws {
    throw DecodingError.dataCorrupted(
      .init(codingPath: decoder.codingPath, debugDescription: "A part of a response cannot be Content."))
  }

  /// A hash of all bytes, which differs between processes. `Data` itself hashes only its first bytes.
  var fingerprint: Int {
    var hasher = Hasher()
    data.withUnsafeBytes { hasher.combine(bytes: $0) }
    return hasher.finalize()
  }

  /// Decodes a value in the format in effect, JSON by default.
  ///
  /// - Throws: the error of the format. JSON throws `JSONError` for content that is not valid JSON, otherwise
  ///   `DecodingError`.
  public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if let format = coding.format { return try format.decode(type, from: data) }
    return try coding.effectiveJSON.decode(type, from: data)
  }

  /// Throws if the bytes are in a registered content coding.
  ///
  /// - Throws: ``CallFault``.
  func requireDecoded() throws {
    if let undecoded, undecoded.isRegistered { throw CallFault(.decoding, undecoded.detail) }
  }

  /// Returns the content as text without a byte order mark: UTF-8, or Latin-1 if `Content-Type` declares it.
  ///
  /// - Throws: ``CallFault`` if the bytes are not valid text.
  func text() throws -> String {
    // Any bytes are valid in Latin-1.
    try requireDecoded()
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

import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The parts of multipart content (RFC 2046), for example of a batch response or of several ranges
/// (`multipart/byteranges`, RFC 9110 §14.6).
///
/// <!-- sample: part-stream -->
/// ```swift
/// let ranges = Request<PartStream>.get("/films/ran.mp4").field("Range", "bytes=0-99,1000-1099")
///   .accepting(.statuses(206))
/// for try await part in api.stream(ranges) {
///   print(part.field("Content-Range") ?? "", part.content.count)
/// }
/// ```
///
/// Each part is returned when all of it has arrived. The limit of a part is ``StreamOptions/maximumElementSize``, 8 MiB
/// by default. The call fails with the code `decoding` if the content has more than 10,000 parts, if a part has more
/// than 64 fields (headers) or more than 16 KiB of fields, or if the content ends before its last boundary.
public struct PartStream: StreamedValue {
  /// The parts of a complete response, in order.
  public let elements: [ReceivedPart]

  /// Creates a value from its parts, for fakes.
  public init(_ elements: [ReceivedPart]) {
    self.elements = elements
  }

  /// Multipart content with any subtype.
  public static var _format: _StreamFormat<PartStream> {
    _StreamFormat(kind: .parts, accept: nil) { try PartElements($0) }
  }
}

/// A part of multipart content in a response.
public struct ReceivedPart: Sendable, Hashable {
  let fields: HTTPFields
  /// The content (body) of the part, as it was sent. `Content-Transfer-Encoding` is not decoded.
  public let content: Data

  init(fields: HTTPFields = [:], content: Data) {
    (self.fields, self.content) = (fields, content)
  }

  /// Returns the value of a field (header) by its case-insensitive name. The values of several fields with that name
  /// are joined by commas.
  ///
  /// - Returns: the value, or `nil` if no field has the name or the name is not a token.
  public func field(_ name: String) -> String? { fields.value(of: name) }

  /// The media type from `Content-Type`, or `nil` if the field is missing.
  public var mediaType: MediaType? { fields[.contentType].map { MediaType($0) } }
  /// The content as text. Invalid UTF-8 becomes U+FFFD.
  public var text: String { String(decoding: content, as: UTF8.self) }

  /// Decodes the content from JSON.
  ///
  /// - Parameters:
  ///   - type: the type of the value.
  ///   - coding: the JSON coding. Default: ``JSONCoding/default``, not the client's coding.
  /// - Throws: `DecodingError`; `JSONError`.
  public func decode<Value: Decodable>(_ type: Value.Type, using coding: JSONCoding = .default) throws -> Value {
    try coding.decode(type, from: content)
  }
}

/// The elements of a ``PartStream``.
private struct PartElements: ElementParser {
  private var parser: MultipartParser
  private let context: StreamContext

  init(_ context: StreamContext) throws {
    self.context = context
    guard let type = context.mediaType, type.essence.hasPrefix("multipart/") else {
      throw context.failure("the response is not multipart content")
    }
    do {
      parser = try MultipartParser(
        boundary: type.parameter("boundary"), limit: context.options.maximumElementSize ?? StreamOptions.jsonLimit)
    } catch {
      throw context.failure(error.description, underlying: error)
    }
  }

  mutating func feed(_ piece: Data) { parser.feed(piece) }

  mutating func finish() { parser.finish() }

  mutating func next() throws -> ReceivedPart? {
    do {
      return try context.limiting { try parser.next() }
    } catch let error as MultipartError {
      throw context.failure(error.description, underlying: error)
    }
  }
}

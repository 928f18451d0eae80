#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The content (body) of a request, encoded off the caller's actor when it is sent.
public struct RequestContent: Sendable {
  /// The media type for `Content-Type`, or `nil` to omit the field.
  let mediaType: MediaType?
  /// Encodes the content with the coders in effect.
  private(set) var encode: @Sendable (CodingOptions) throws -> MessageContent
  /// Returns the fields (headers) that describe the encoded content, besides `Content-Type`. `nil` if there are none.
  private(set) var fields: (@Sendable (MessageContent) throws -> [RawField])?

  /// Creates content from a function that encodes it.
  ///
  /// - Parameters:
  ///   - mediaType: the media type for `Content-Type`, or `nil` to omit the field.
  ///   - encode: encodes the content. Called once for each call, off the caller's actor.
  public init(_ mediaType: MediaType?, encode: @escaping @Sendable (CodingOptions) throws -> MessageContent) {
    self.mediaType = mediaType
    self.encode = encode
  }

  /// Returns content with a content coding (RFC 9110 §8.4.1).
  ///
  /// - Parameters:
  ///   - coding: the registered name of the coding.
  ///   - code: applies the coding to encoded content.
  package func coded(
    _ coding: String, by code: @escaping @Sendable (MessageContent) throws -> MessageContent
  ) -> RequestContent {
    var content = self
    let (encode, fields) = (encode, fields)
    content.encode = { try code(try encode($0)) }
    content.fields = { message in
      var described = try fields?(message) ?? []
      let codings = described.filter { $0.name == "Content-Encoding" }.map(\.value) + [coding]
      described.replace(with: RawField("Content-Encoding", codings.joined(separator: ", ")))
      return described
    }
    return content
  }

  /// Returns content with a field that is derived from the content as it is sent, with all content codings.
  package func describing(
    _ field: @escaping @Sendable (MessageContent) throws -> RawField
  ) -> RequestContent {
    var content = self
    let fields = fields
    content.fields = { try (fields?($0) ?? []) + [try field($0)] }
    return content
  }

  /// No content.
  public static let empty = RequestContent(nil) { _ in .empty }

  /// Creates content from a value as JSON, in the ``JSONCoding`` of the call or the client.
  public static func json(_ value: some Encodable & Sendable) -> RequestContent {
    RequestContent(.json) { .bytes(try $0.effectiveJSON.encode(value)) }
  }

  // Disfavored, so that a dictionary literal is an ordered `Query`.
  /// Creates content from a value as a form, with one parameter for each property (WHATWG URL §5,
  /// `application/x-www-form-urlencoded`).
  @_disfavoredOverload
  public static func form(_ value: some Encodable & Sendable) -> RequestContent {
    form(Query(value))
  }

  /// Creates content from parameters as a form, in order.
  public static func form(_ parameters: Query) -> RequestContent {
    RequestContent(.form) { options in
      .bytes(Data(try QueryText.form(parameters, style: options.effectiveForm).utf8))
    }
  }

  /// Creates content from a value in another format.
  public static func encoded(_ value: some Encodable & Sendable, as format: some ContentFormat) -> RequestContent {
    RequestContent(format.mediaType) { _ in .bytes(try format.encode(value)) }
  }

  /// Creates content from bytes, which are sent unchanged.
  public static func bytes(_ data: Data, _ mediaType: MediaType = .bytes) -> RequestContent {
    RequestContent(mediaType) { _ in .bytes(data) }
  }

  /// Creates content from text, in UTF-8.
  public static func text(_ text: String, _ mediaType: MediaType = .text) -> RequestContent {
    RequestContent(mediaType) { _ in .bytes(Data(text.utf8)) }
  }

  /// Creates content from a file, which is read while it is sent. If the file is missing or unreadable, the call fails
  /// with `encoding`.
  ///
  /// - Parameters:
  ///   - path: an absolute path, or a path relative to the working directory.
  ///   - mediaType: the media type. Default: `nil`, the media type for the extension of the path.
  public static func file(_ path: String, _ mediaType: MediaType? = nil) -> RequestContent {
    RequestContent(mediaType ?? MediaType(forFile: path)) { _ in .file(try ContentFile(path: path)) }
  }

  /// Creates content from bytes that are produced while they are sent.
  public static func stream(_ stream: ContentStream, _ mediaType: MediaType = .bytes) -> RequestContent {
    RequestContent(mediaType) { _ in .stream(stream) }
  }
}

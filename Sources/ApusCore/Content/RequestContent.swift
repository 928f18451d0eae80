#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What a request sends: a value and its format, or bytes. Encoded off the caller's actor, when it is sent.
public struct RequestContent: Sendable {
  /// What `Content-Type` says; `nil`: the field is not set.
  let mediaType: MediaType?
  /// Makes the bytes with the coders in force.
  let encode: @Sendable (CodingOptions) throws -> MessageContent

  /// Makes content of a function that encodes it.
  ///
  /// - Parameters:
  ///   - mediaType: what `Content-Type` says.
  ///   - encode: called off the caller's actor, once for each call.
  public init(_ mediaType: MediaType?, encode: @escaping @Sendable (CodingOptions) throws -> MessageContent) {
    self.mediaType = mediaType
    self.encode = encode
  }

  /// Nothing.
  public static let empty = RequestContent(nil) { _ in .empty }

  /// A value as JSON, in the coding of the call, the endpoint or the client.
  public static func json(_ value: some Encodable & Sendable) -> RequestContent {
    RequestContent(.json) { .bytes(try $0.effectiveJSON.encode(value)) }
  }

  // Disfavored, so that a literal is a list in order rather than a dictionary without one.
  /// A value as a form: one parameter a property (WHATWG URL §5, `application/x-www-form-urlencoded`).
  @_disfavoredOverload
  public static func form(_ value: some Encodable & Sendable) -> RequestContent {
    form(Query(value))
  }

  /// Parameters as a form, in order.
  public static func form(_ parameters: Query) -> RequestContent {
    RequestContent(.form) { options in
      .bytes(Data(try QueryText.form(parameters, style: options.effectiveForm).utf8))
    }
  }

  /// A value in a format of your choice.
  public static func encoded(_ value: some Encodable & Sendable, as format: some ContentFormat) -> RequestContent {
    RequestContent(format.mediaType) { _ in .bytes(try format.encode(value)) }
  }

  /// Bytes as they are.
  public static func bytes(_ data: Data, _ mediaType: MediaType = .bytes) -> RequestContent {
    RequestContent(mediaType) { _ in .bytes(data) }
  }

  /// Text in UTF-8.
  public static func text(_ text: String, _ mediaType: MediaType = .text) -> RequestContent {
    RequestContent(mediaType) { _ in .bytes(Data(text.utf8)) }
  }

  /// A file, read while it is sent. A missing or unreadable file makes the call throw `encoding`.
  public static func file(_ path: String, _ mediaType: MediaType = .bytes) -> RequestContent {
    RequestContent(mediaType) { _ in .file(try ContentFile(path: path)) }
  }

  /// Bytes made while they are sent.
  public static func stream(_ stream: ContentStream, _ mediaType: MediaType = .bytes) -> RequestContent {
    RequestContent(mediaType) { _ in .stream(stream) }
  }
}

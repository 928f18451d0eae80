#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A part of multipart content (body): any ``RequestContent`` with a name, a file name and fields (headers).
///
/// <!-- sample: multipart as Request<Void> -->
/// ```swift
/// .post("/avatars", content: .multipart([
///   .value("owner", 7),
///   .part("details", .json(["shape": "round"])),
///   .file("avatar", at: "/photos/ada.png"),
/// ]))
/// ```
public struct MultipartPart: Sendable {
  let name: String?
  let fileName: String?
  let content: RequestContent
  let fields: [RawField]

  private init(_ name: String?, _ content: RequestContent, fileName: String? = nil, fields: [RawField] = []) {
    (self.name, self.content, self.fileName, self.fields) = (name, content, fileName, fields)
  }

  /// Creates a part from a value as text, without a media type, like a text field of an HTML form.
  ///
  /// - Parameters:
  ///   - name: the name of the form's field.
  ///   - value: the value. Its description is sent in UTF-8, with its line ends unchanged.
  public static func value(_ name: String, _ value: some CustomStringConvertible) -> MultipartPart {
    let text = value.description
    return MultipartPart(name, RequestContent(nil) { _ in .bytes(Data(text.utf8)) })
  }

  /// Creates a part with content of any kind, which has its own media type.
  ///
  /// - Parameters:
  ///   - name: the name of the form's field.
  ///   - content: the content, for example `.json(value)`, `.bytes(data, "image/png")`, or multipart content again.
  ///   - fileName: the file name that is sent to the server. Most servers treat a part with a file name as a file.
  ///     Default: `nil`.
  ///   - fields: further fields of the part, for example `Content-ID`. Default: none.
  public static func part(
    _ name: String, _ content: RequestContent, fileName: String? = nil, fields: [RawField] = []
  ) -> MultipartPart {
    MultipartPart(name, content, fileName: fileName, fields: fields)
  }

  /// Creates a part with content of any kind and without a name, for formats other than ``MultipartFormat/formData``.
  public static func part(
    _ content: RequestContent, fileName: String? = nil, fields: [RawField] = []
  ) -> MultipartPart {
    MultipartPart(nil, content, fileName: fileName, fields: fields)
  }

  /// Creates a part from a file, which is read while it is sent.
  ///
  /// - Parameters:
  ///   - name: the name of the form's field. Required in ``MultipartFormat/formData``. Default: `nil`.
  ///   - path: the path of the file.
  ///   - fileName: the file name that is sent to the server. Default: `nil`, the last component of the path.
  ///   - mediaType: the media type. Default: `nil`, the media type for the extension of the path.
  public static func file(
    _ name: String? = nil, at path: String, fileName: String? = nil, mediaType: MediaType? = nil
  ) -> MultipartPart {
    let last = path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) }
    return MultipartPart(name, .file(path, mediaType), fileName: fileName ?? last ?? path)
  }
}

/// A format of multipart content.
public struct MultipartFormat: Sendable, Hashable {
  let subtype: String

  /// Creates a format with another subtype, for example `alternative`.
  public init(subtype: String) {
    self.subtype = subtype
  }

  /// `multipart/form-data`, the content of an HTML form with files (RFC 7578). Every part has a name.
  public static let formData = MultipartFormat(subtype: "form-data")
  /// `multipart/mixed`, independent parts in order (RFC 2046 §5.1.3).
  public static let mixed = MultipartFormat(subtype: "mixed")
  /// `multipart/related`, parts that belong to the first part, whose media type becomes the parameter `type`
  /// (RFC 2387).
  public static let related = MultipartFormat(subtype: "related")
}

extension RequestContent {
  /// Creates multipart content from several parts (RFC 2046 §5.1), by default as a form (RFC 7578).
  ///
  /// Files and streams are read while they are sent. The length is announced if the length of every part is known, and
  /// the call can be retried if every part is replayable. Names and file names are escaped as in HTML forms. If a part
  /// cannot be encoded, its name has an invalid character, or a file is missing, the call fails with `encoding`.
  ///
  /// Do not set the field `Content-Type` of the request: the content sets it, because it names the boundary between the
  /// parts.
  ///
  /// - Parameters:
  ///   - parts: the parts, in order.
  ///   - format: the format. Default: ``MultipartFormat/formData``.
  public static func multipart(_ parts: [MultipartPart], as format: MultipartFormat = .formData) -> RequestContent {
    multipart(parts, as: format, boundary: MultipartEncoder.randomBoundary())
  }

  /// Creates multipart content with a given boundary, for tests.
  static func multipart(
    _ parts: [MultipartPart], as format: MultipartFormat, boundary: String
  ) -> RequestContent {
    var type = "multipart/\(format.subtype); boundary=\(boundary)"
    if format == .related, let root = parts.first?.content.mediaType { type += "; type=\"\(root.essence)\"" }
    return RequestContent(MediaType(type)) { options in
      try MultipartEncoder(boundary: boundary, format: format).content(of: parts, options)
    }
  }
}

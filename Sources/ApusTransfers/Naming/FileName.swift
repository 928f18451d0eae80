public import HTTPTypes

/// A name for a file, safe to use in any folder.
///
/// A safe name contains no folders, no control or formatting characters and no characters that other file systems
/// reserve. A safe name does not begin with a dot or a hyphen, and has at most 200 bytes.
///
/// ```swift
/// let name = FileName.suggested(by: response.head, url: response.url)
/// let free = name.free { FileManager.default.fileExists(atPath: "\(folder)/\($0)") }
/// ```
public struct FileName: Sendable, Hashable, CustomStringConvertible {
  /// The name.
  public let description: String

  /// Creates a name from untrusted text. Folders before the last slash or backslash are left out.
  ///
  /// - Returns: `nil` if no usable character is left.
  public init?(_ untrusted: String) {
    guard let name = SafeName.name(in: untrusted) else { return nil }
    description = name
  }

  /// Creates the name that a response suggests: the name in `Content-Disposition`, for inline content as well as for
  /// attachments (RFC 6266 §4.3), else the last segment of the URL's path.
  ///
  /// - Parameters:
  ///   - head: the head of the response.
  ///   - url: the URL of the response, see `StreamedResponse.url`. Default: `nil`, unknown.
  /// - Returns: the name; `download` if the response suggests no usable name.
  public static func suggested(by head: HTTPResponse, url: String? = nil) -> FileName {
    if let text = head.headerFields[.contentDisposition],
      let name = ContentDisposition.fileNames(in: text).lazy
        .compactMap({ FileName($0) }).first
    {
      return name
    }
    return url.flatMap { FileName(lastSegment($0)) } ?? FileName(unchecked: "download")
  }

  /// Returns the name with a number before its extension, such as `film (2).mp4`.
  func numbered(_ number: Int) -> FileName {
    let (stem, suffix) = SafeName.parts(of: description)
    return FileName(unchecked: SafeName.shortened(stem, suffix: " (\(number))\(suffix)"))
  }

  /// Returns the first name that is not taken: this name, then this name with the numbers from 2 to 1000.
  ///
  /// Another program may take the name afterwards. A download refuses to replace its file in that case, see
  /// ``DownloadOptions/replacesExisting``.
  ///
  /// - Returns: `nil` if all names are taken.
  public func free(where isTaken: (FileName) throws -> Bool) rethrows -> FileName? {
    if try !isTaken(self) { return self }
    for number in 2...1000 {
      let name = numbered(number)
      if try !isTaken(name) { return name }
    }
    return nil
  }

  private init(unchecked name: String) {
    description = name
  }

  private static func lastSegment(_ url: String) -> String {
    var path = url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    // The authority of a URL is not a file name.
    if let colon = path.firstIndex(of: UInt8(ascii: ":")), path[colon...].starts(with: "://".utf8) {
      path = path[colon...].dropFirst(3).drop { $0 != UInt8(ascii: "/") }
    }
    let segment = path.lastIndex(of: UInt8(ascii: "/")).map { path[path.index(after: $0)...] } ?? path
    return PercentText.bytes(of: segment).map { String(decoding: $0, as: UTF8.self) } ?? String(Substring(segment))
  }
}

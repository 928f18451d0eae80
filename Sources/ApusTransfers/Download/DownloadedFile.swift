public import ApusCore
public import HTTPTypes

/// A file that was downloaded completely and has its final name.
public struct DownloadedFile: Sendable {
  /// The path of the file, as it was passed.
  public let path: String
  /// The size of the file in bytes.
  public let size: Int64
  /// The number of the file's bytes that an earlier download had left.
  public let resumedBytes: Int64
  /// The media type of the file. `nil` if the server did not state it.
  public let mediaType: MediaType?
  /// The head of the last response. Its status is 206 if the server sent the rest of the file, and 416 if all bytes
  /// were already on disk. Its status is 200, without fields (headers), if an earlier download had completed the file
  /// but could not rename it. If the head states a content coding, the file was saved with this coding, as it was sent.
  public let head: HTTPResponse
  /// The status of the last response, see ``head``.
  public var status: Int { head.status.code }

  /// Returns the value of a field (header) of the last response by its case-insensitive name, such as the entity tag
  /// (`ETag`). The values of several fields with that name are joined by commas (RFC 9110 §5.3).
  ///
  /// - Returns: the value, or `nil` if no field has the name or the name is not a token.
  public func field(_ name: String) -> String? { HTTPField.Name(name).flatMap { head.headerFields[$0] } }

  /// - Parameter response: the head of the last response, and the media type of the file. Default: the values for a
  ///   file that an earlier download completed.
  init(
    _ path: String, _ size: Int64, resumed: Int64 = 0,
    _ response: (head: HTTPResponse, mediaType: MediaType?) = (HTTPResponse(status: .ok), nil)
  ) {
    (self.path, self.size, resumedBytes) = (path, size, resumed)
    (head, mediaType) = response
  }
}

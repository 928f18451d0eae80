public import ApusCore
public import HTTPTypes

/// A file that was downloaded completely and has its final name.
public struct DownloadedFile: Sendable {
  /// The path of the file, as it was passed.
  public let path: String
  /// The size of the file in bytes.
  public let size: Int64
  /// The number of those bytes that an earlier download had left.
  public let resumedBytes: Int64
  /// The entity tag or else the modification date that the server stated last, for conditional requests (RFC 9110
  /// §8.8). `nil` if it stated neither.
  public let validator: String?
  /// The media type of the file. `nil` if the server did not state it.
  public let mediaType: MediaType?
  /// The head of the last response. Its status is 206 if the server sent the rest of the file, and 416 if all bytes
  /// were there already. Status 200 without fields (headers) if an earlier download had completed the file, but could
  /// not give it its name. A file with a content coding, which the head states, was saved as it was sent.
  public let head: HTTPResponse

  /// Creates a value for fakes and previews.
  public init(
    path: String, size: Int64, mediaType: MediaType? = nil, head: HTTPResponse = HTTPResponse(status: .ok)
  ) {
    self.init(path, size, resumed: 0, (head, mediaType))
  }

  init(_ path: String, _ size: Int64, resumed: Int64, _ response: (head: HTTPResponse, mediaType: MediaType?)) {
    (self.path, self.size, resumedBytes) = (path, size, resumed)
    (head, mediaType) = response
    validator = head.headerFields[.eTag] ?? head.headerFields[.lastModified]
  }
}

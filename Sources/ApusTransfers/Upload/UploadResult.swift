import ApusCore
public import HTTPTypes

/// The result of a complete upload.
public struct UploadResult<Value: Sendable>: Sendable {
  /// The value that the endpoint's mapping reads from the server's last response.
  public let value: Value
  /// The `Location` of the last response, or else the URL of the upload; `nil` if the server stated neither.
  ///
  /// Not for logs: some servers accept bytes from any client that knows this URL.
  public let url: String?
  /// The number of bytes of the content.
  public let size: Int64
  /// The number of the content's bytes that an earlier call had sent.
  public let resumedBytes: Int64
  /// The head of the last response. Its status is 204 if the server stated that the upload is complete but its response
  /// was lost.
  public let head: HTTPResponse
  /// The status of the last response, see ``head``.
  public var status: Int { head.status.code }

  /// Returns the value of a field (header) of the last response by its case-insensitive name. The values of several
  /// fields with that name are joined by commas (RFC 9110 §5.3).
  ///
  /// - Returns: the value, or `nil` if no field has the name or the name is not a token.
  public func field(_ name: String) -> String? { HTTPField.Name(name).flatMap { head.headerFields[$0] } }

  package init(value: Value, size: Int64 = 0, resumedBytes: Int64 = 0, head: HTTPResponse) {
    (self.value, self.size, self.resumedBytes, self.head) = (value, size, resumedBytes, head)
    url = nil
  }

  init(value: Value, _ end: Upload.End, _ size: Int64) {
    self.value = value
    (self.size, resumedBytes, url) = (size, end.resumed, end.url)
    head = end.response?.head ?? HTTPResponse(status: .noContent)
  }

  /// Creates the result of an upload whose response an earlier process has received.
  init(value: Value, _ uploaded: CompleteUpload) {
    (self.value, url, size, resumedBytes) = (value, uploaded.url, uploaded.size, uploaded.size)
    head = HTTPResponse(status: .noContent)
  }
}

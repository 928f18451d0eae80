/// The responses of a server that stores nothing, as far as an upload needs them.
enum Answers {
  /// Returns the response to the head of a request.
  static func answer(_ head: String) -> String {
    let target = head.split(separator: " ").dropFirst().first ?? ""
    guard head.hasPrefix("POST") else { return response("", "ETag: \"00000000000000000000000000000000\"\r\n") }
    let isCreation = target.contains("uploads")
    let name = isCreation ? "InitiateMultipartUploadResult" : "CompleteMultipartUploadResult"
    let element = isCreation ? "<UploadId>upload</UploadId>" : "<ETag>\"00000000000000000000000000000000-1\"</ETag>"
    let namespace = "http://s3.amazonaws.com/doc/2006-03-01/"
    return response("<\(name) xmlns=\"\(namespace)\">\(element)</\(name)>", "Content-Type: application/xml\r\n")
  }

  private static func response(_ content: String, _ fields: String) -> String {
    "HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(content.utf8.count)\r\n\r\n\(content)"
  }
}

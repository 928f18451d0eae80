import HTTPTypes
import NIOCore
import NIOHTTP1

/// A response of a route.
struct Response: Sendable {
  var status: HTTPResponse.Status
  var headers: HTTPFields
  var body: ResponseBody

  init(status: HTTPResponse.Status, headers: HTTPFields = [:], body: ResponseBody = ResponseBody(ByteBuffer())) {
    (self.status, self.headers, self.body) = (status, headers, body)
  }
}

/// The content of a response.
struct ResponseBody: Sendable {
  /// A function that sends bytes. It returns when the bytes were written to the connection.
  typealias Writer = @Sendable (ByteBuffer) async throws -> Void

  /// The number of bytes; `nil` when it is unknown.
  let contentLength: Int?
  /// Sends the content. An error closes the connection.
  let write: @Sendable (@escaping Writer) async throws -> Void

  init(contentLength: Int? = nil, write: @escaping @Sendable (@escaping Writer) async throws -> Void) {
    (self.contentLength, self.write) = (contentLength, write)
  }

  init(_ bytes: ByteBuffer) {
    self.init(contentLength: bytes.readableBytes) { write in
      if bytes.readableBytes > 0 { try await write(bytes) }
    }
  }
}

extension HTTPResponseHead {
  /// - Parameters:
  ///   - isForHead: whether the request's method is `HEAD`: then no content is sent.
  ///   - server: the value of the field `Server`.
  init(_ response: Response, isForHead: Bool, server: String) {
    let status = HTTPResponseStatus(statusCode: response.status.code, reasonPhrase: response.status.reasonPhrase)
    self.init(version: .http1_1, status: status)
    for field in response.headers { headers.add(name: field.name.rawName, value: field.value) }
    headers.add(name: "Server", value: server)
    guard status.mayHaveResponseBody else { return }
    if let length = response.body.contentLength {
      headers.add(name: "Content-Length", value: "\(length)")
    } else if !isForHead {
      headers.add(name: "Transfer-Encoding", value: "chunked")
    }
  }
}

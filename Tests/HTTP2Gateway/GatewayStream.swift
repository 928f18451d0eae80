import HTTPTypes
import NIOCore

@testable import ApusNIO

/// The state of a stream of a client.
final class GatewayStream {
  /// The end of a response that follows its content.
  enum Ending {
    case complete
    case trailers(HTTPFields)
    /// Fields that no response can have, because the test server's response is malformed.
    case malformed
    case reset(HTTP2ErrorCode)
  }

  let id: StreamID
  let backend: Backend
  /// The content length that the request declares.
  private let contentLength: Int?
  private var contentReceived = 0
  private(set) var hasRequest = false

  /// The number of content bytes that the client may send.
  var receiveWindow: Int
  /// The number of received bytes that the backend has not written yet.
  var unwritten = 0
  /// The number of written bytes that no WINDOW_UPDATE has returned yet.
  var returned = 0

  var sendWindow: Int
  /// The content of the response that was not sent yet.
  var content = ByteBuffer()
  /// A head without content, which is sent together with the end of the stream.
  var heldHead: HTTPResponse?
  var hasHead = false
  var ending: Ending?
  var hasResponse = false

  /// Whether the request's content, if there is any, is sent to the test server in chunks.
  var isChunked: Bool { contentLength == nil }

  init(_ id: StreamID, _ backend: Backend, of head: RequestHead, windows: (receive: Int, send: Int)) {
    (self.id, self.backend) = (id, backend)
    contentLength = head.contentLength
    (receiveWindow, sendWindow) = windows
  }

  /// Records content of the request, and its end.
  func receive(_ count: Int, isLast: Bool) throws(ClientViolation) {
    guard !hasRequest else { throw ClientViolation("a frame follows END_STREAM of stream \(id)") }
    contentReceived += count
    hasRequest = isLast
    guard let contentLength else { return }
    guard contentReceived <= contentLength, !isLast || contentReceived == contentLength else {
      throw ClientViolation("stream \(id) has \(contentReceived) bytes of content, but announces \(contentLength)")
    }
  }
}

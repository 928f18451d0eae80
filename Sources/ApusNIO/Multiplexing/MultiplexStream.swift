import ApusCore
import HTTPTypes
import NIOCore

/// One exchange on a connection of HTTP/2, with its stream. Belongs to the connection's event loop.
final class MultiplexStream {
  /// The end of a response whose reader has not consumed all bytes yet.
  enum End {
    case complete(trailers: HTTPFields)
    case failed(TransportError)
  }

  let exchange: Exchange
  let reception: Reception
  var state: StreamState
  var outgoing = Outgoing()
  /// The content that was accepted and is not in a frame yet.
  var pending = ByteBuffer()
  /// Whether the request ends after ``pending``.
  var endsAfterPending = false
  /// Whether the stream is in the handler's queue of streams with content to send.
  var isQueued = false
  /// The content that has arrived and that the reader has no room for.
  var unread = ByteBuffer()
  /// The end to perform once the reader has consumed ``unread``.
  var end: End?
  /// Whether the head of the request was written to the socket.
  var isFlushed = false
  /// Whether the exchange has ended or left the connection.
  var isGone = false
  /// Whether the server can send no more frames for the stream.
  var isClosed = false
  /// The number of bytes written on the connection up to the last content of this request.
  var sentMark = 0
  /// The instant by which the awaited progress must happen, and its phase.
  var deadline: NIODeadline?
  var phase = CallPhase.connecting

  init(_ exchange: Exchange, _ state: StreamState, codingLimits: CodingLimits) {
    self.exchange = exchange
    self.state = state
    reception = Reception(Reception.Source(version: .http2), codingLimits)
  }

  var id: StreamID { state.id }

  /// Whether the request was sent. What was never written to the socket is not sent.
  var requestState: RequestState { isFlushed ? state.progress.requestState : .notSent }

  /// Whether another connection can send the request: its content can be replayed, or nothing of it was taken.
  var canBeSentAgain: Bool { exchange.request.content.isReplayable || outgoing.isUntouched }
}

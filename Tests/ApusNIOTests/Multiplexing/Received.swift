import HTTPTypes

@testable import ApusNIO

/// What a client has sent on one connection of a ``FrameServer``, and the violations of RFC 9113 in it.
struct Received: Sendable {
  struct Request: Sendable {
    let stream: StreamID
    var method = ""
    var path = ""
    /// The fields without the pseudo-header fields, as lines.
    var lines: [String] = []
    var contentCount = 0
    var isComplete = false
    /// Whether the server has ended the stream.
    var isAnswered = false
    /// Whether the server has declared that it does not execute the request: by REFUSED_STREAM, GOAWAY or status 421.
    var isRefused = false
  }

  /// The requests on streams, in the order of their heads.
  var requests: [Request] = []
  /// The heads of HTTP/1.1 requests.
  var http1Heads: [String] = []
  var hasPreface = false
  var settingsAcknowledged = 0
  var pingsAcknowledged = 0
  /// The number of the server's SETTINGS and PING frames that the client has not acknowledged.
  var unanswered = 0
  /// The RST_STREAM frames.
  var resets: [Reset] = []
  /// The error codes of the GOAWAY frames.
  var goAways: [HTTP2ErrorCode] = []
  /// The rules of RFC 9113 that the client has broken.
  var violations: [String] = []
  /// The streams whose content waited for a window.
  var blocked: Set<StreamID> = []
  /// The streams whose content is sent.
  var contentSent: Set<StreamID> = []
  var hasPlayed = false
  var isClosed = false

  struct Reset: Sendable, Hashable {
    let stream: StreamID
    let code: HTTP2ErrorCode
  }

  func request(_ stream: StreamID) -> Request? { requests.first { $0.stream == stream } }

  func has(_ event: Event) -> Bool {
    switch event {
    case .preface: hasPreface
    case .head(let stream): request(stream) != nil
    case .end(let stream): request(stream)?.isComplete == true
    case .content(let stream, let count): request(stream).map { $0.contentCount >= count } ?? false
    case .reset(let stream): resets.contains { $0.stream == stream }
    case .settings(let count): settingsAcknowledged >= count
    case .pings(let count): pingsAcknowledged >= count
    case .goAway: isClosed || !goAways.isEmpty
    case .failed(let stream): has(.reset(stream)) || has(.goAway)
    case .blocked(let stream): blocked.contains(stream)
    case .contentSent(let stream): contentSent.contains(stream)
    case .played: hasPlayed
    }
  }
}

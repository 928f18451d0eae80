import HTTPTypes
import NIOCore

@testable import ApusNIO

/// The result of decoding a response, with the content in one piece, so that results are equal however the input was
/// split.
struct Decoded: Equatable {
  enum End: Equatable {
    case open
    case clean
    case unclean
  }

  var interim: [Int] = []
  var status: Int?
  var reason: String?
  var fields: [String] = []
  var framing: ResponseFraming?
  var content: [UInt8] = []
  var trailers: [String] = []
  var isComplete = false
  var canReuse = false
  var error: FramingError.Kind?
  /// Whether the decoder returned more parts than the input has bytes.
  private(set) var isEndless = false
  /// The head and the trailers as in ``rendered``.
  private var head: HTTPResponse?
  private var trailerFields = HTTPFields()

  var text: String { String(decoding: content, as: UTF8.self) }

  /// Feeds the bytes in pieces that end at `cuts`, then the end of the connection.
  init(_ bytes: [UInt8], limits: FramingLimits = FramingLimits(), cuts: [Int] = [], end: End = .open) {
    self.init(bytes, by: Self.decoder(.get, limits), cuts: cuts, end: end)
  }

  init(_ stream: ResponseStream, cuts: [Int] = []) {
    self.init(
      stream.bytes, by: Self.decoder(stream.method, FramingLimits()), cuts: cuts, end: stream.end)
  }

  init(
    _ text: String, to method: HTTPRequest.Method = .get, limits: FramingLimits = FramingLimits(), end: End = .open
  ) {
    self.init(Array(text.utf8), by: Self.decoder(method, limits), cuts: [], end: end)
  }

  private static func decoder(_ method: HTTPRequest.Method, _ limits: FramingLimits) -> ResponseDecoder {
    var decoder = ResponseDecoder(limits: limits)
    decoder.expectResponse(to: method)
    return decoder
  }

  private init(_ bytes: [UInt8], by decoder: ResponseDecoder, cuts: [Int], end: End) {
    var decoder = decoder
    var buffer = ByteBuffer()
    var (start, parts) = (0, 0)
    do throws(FramingError) {
      for cut in cuts + [bytes.count] {
        var piece = Self.piece(bytes[start..<cut])
        buffer.take(&piece)
        start = cut
        while !isEndless, let part = try decoder.next(from: &buffer) {
          take(part)
          parts += 1
          isEndless = parts > bytes.count + 2
        }
      }
      if end != .open, let part = try decoder.endOfInput(cleanly: end == .clean) { take(part) }
    } catch {
      self.error = error.kind
    }
  }

  /// Returns bytes at the very end of their allocation, so that the address sanitizer detects an access beyond them.
  private static func piece(_ bytes: ArraySlice<UInt8>) -> ByteBuffer {
    // Capacities are rounded up to powers of two.
    var piece = ByteBufferAllocator().buffer(capacity: bytes.count)
    let start = piece.capacity - bytes.count
    piece.writeRepeatingByte(0, count: start)
    piece.writeBytes(bytes)
    piece.moveReaderIndex(to: start)
    return piece
  }

  private mutating func take(_ part: DecodedPart) {
    switch part {
    case .interim(let head): interim.append(head.status.code)
    case .head(let head, let framing):
      self.head = head
      status = head.status.code
      reason = head.status.reasonPhrase
      fields = head.headerFields.map { "\($0.name.rawName)=\($0.value)" }
      self.framing = framing
    case .content(let slice): content += slice.readableBytesView
    case .end(let trailers, let canReuse):
      trailerFields = trailers
      self.trailers = trailers.map { "\($0.name.rawName)=\($0.value)" }
      self.canReuse = canReuse
      isComplete = true
    }
  }

  /// The result without the details that depend on how the input was split.
  var comparable: Decoded {
    var copy = self
    if copy.isComplete, copy.error == .unsolicited || !copy.canReuse { (copy.error, copy.canReuse) = (nil, false) }
    return copy
  }
}

extension Decoded {
  /// The result in the format of `scripts/fuzz/judge.py`, with the bytes as received.
  var rendered: [UInt8] {
    guard isComplete, let head, let framing else { return Array("refused \(error?.rawValue ?? "nothing")".utf8) }
    var text = Array("accepted\ninterim \(interim.map(String.init).joined(separator: ","))\n".utf8)
    text += Array("status \(head.status.code)\nreason \(head.status.reasonPhrase)\nframing ".utf8)
    switch framing {
    case .none: text += Array("none".utf8)
    case .length(let length): text += Array("length \(length)".utf8)
    case .chunked: text += Array("chunked".utf8)
    case .untilClose: text += Array("close".utf8)
    }
    text += Array("\nreuse \(comparable.canReuse ? 1 : 0)\n".utf8)
    for (kind, fields) in [("field ", head.headerFields), ("trailer ", trailerFields)] {
      for field in fields {
        text += Array(kind.utf8) + Array(field.name.rawName.utf8) + Array(": ".utf8)
        text += field.withUnsafeBytesOfValue { Array($0) } + Array("\n".utf8)
      }
    }
    return text + Array("\n".utf8) + content
  }
}

/// Returns an HTTP/1.1 response with these fields and content.
func answer(_ fields: String..., content: String = "") -> String {
  "HTTP/1.1 200 OK\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n" + content
}

func chunked(_ chunks: String) -> String {
  answer("Transfer-Encoding: chunked", content: chunks)
}

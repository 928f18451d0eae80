import ApusTestServer

extension SoakCall {
  private static let large = [UInt8](repeating: 7, count: 50_000)
  private static let tooLarge = [UInt8](repeating: 7, count: 1 << 20)
  /// "hello hello hello hello", coded with gzip.
  private static let hello: [UInt8] = [
    0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0xC8, 0x40, 0x27,
    0x01, 0xE3, 0x51, 0x3D, 0x8D, 0x17, 0x00, 0x00, 0x00,
  ]

  static func reply(to request: RecordedRequest, _ gaps: Set<TransportKind.Gap>) -> Reply {
    let kind = request.target.split(separator: "/").first.flatMap { Kind(rawValue: String($0)) }
    let trailers: FieldLines = gaps.contains(.brokenAnswers) ? [:] : ["X-End": "yes"]
    return switch kind {
    case .small, .none: .json("[1]")
    case .large: .status(200, content: large)
    case .chunked: .chunked([[1, 2, 3], [4, 5], [6]], trailers: trailers).interim(103)
    case .coded: .status(200, fields: ["Content-Encoding": "gzip"], content: hello)
    case .empty: .status(204)
    case .unauthorized: .text("no", status: 401, fields: ["WWW-Authenticate": "Basic realm=\"x\""])
    case .redirect: .text("elsewhere", status: 302, fields: ["Location": "/small/0"])
    case .closed: .closed
    case .reset: .reset
    case .truncated: Reply.text("hello").closing(at: .content(2))
    case .stalled: .stalled
    case .halfStalled: Reply.text("hello").stalling(at: .content(2))
    case .tooLarge: .status(200, content: tooLarge)
    case .garbage: .raw("HTTP/1.1 2000 banana\r\n\r\n")
    case .early: .text("bye", fields: ["Connection": "close"])
    }
  }
}

import ApusCore
import HTTPTypes

/// A request message that can be sent, with its origin and its encoder.
struct PreparedRequest: Sendable {
  let head: HTTPRequest
  let content: MessageContent
  let origin: Origin
  let encoder: RequestEncoder
  /// Whether the response's content codings are decoded; `false` if the message itself has `Accept-Encoding`.
  let decodesContent: Bool

  /// Whether the content is withheld until the server sends 100 (Continue) (RFC 9110 §10.1.1).
  var expectsContinue: Bool { head.headerFields[.expect]?.lowercased() == "100-continue" }

  /// - Throws: `TransportError` with the code `invalidRequest` if the message cannot be sent.
  init(
    _ message: RequestMessage, to origin: Origin?, settings: borrowing RequestSettings
  ) throws(TransportError) {
    guard let origin else {
      throw Self.unsupported("the message has no http or https origin")
    }
    self.origin = origin
    head = message.head
    content = message.content
    let present = PresentFields(in: message.head.headerFields)
    decodesContent = settings.decodesContent && !present.hasCodings
    encoder = try Self.encoder(of: message, to: origin, present, settings)
  }

  /// The methods whose requests usually have content, and therefore have `Content-Length` even if it is empty (RFC 9110
  /// §8.6).
  private static let contentful: Set<String> = ["POST", "PUT", "PATCH", "QUERY"]

  private static func encoder(
    of message: RequestMessage, to origin: Origin, _ present: PresentFields, _ settings: borrowing RequestSettings
  ) throws(TransportError) -> RequestEncoder {
    var encoder = RequestEncoder(framing: framing(of: message))
    // A range of coded content cannot be decoded alone (RFC 9110 §14.2).
    let offersCodings = settings.decodesContent && !present.hasCodings && !present.hasRange
    if !present.hasUserAgent {
      encoder.adding = offersCodings ? settings.allFields : settings.userAgent
    } else if offersCodings {
      encoder.adding = settings.codings
    }
    // If the proxy opens a tunnel, its credentials are sent with CONNECT only.
    if origin.scheme == "http", let proxy = try settings.proxyRules.proxy(to: origin) {
      encoder.form = .absolute
      encoder.adding.append(contentsOf: proxy.fields)
    }
    return encoder
  }

  private static func framing(of message: RequestMessage) -> RequestFraming {
    if message.content.isEmpty { return contentful.contains(message.head.method.rawValue) ? .length(0) : .none }
    return message.content.length.map { .length($0) } ?? .chunked
  }

  private static func unsupported(_ detail: String) -> TransportError {
    TransportError(.invalidRequest, requestState: .notSent, detail: detail)
  }
}

/// Whether a message has the fields on which the transport's own fields depend. Found in one pass over the fields.
private struct PresentFields {
  private(set) var hasCodings = false
  private(set) var hasRange = false
  private(set) var hasUserAgent = false

  init(in fields: HTTPFields) {
    for field in fields {
      switch field.name {
      case .acceptEncoding: hasCodings = true
      case .range: hasRange = true
      case .userAgent: hasUserAgent = true
      default: break
      }
    }
  }
}

/// The transport's settings that affect its requests.
struct RequestSettings: Sendable {
  let proxyRules: ProxyRules
  /// Whether content codings are offered and decoded.
  let decodesContent: Bool
  /// `User-Agent`.
  let userAgent: HTTPFields
  /// `Accept-Encoding`.
  let codings: HTTPFields
  /// `User-Agent` and `Accept-Encoding`.
  let allFields: HTTPFields

  init(proxyRules: ProxyRules, decodesContent: Bool, userAgent: String) {
    self.proxyRules = proxyRules
    self.decodesContent = decodesContent
    self.userAgent = [.userAgent: userAgent]
    codings = [.acceptEncoding: ContentCoding.acceptable]
    allFields = [.userAgent: userAgent, .acceptEncoding: ContentCoding.acceptable]
  }
}

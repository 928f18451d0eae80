#if os(Linux)
import Apus
import Synchronization

/// A middleware that records the `Authorization` of each message just before the message is sent. It can also store
/// cookies.
final class DigestWatcher: Middleware {
  private struct State {
    var shown: [[String: String]] = []
    var cookies: [String: String] = [:]
  }

  private let keepsCookies: Bool
  private let state = Mutex(State())

  init(keepsCookies: Bool = false) {
    self.keepsCookies = keepsCookies
  }

  /// The parameters of each message's `Authorization`, in order; empty if the message has no digest.
  var shown: [[String: String]] { state.withLock { $0.shown } }

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var request = request
    let parameters = Self.parameters(request.head.headerFields[.authorization] ?? "")
    let cookies: String = state.withLock { state in
      state.shown.append(parameters)
      return state.cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
    }
    if !cookies.isEmpty { try request.addField(RawField("Cookie", cookies)) }
    let response = try await next(request, context: context)
    if keepsCookies { keep(response.head.headerFields[values: .setCookie]) }
    return response
  }

  private func keep(_ lines: [String]) {
    state.withLock { state in
      for line in lines {
        let pair = line.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
        if pair.count == 2 { state.cookies[String(pair[0])] = String(pair[1]) }
      }
    }
  }

  private static func parameters(_ authorization: String) -> [String: String] {
    guard authorization.hasPrefix("Digest ") else { return [:] }
    var parameters: [String: String] = [:]
    for item in authorization.dropFirst("Digest ".count).split(separator: ",") {
      let pair = item.split(separator: "=", maxSplits: 1)
      guard pair.count == 2 else { continue }
      parameters[String(pair[0].drop { $0 == " " })] = String(pair[1]).replacing("\"", with: "")
    }
    return parameters
  }
}
#endif

import ApusCore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension TransportError {
  /// Creates the error for an error of the platform. The request state is `maybeSent` if it is unknown whether the
  /// request has left.
  init(_ error: any Error, hasHead: Bool) {
    guard let error = error as? URLError else {
      self.init(.connectionLost, requestState: hasHead ? .responded : .maybeSent, underlying: error)
      return
    }
    let meaning = URLErrorMeaning(code: error.code.rawValue, text: error.localizedDescription)
    let code = hasHead ? meaning.codeAfterHead : meaning.code
    self.init(
      code, in: code == .timeout ? .awaitingHead : nil, requestState: hasHead ? .responded : meaning.requestState,
      detail: meaning.detail, underlying: error)
  }
}

/// The meaning of a code of `NSURLErrorDomain` and of its message.
struct URLErrorMeaning {
  let code: CallError.Code
  let requestState: RequestState
  let detail: String

  /// The code of the error after the head has arrived: the connection worked until then, so every failure except
  /// malformed or too much content means that the connection was lost.
  var codeAfterHead: CallError.Code {
    switch code {
    case .malformedResponse, .contentTooLarge: code
    default: .connectionLost
    }
  }

  private init(_ failure: CallError.Code, _ requestState: RequestState, _ detail: String) {
    self.code = failure
    self.requestState = requestState
    self.detail = detail
  }

  init(code: Int, text: String) {
    // The platform's message contains addresses and ports, never fields, targets or content.
    let detail = "\(text) (\(code))"
    #if canImport(Security)
    self = Self.apple(code, detail)
    #else
    self = Self.curl(code, text, detail)
    #endif
  }

  /// Interprets codes with the same meaning on every platform.
  static func apple(_ code: Int, _ detail: String) -> URLErrorMeaning {
    switch code {
    case -1009, -1018, -1019, -1020: URLErrorMeaning(.offline, .notSent, detail)
    case -1003, -1006: URLErrorMeaning(.hostNotFound, .notSent, detail)
    case -1004: URLErrorMeaning(.connectionFailed, .notSent, detail)
    case -1206 ... -1200, -2000, -1022: URLErrorMeaning(.tls, .notSent, detail)
    case -1000, -1002: URLErrorMeaning(.invalidRequest, .notSent, detail)
    case -1001: URLErrorMeaning(.timeout, .maybeSent, detail)
    case -1017, -1015, -1016: URLErrorMeaning(.malformedResponse, .responded, detail)
    case -1100, -1101, -1102: URLErrorMeaning(.invalidRequest, .notSent, detail)
    default: URLErrorMeaning(.connectionLost, .maybeSent, detail)
    }
  }

  /// Interprets Linux's codes. Most codes have several causes, which libcurl's message distinguishes.
  ///
  /// The code of a refused connection also occurs with later failures if one of several addresses refused the
  /// connection, so only the message proves that nothing was sent.
  static func curl(_ code: Int, _ text: String, _ detail: String) -> URLErrorMeaning {
    let text = text.lowercased()
    let hasNoConnection = text.hasPrefix("failed to connect") || text.hasPrefix("couldn't connect")
    if hasNoConnection {
      // A refused connection has its own code. A missing network and a connection that is reset while being made have
      // no code of their own, and cannot be distinguished.
      let isUnreachable = code == -1 || text.contains("network is unreachable")
      return URLErrorMeaning(isUnreachable ? .offline : .connectionFailed, .notSent, detail)
    }
    switch code {
    case -1004: return URLErrorMeaning(.connectionLost, .maybeSent, detail)
    // The scheme was checked before, so the response is unsupported.
    case -1002: return URLErrorMeaning(.malformedResponse, .responded, detail)
    case -1 where isMalformed(text): return URLErrorMeaning(.malformedResponse, .responded, detail)
    case -1 where isHandshake(text): return URLErrorMeaning(.tls, .notSent, detail)
    default: return apple(code, detail)
    }
  }

  /// Whether the message describes a response that could not be read.
  private static func isMalformed(_ text: String) -> Bool {
    [
      "header without colon", "failed writing header", "invalid content-length", "content encoding",
      "content unencoding", "too large response headers",
      // The chunks contain content that the content coding's decoder refused.
      "failed reading the chunked-encoded stream", "content or transfer-encoding",
    ].contains { text.contains($0) }
  }

  /// Whether the message describes a TLS handshake that failed.
  private static func isHandshake(_ text: String) -> Bool {
    if text.contains("ssl_read") || text.contains("ssl_write") { return false }
    return ["ssl", "tls", "certificate", "alpn"].contains { text.contains($0) }
  }
}

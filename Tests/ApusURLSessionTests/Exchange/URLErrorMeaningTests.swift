import ApusCore
import Foundation
import Testing

@testable import ApusURLSession

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Errors of the platform")
struct URLErrorMeaningTests {
  @Test(
    "Unambiguous codes have the same meaning on every platform",
    arguments: [
      (-1009, .offline, .notSent), (-1020, .offline, .notSent), (-1003, .hostNotFound, .notSent),
      (-1006, .hostNotFound, .notSent), (-1004, .connectionFailed, .notSent), (-1200, .tls, .notSent),
      (-1202, .tls, .notSent), (-1206, .tls, .notSent), (-2000, .tls, .notSent), (-1022, .tls, .notSent),
      (-1000, .invalidRequest, .notSent), (-1002, .invalidRequest, .notSent), (-1100, .invalidRequest, .notSent),
      (-1001, .timeout, .maybeSent), (-1005, .connectionLost, .maybeSent),
      (-1017, .malformedResponse, .responded), (-1015, .malformedResponse, .responded),
      (-1, .connectionLost, .maybeSent),
      (-9999, .connectionLost, .maybeSent),
    ] as [(Int, CallError.Code, RequestState)])
  func codes(code: Int, expected: CallError.Code, state: RequestState) {
    let meaning = URLErrorMeaning.apple(code, "detail")
    #expect(meaning.code == expected)
    #expect(meaning.requestState == state)
  }

  @Test(
    "libcurl's text distinguishes the causes of an ambiguous code",
    arguments: [
      (-1004, "Failed to connect to 127.0.0.1 port 1: Connection refused", .connectionFailed, .notSent),
      (-1004, "Failed to connect to x port 1: Network is unreachable", .offline, .notSent),
      (-1, "Failed to connect to x port 1: Couldn't connect to server", .offline, .notSent),
      (-1004, "Couldn't connect to server", .connectionFailed, .notSent),
      // One of several addresses refused the connection; the exchange failed later.
      (-1004, "Recv failure: Connection reset by peer", .connectionLost, .maybeSent),
      (-1002, "Unsupported HTTP version in response", .malformedResponse, .responded),
      (-1, "Header without colon", .malformedResponse, .responded),
      (-1, "Invalid Content-Length: value", .malformedResponse, .responded),
      (-1, "Failed reading the chunked-encoded stream", .malformedResponse, .responded),
      (-1, "SSL certificate problem: self-signed certificate", .tls, .notSent),
      (-1, "OpenSSL SSL_read: error:0A000126, unexpected eof while reading", .connectionLost, .maybeSent),
      (-1, "Empty reply from server", .connectionLost, .maybeSent),
      (-1005, "Empty reply from server", .connectionLost, .maybeSent),
    ] as [(Int, String, CallError.Code, RequestState)])
  func texts(code: Int, text: String, expected: CallError.Code, state: RequestState) {
    let meaning = URLErrorMeaning.curl(code, text, text)
    #expect(meaning.code == expected)
    #expect(meaning.requestState == state)
  }

  @Test("After the head every error means that the connection was lost, with the request state responded")
  func afterHead() {
    let error = TransportError(URLError(.cannotConnectToHost), hasHead: true)
    #expect(error.code == .connectionLost)
    #expect(error.requestState == .responded)
  }

  @Test("An error of an unknown type becomes connectionLost, with the original as underlying error")
  func foreign() {
    struct Foreign: Error {}
    let early = TransportError(Foreign(), hasHead: false)
    #expect(early.code == .connectionLost)
    #expect(early.requestState == .maybeSent)
    #expect(early.underlying is Foreign)
    #expect(TransportError(Foreign(), hasHead: true).requestState == .responded)
  }

  @Test(
    "The transport's own errors have a detail and a request state",
    arguments: [
      (.shutDown, false, .connectionLost, .maybeSent), (.shutDown, true, .connectionLost, .responded),
      (.malformed, true, .malformedResponse, .responded), (.headless, false, .malformedResponse, .maybeSent),
      (.contentTooLarge, true, .contentTooLarge, .responded), (.truncatedContent, false, .connectionLost, .maybeSent),
      (.untrusted("no key"), false, .tls, .notSent), (.platform, false, .connectionLost, .maybeSent),
      (.attemptOver(.connecting, .notSent), false, .timeout, .notSent),
    ] as [(SessionExchangeState.Failure, Bool, CallError.Code, RequestState)])
  func own(failure: SessionExchangeState.Failure, hasHead: Bool, expected: CallError.Code, state: RequestState) throws {
    let error = try #require(failure.error(nil, hasHead: hasHead, contentLimit: 10) as? TransportError)
    #expect(error.code == expected)
    #expect(error.requestState == state)
  }

  @Test("A cancelled exchange throws CancellationError")
  func cancelled() {
    #expect(SessionExchangeState.Failure.cancelled.error(nil, hasHead: true, contentLimit: 1) is CancellationError)
  }

  @Test("A call whose content could not be produced throws the content's error")
  func truncatedContent() throws {
    let reason = TransportError(.connectionLost, requestState: .maybeSent, detail: "too short")
    let error = SessionExchangeState.Failure.truncatedContent.error(reason, hasHead: false, contentLimit: 1)
    #expect((error as? TransportError)?.detail == "too short")
    #expect((error as? TransportError)?.source == .content)
    let bare = SessionExchangeState.Failure.truncatedContent.error(nil, hasHead: false, contentLimit: 1)
    #expect((bare as? TransportError)?.source == .content)
  }
}

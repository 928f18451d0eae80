import ApusCore
import ApusWaiting
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A bench that sends a check's messages to the transport. The messages go through a client, because only a client
/// creates contexts; responses and errors bypass it.
struct ConformanceBench: Sendable {
  typealias Work<Output> = @Sendable (RequestMessage, ExchangeContext) async throws -> Output

  let transport: any Transport
  let server: any ConformanceServer
  let clock = ManualClock(.manual)

  /// Runs `work` with a message and its context, inside a call.
  ///
  /// - Throws: any error that `work` throws; a ``ConformanceFailure`` if transports must not throw that error.
  func perform<Output: Sendable>(
    _ message: ConformanceMessage, _ delivery: ContentDelivery = .buffered, at url: String? = nil,
    work: @escaping Work<Output>
  ) async throws -> Output {
    let outcome = Monitor<Result<Output, any Error>?>(nil)
    let client = try client(at: url) { request, context in
      do {
        let output = try await work(message.message(like: request), context)
        outcome.update { $0 = .success(output) }
      } catch {
        outcome.update { $0 = .failure(error) }
        throw error
      }
      return ResponseMessage(head: HTTPResponse(status: .noContent))
    }
    // Only the outcome of the exchange matters, not the result of the call.
    if delivery == .streamed {
      try? await client.withResponse(to: Request<Void>.method(.get, "/")) { _ in }
    } else {
      try? await client.send(Request<Void>.method(.get, "/"))
    }
    guard let result = outcome.state else { throw CancellationError() }
    if case .failure(let error) = result { try Self.requireKnown(error) }
    return try result.get()
  }

  /// Sends a message and reads the response to its end.
  func send(
    _ message: ConformanceMessage, _ delivery: ContentDelivery = .buffered, at url: String? = nil
  ) async throws -> ConformanceResponse {
    try await perform(message, delivery, at: url) { request, context in
      let response = try await transport.send(request, context: context)
      return ConformanceResponse(
        head: response.head, content: try await response.content.collect(upTo: context.contentLimit))
    }
  }

  /// Sends a message that must fail, and returns the error.
  func failure(
    of message: ConformanceMessage, at url: String? = nil
  ) async throws -> TransportError {
    do {
      let response = try await send(message, at: url)
      throw ConformanceFailure("the exchange succeeded with status \(response.status), but must fail")
    } catch let error as TransportError {
      return error
    } catch is CancellationError {
      throw ConformanceFailure("the exchange threw CancellationError without being cancelled")
    }
  }

  /// Returns a client whose transport is `send`.
  func client(
    at url: String? = nil, contentLimit: Int = 64 << 20, send: @escaping Work<ResponseMessage>
  ) throws -> Client {
    var settings = ClientSettings()
    settings.contentLimit = contentLimit
    settings.runtime.clock = clock
    let environment = Environment(baseURL: try BaseURL(url ?? server.baseURL))
    return Client(environment: environment, transport: PassingTransport(body: send), settings: settings)
  }

  /// Throws a failure for an error that a transport must not throw.
  static func requireKnown(_ error: any Error) throws {
    let isKnown = error is TransportError || error is CancellationError || error is ConformanceFailure
    try require(isKnown, "threw \(type(of: error)), which is neither TransportError nor CancellationError")
  }
}

/// A request message of a check.
struct ConformanceMessage: Sendable {
  var method = "GET"
  var target: String
  var fields: [HTTPField] = []
  var content = MessageContent.empty

  init(_ method: String = "GET", _ target: String, fields: [HTTPField] = [], content: MessageContent = .empty) {
    (self.method, self.target, self.fields, self.content) = (method, target, fields, content)
  }

  /// Returns the request message, with the scheme and the authority of a client's request.
  func message(like request: RequestMessage) throws -> RequestMessage {
    guard let method = HTTPRequest.Method(method) else { throw ConformanceFailure("\(method) is not a method") }
    return RequestMessage(
      head: HTTPRequest(
        method: method, scheme: request.head.scheme, authority: request.head.authority, path: target,
        headerFields: HTTPFields(fields)), content: content)
  }
}

/// A response whose content was read to its end.
struct ConformanceResponse: Sendable {
  let head: HTTPResponse
  let content: Data

  var status: Int { head.status.code }
  var text: String { String(decoding: content, as: UTF8.self) }
}

private struct PassingTransport: Transport {
  let body: ConformanceBench.Work<ResponseMessage>

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    try await body(request, context)
  }
}

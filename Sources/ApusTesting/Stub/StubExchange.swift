public import ApusCore
public import HTTPTypes

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// One request that a stub was sent, and what became of it.
public struct StubExchange: Sendable, Identifiable {
  /// What became of an exchange.
  public enum Outcome: Sendable, Hashable {
    /// The answer is not complete yet.
    case inFlight
    /// The whole answer was given.
    case answered
    /// It failed as the answer said.
    case failed
    /// Its call was cancelled, the time of its attempt was up, or the content of the answer was given up.
    case cancelled
    /// No rule matched.
    case unmatched
  }

  /// Its place among the exchanges of the stub, from 0.
  public let id: Int
  /// The request message; its content is in memory, also where it was a file or a stream.
  public internal(set) var request: RequestMessage
  /// The content that was sent.
  public internal(set) var content = Data()
  /// Whether all of the content was sent.
  public internal(set) var isRequestComplete = false
  /// How many bytes of content were announced; `nil` without content, and for streams of unknown length.
  public let announcedLength: Int64?
  /// The status of the answer, once there is one.
  public internal(set) var status: Int?
  /// What became of it.
  public internal(set) var outcome = Outcome.inFlight
  /// The id of the call it belongs to.
  public let call: CallID
  /// The endpoint of the call.
  public let endpoint: EndpointIdentity
  /// The tags of the call.
  public let tags: [Tag]
  /// The attempt of the call, from 1.
  public let attempt: Int
  /// The name of the call's environment.
  public let environment: String

  init(id: Int, request: RequestMessage, context: ExchangeContext) {
    self.id = id
    self.request = request
    announcedLength = request.content.isEmpty ? nil : request.content.length
    call = context.call.id
    endpoint = context.call.endpoint
    tags = context.call.tags
    attempt = context.attempt
    environment = context.call.environment
  }

  /// The method.
  public var method: HTTPRequest.Method { request.head.method }
  /// Path and query as sent.
  public var target: String { request.target }
  /// The fields of the request.
  public var fields: HTTPFields { request.head.headerFields }
  /// The content as text.
  public var text: String { String(decoding: content, as: UTF8.self) }
}

public import ApusCore
public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A request to a stub and its outcome.
public struct StubExchange: Sendable, Identifiable {
  /// The outcome of an exchange.
  public enum Outcome: Sendable, Hashable {
    /// The response is not complete yet.
    case inFlight
    /// The response was complete.
    case replied
    /// The exchange failed as the reply specified.
    case failed
    /// The call was cancelled, the attempt's deadline passed, or the response's content was discarded.
    case cancelled
    /// No rule matched.
    case unmatched
  }

  /// The number of the exchange on this stub, from 0.
  public let id: Int
  /// The request message, with a file's or stream's content replaced by its bytes.
  public internal(set) var request: RequestMessage
  /// The content that was sent.
  public internal(set) var content = Data()
  /// Whether the complete content was sent.
  package internal(set) var isRequestComplete = false
  /// The announced length of the content in bytes; `nil` without content and for streams of unknown length.
  package let announcedLength: Int64?
  /// The status of the response; `nil` before its head.
  public internal(set) var status: Int?
  /// The outcome of the exchange.
  public internal(set) var outcome = Outcome.inFlight
  /// The id of the call.
  package let call: CallID
  /// The endpoint of the call.
  package let endpoint: EndpointIdentity
  /// The tags of the call.
  public let tags: [Tag]
  /// The number of the call's attempt, from 1.
  public let attempt: Int
  /// The name of the call's environment.
  package let environment: String

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
  /// The request target (path and query) as sent.
  public var target: String { request.target }
  /// The fields of the request.
  package var fields: HTTPFields { request.head.headerFields }
  /// Returns the value of a field (header), or `nil` if the request has no such field. The case of the name does not
  /// matter; several lines are joined by ", " (RFC 9110 section 5.3).
  public func field(_ name: String) -> String? { HTTPField.Name(name).flatMap { fields[$0] } }
  /// The content decoded as UTF-8.
  public var text: String { String(decoding: content, as: UTF8.self) }
}

/// A rule of a stub: the requests that it matches and their replies.
struct StubRule: Sendable {
  enum Script: Sendable {
    case listed([StubReply], StubTransport.Exhaustion)
    case made(StubTransport.Handler)
  }

  let id: Int
  /// A description of the requests that the rule matches, for the error when no rule matches.
  let name: String
  let script: Script
  let matches: @Sendable (RequestMessage, ExchangeContext) -> Bool
}

/// A stub's rules and exchanges. A pure state machine.
struct StubState: Sendable {
  private(set) var rules: [StubRule] = []
  private(set) var exchanges: [StubExchange] = []
  /// The number of replies that each rule has returned.
  private var given: [Int: Int] = [:]

  mutating func add(
    _ name: String, _ script: StubRule.Script, _ matches: @escaping @Sendable (RequestMessage, ExchangeContext) -> Bool
  ) {
    rules.append(StubRule(id: rules.count, name: name, script: script, matches: matches))
  }

  /// A clause that lists the rules, newest first.
  var stubbed: String {
    if rules.isEmpty { return "nothing is stubbed" }
    let names = rules.reversed().map(\.name)
    let rest = names.count > 10 ? " and \(names.count - 10) more" : ""
    return "stubbed: " + names.prefix(10).joined(separator: ", ") + rest
  }

  /// Records a request before its content is sent.
  mutating func begin(_ request: RequestMessage, _ context: ExchangeContext) -> Int {
    exchanges.append(StubExchange(id: exchanges.count, request: request, context: context))
    return exchanges.count - 1
  }

  /// Returns an exchange whose request was sent with `content`.
  func exchange(_ number: Int, with content: Data) -> StubExchange {
    var exchange = exchanges[number]
    exchange.content = content
    if !exchange.request.content.isEmpty { exchange.request.content = .bytes(content) }
    exchange.isRequestComplete = true
    return exchange
  }

  mutating func complete(_ exchange: StubExchange) {
    exchanges[exchange.id] = exchange
  }

  /// Returns the next reply of a rule, or `nil` if its replies are used up.
  mutating func next(of rule: Int, _ replies: [StubReply], _ exhaustion: StubTransport.Exhaustion) -> StubReply? {
    let index = given[rule, default: 0]
    given[rule] = index + 1
    if index < replies.count { return replies[index] }
    return exhaustion == .repeatLast ? replies.last : nil
  }

  /// Records the status. Returns whether the response has content (RFC 9110 §6.4.1).
  mutating func recordReply(_ number: Int, _ status: Int) -> Bool {
    exchanges[number].status = status
    return exchanges[number].method != .head && ![204, 304].contains(status)
  }

  mutating func end(_ number: Int, _ outcome: StubExchange.Outcome) {
    guard exchanges[number].outcome == .inFlight else { return }
    exchanges[number].outcome = outcome
  }

  mutating func fail(_ number: Int, _ error: any Error) {
    end(number, error is CancellationError ? .cancelled : .failed)
  }
}

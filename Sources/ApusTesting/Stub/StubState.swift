import ApusCore
import HTTPTypes

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One thing a stub was told: which requests it is about and what to answer.
struct StubRule: Sendable {
  enum Script: Sendable {
    case listed([StubAnswer], StubTransport.Afterwards)
    case made(StubTransport.Answering)
  }

  let id: Int
  /// What it is for, as a test's author reads it when nothing matched.
  let name: String
  let script: Script
  let matches: @Sendable (RequestMessage, ExchangeContext) -> Bool
}

/// A stub's rules and what was sent to it: pure.
struct StubState: Sendable {
  private(set) var rules: [StubRule] = []
  private(set) var exchanges: [StubExchange] = []
  /// How many answers each rule has given.
  private var given: [Int: Int] = [:]

  mutating func add(
    _ name: String, _ script: StubRule.Script, _ matches: @escaping @Sendable (RequestMessage, ExchangeContext) -> Bool
  ) {
    rules.append(StubRule(id: rules.count, name: name, script: script, matches: matches))
  }

  /// What is stubbed, the newest first, as half a sentence.
  var stubbed: String {
    if rules.isEmpty { return "nothing is stubbed" }
    let names = rules.reversed().map(\.name)
    let rest = names.count > 10 ? " and \(names.count - 10) more" : ""
    return "stubbed are " + names.prefix(10).joined(separator: ", ") + rest
  }

  /// Records a request whose content is still to come.
  mutating func begin(_ request: RequestMessage, _ context: ExchangeContext) -> Int {
    exchanges.append(StubExchange(id: exchanges.count, request: request, context: context))
    return exchanges.count - 1
  }

  /// An exchange whose request has been sent with all of its content.
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

  /// The next answer of a rule; `nil` when there is none.
  mutating func next(of rule: Int, _ answers: [StubAnswer], _ afterwards: StubTransport.Afterwards) -> StubAnswer? {
    let index = given[rule, default: 0]
    given[rule] = index + 1
    if index < answers.count { return answers[index] }
    return afterwards == .repeatLast ? answers.last : nil
  }

  /// Notes the status; answers whether content follows it (RFC 9110 §6.4.1).
  mutating func answer(_ number: Int, _ status: Int) -> Bool {
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

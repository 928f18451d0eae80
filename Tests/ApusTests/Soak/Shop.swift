#if os(Linux)
import ApusTestServer
import ApusTesting
import Foundation
import Synchronization

/// Two servers that count their executions. The first requires a token and an idempotency key and redirects every fifth
/// order to the second. Both fail at random, before and after execution.
final class Shop: Sendable {
  /// The records of executions.
  struct Books {
    /// The executions of each order, each with its key.
    var orders: [Int: [String?]] = [:]
    /// The number of draws of each ticket.
    var tickets: [Int: Int] = [:]
    /// The number of refreshes of each token generation.
    var refreshes: [Int: Int] = [:]
    /// Keys received by the other server.
    var strayKeys = 0
    /// The number of requests rejected because of an old token.
    var unauthorized = 0
  }

  private struct State {
    var books = Books()
    var random: SeededGenerator
    /// The valid token generation.
    var generation = 1
    /// The number of requests for which the generation is still valid.
    var remaining = Shop.lifetime
    /// The executed orders, by key.
    var known: [String: Int] = [:]

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
  }

  /// The number of requests for which a token is valid: far more than run concurrently, so that every waiter can use
  /// the token.
  private static let lifetime = 400

  private let state: Mutex<State>

  init(seed: UInt64) {
    state = Mutex(State(random: SeededGenerator(seed: seed)))
  }

  var books: Books { state.withLock { $0.books } }

  /// Returns the reply of the first server.
  ///
  /// - Parameter elsewhere: the origin of the other server.
  func reply(to request: RecordedRequest, elsewhere: String?) -> Reply {
    state.withLock { state in
      let reply = Self.reply(to: request, elsewhere, &state)
      // Closes the connection unannounced after the response, perhaps with the next request in flight.
      return state.chance(8) ? Reply(steps: reply.steps + [.close]) : reply
    }
  }

  /// Returns the reply of the other server, which needs neither tokens nor keys.
  func replyElsewhere(to request: RecordedRequest) -> Reply {
    state.withLock { state in
      if request.fields["Idempotency-Key"] != nil { state.books.strayKeys += 1 }
      guard let number = Self.number(in: request) else { return .status(400) }
      if state.chance(20) { return .closed }
      state.books.orders[number, default: []].append(nil)
      if state.chance(25) { return .closed }
      return .status(state.chance(30) ? 503 : 201)
    }
  }

  private static func reply(to request: RecordedRequest, _ elsewhere: String?, _ state: inout State) -> Reply {
    if request.path == "/token" { return tokens(for: request.text, &state) }
    guard state.remaining > 0, request.fields["Authorization"] == "Bearer a\(state.generation)" else {
      state.books.unauthorized += 1
      return .status(401, fields: ["WWW-Authenticate": "Bearer"])
    }
    state.remaining -= 1
    guard let number = number(in: request) else { return .status(204) }
    if request.path.hasPrefix("/tickets") { return ticket(number, &state) }
    if number % 5 == 0, let elsewhere { return .status(307, fields: ["Location": "\(elsewhere)/orders"]) }
    return order(number, key: request.fields["Idempotency-Key"], &state)
  }

  private static func tokens(for text: String, _ state: inout State) -> Reply {
    guard let mark = text.range(of: "refresh_token=r"), let number = Int(text[mark.upperBound...]) else {
      return .status(400)
    }
    state.books.refreshes[number, default: 0] += 1
    guard number == state.generation else { return .json(#"{"error":"invalid_grant"}"#, status: 400) }
    state.generation += 1
    state.remaining = lifetime
    let next = state.generation
    return .json(#"{"access_token":"a\#(next)","refresh_token":"r\#(next)"}"#)
  }

  private static func order(_ number: Int, key: String?, _ state: inout State) -> Reply {
    if state.chance(12) { return .status(503) }
    // If the key is known, the order was executed before.
    if let key, state.known[key] != nil { return .status(201) }
    state.books.orders[number, default: []].append(key)
    if let key { state.known[key] = number }
    if state.chance(10) { return .closed }
    return .status(state.chance(10) ? 500 : 201)
  }

  private static func ticket(_ number: Int, _ state: inout State) -> Reply {
    state.books.tickets[number, default: 0] += 1
    if state.chance(15) { return .closed }
    return .status(state.chance(15) ? 503 : 200)
  }

  /// Returns the number of an order or a ticket: its content, or the end of its path.
  private static func number(in request: RecordedRequest) -> Int? {
    Int(request.text) ?? request.path.split(separator: "/").last.flatMap { Int($0) }
  }
}
#endif

import Apus
import Synchronization

/// A counter of exchanges in flight, which records every violation of a limit.
final class Meter: Sendable {
  /// An exchange in flight.
  struct Entry: Sendable {
    let origin: String
    let tags: [Tag]
  }

  private struct State {
    var inside = 0
    var most = 0
    var origins: [String: Int] = [:]
    var tags: [Tag: Int] = [:]
    var excesses: [String] = []
  }

  private let limits: ConcurrencyLimits
  private let state = Mutex(State())

  /// Creates a meter with limits. Default: no limits.
  init(_ limits: ConcurrencyLimits = ConcurrencyLimits(global: .max, perOrigin: .max)) {
    self.limits = limits
  }

  /// The number of exchanges in flight.
  var inside: Int { state.withLock { $0.inside } }

  /// The highest number of exchanges in flight.
  var most: Int { state.withLock { $0.most } }

  /// The violations of limits.
  var excesses: [String] { state.withLock { $0.excesses } }

  func enter(_ entry: Entry) {
    state.withLock { state in
      state.inside += 1
      state.most = max(state.most, state.inside)
      state.origins[entry.origin, default: 0] += 1
      for tag in entry.tags { state.tags[tag, default: 0] += 1 }
      note(entry, &state)
    }
  }

  func leave(_ entry: Entry) {
    leaveOrigin(entry)
    leaveTags(entry)
  }

  /// Removes an exchange from the total and its origin.
  func leaveOrigin(_ entry: Entry) {
    state.withLock { state in
      state.inside -= 1
      state.origins[entry.origin, default: 0] -= 1
    }
  }

  /// Removes an exchange from its tags.
  func leaveTags(_ entry: Entry) {
    state.withLock { state in
      for tag in entry.tags { state.tags[tag, default: 0] -= 1 }
    }
  }

  private func note(_ entry: Entry, _ state: inout State) {
    if state.inside > limits.global { state.excesses.append("\(state.inside) in all") }
    let count = state.origins[entry.origin, default: 0]
    if count > limits.perOrigin { state.excesses.append("\(count) to \(entry.origin)") }
    for tag in entry.tags {
      let count = state.tags[tag, default: 0]
      if let limit = limits.tags[tag], count > limit { state.excesses.append("\(count) with \(tag)") }
    }
  }
}

/// A transport whose exchanges are counted until their content ends. The exchange of a streamed call counts toward the
/// total and its origin until the head, and toward its tags until the content ends.
struct MeteredTransport: Transport {
  let inner: any Transport
  let meter: Meter

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    // Shared work needs no permit.
    guard !context.values[SharedWorkKey.self] else { return try await inner.send(request, context: context) }
    let entry = Meter.Entry(origin: request.head.authority ?? "", tags: context.call.tags)
    meter.enter(entry)
    do {
      let response = try await inner.send(request, context: context)
      let isStreamed = context.delivery == .streamed
      if isStreamed { meter.leaveOrigin(entry) }
      response.content.onEnd { [meter] _ in isStreamed ? meter.leaveTags(entry) : meter.leave(entry) }
      return response
    } catch {
      meter.leave(entry)
      throw error
    }
  }
}

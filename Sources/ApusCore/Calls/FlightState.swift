/// One exchange that several calls wait for: pure, its shell resumes the waiters that it answers.
///
/// It ends with its result, or when the last waiter has left; one waiter leaving changes nothing for others.
struct FlightState<Waiter: Sendable>: Sendable {
  enum Joining: Sendable {
    case waits
    case resume(Waiter, with: Result<ResponseMessage, any Error>)
  }

  private let terms: FlightTerms
  private var waiters: [UInt64: Waiter] = [:]
  private var expected: Set<UInt64> = []
  private var left: Set<UInt64> = []
  private var result: Result<ResponseMessage, any Error>?
  private var isAbandoned = false

  init(terms: FlightTerms = .named) {
    self.terms = terms
  }

  /// A call wants in; answers `false` when the flight is over, is being cancelled since all have left it, or has come
  /// too far for another one to join.
  mutating func expect(_ id: UInt64, at progress: AnswerProgress = AnswerProgress()) -> Bool {
    guard result == nil, !isAbandoned, terms.admit(at: progress) else { return false }
    expected.insert(id)
    return true
  }

  /// The call waits now.
  mutating func wait(_ waiter: Waiter, id: UInt64) -> Joining {
    if left.remove(id) != nil { return .resume(waiter, with: .failure(CancellationError())) }
    if let result { return .resume(waiter, with: result) }
    waiters[id] = waiter
    return .waits
  }

  /// The call was cancelled. Answers its waiter, and whether nobody is left.
  mutating func leave(_ id: UInt64) -> (waiter: Waiter?, isAbandoned: Bool) {
    guard expected.remove(id) != nil else { return (nil, false) }
    let waiter = waiters.removeValue(forKey: id)
    if waiter == nil { left.insert(id) }
    // Whoever comes now starts anew: this exchange is being cancelled.
    isAbandoned = expected.isEmpty && result == nil
    return (waiter, isAbandoned)
  }

  /// The exchange is over. Answers who waits for it.
  mutating func complete(_ result: Result<ResponseMessage, any Error>) -> [Waiter] {
    guard self.result == nil else { return [] }
    self.result = result
    defer { waiters = [:] }
    // In an order, so that what follows can be repeated.
    return waiters.sorted { $0.key < $1.key }.map(\.value)
  }
}

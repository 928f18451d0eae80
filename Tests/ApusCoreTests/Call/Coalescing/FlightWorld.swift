import ApusTesting
import HTTPTypes

@testable import ApusCore

/// A simulation of calls that share exchanges in random steps, with a simple model that predicts each outcome.
struct FlightWorld {
  /// A simulated shared exchange, without real calls and tasks.
  final class Plane {
    let number: Int
    let key: Int
    var state: FlightState<Int>
    var sharers = SharersState<Int, Int>()
    var progress = ResponseProgress()
    /// The highest priority reported to the listener.
    var urgency: Int
    var isOver = false
    var isAbandoned = false

    init(_ number: Int, _ key: Int, _ terms: FlightTerms, _ urgency: Int) {
      (self.number, self.key, self.urgency) = (number, key, urgency)
      state = FlightState(terms: terms)
      _ = sharers.listen(0)
    }
  }

  struct Caller {
    let plane: Plane
    let priority: Int
    var isWaiting = false
    var hasLeft = false
    var answer: String?
  }

  /// The number of keys. Key 0 is for calls with a named id.
  static let keys = 4
  static let bytes: Int64 = 10

  private static let answer = Result<ResponseMessage, any Error>.success(
    ResponseMessage(head: HTTPResponse(status: .ok)))

  let limit: Int
  var random: SeededGenerator
  var table = FlightTable<Int, Plane>()
  var planes: [Plane] = []
  var newest: [Int: Plane] = [:]
  var callers: [UInt64: Caller] = [:]
  var nextSerial: UInt64 = 0
  var problems: [String] = []

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    limit = Int.random(in: 1...4, using: &random)
  }

  private var running: [Plane] { planes.filter { !$0.isOver } }

  mutating func step() {
    switch Int.random(in: 0..<12, using: &random) {
    case 0..<5: come()
    case 5..<7: wait()
    case 7..<9: leave()
    case 9..<11: proceed()
    default: complete(running.randomElement(using: &random))
    }
    check()
  }

  /// Makes every call wait, and ends every exchange.
  mutating func finish() {
    for plane in running { complete(plane) }
    for serial in callers.keys.sorted() where callers[serial]?.answer == nil { wait(serial) }
    check()
    if callers.values.contains(where: { $0.answer == nil }) { problems.append("somebody waits for ever") }
    if !table.isEmpty { problems.append("left something behind") }
  }

  // MARK: Steps

  private mutating func come() {
    nextSerial += 1
    let (serial, key) = (nextSerial, Int.random(in: 0..<Self.keys, using: &random))
    let priority = Int.random(in: 0..<5, using: &random)
    let (open, isFull) = (joinable(key), running.count >= limit && key > 0)
    let terms: FlightTerms = key == 0 ? .named : FlightTerms(bytes: Self.bytes, joinsNoStore: false)
    let made = Plane(planes.count, key, terms, priority)
    let entry = table.enter(key, limit: key == 0 ? .max : limit) { plane in
      plane.state.expect(serial, at: plane.progress)
    } make: {
      _ = made.state.expect(serial)
      return made
    }
    switch entry {
    case .joined(let plane):
      if plane !== open { problems.append("one joins what it must not") }
      take(serial, in: plane, priority)
    case .began(let plane, let other):
      if open != nil || isFull { problems.append("one begins that need or must not") }
      if other !== newest[key] { problems.append("it cannot say what it did not join") }
      planes.append(plane)
      newest[key] = plane
      take(serial, in: plane, priority)
    case .alone:
      if open != nil || !isFull { problems.append("one goes alone that need not") }
    }
  }

  private mutating func take(_ serial: UInt64, in plane: Plane, _ priority: Int) {
    callers[serial] = Caller(plane: plane, priority: priority)
    let told = plane.sharers.join(priority, serial)
    if told != [0] { problems.append("whoever listens is not told") }
    plane.urgency = max(plane.urgency, priority)
  }

  private mutating func wait() {
    let some = callers.filter { !$0.value.isWaiting && $0.value.answer == nil }.keys.sorted()
    if let serial = some.randomElement(using: &random) { wait(serial) }
  }

  private mutating func wait(_ serial: UInt64) {
    guard let caller = callers[serial] else { return }
    switch caller.plane.state.wait(Int(serial), id: serial) {
    case .waits:
      if caller.plane.isOver || caller.hasLeft { problems.append("one waits in vain") }
      callers[serial]?.isWaiting = true
    case .resume(let waiter, .success):
      if !caller.plane.isOver || caller.hasLeft { problems.append("one is answered too early, or though it left") }
      answer(UInt64(waiter), "answered")
    case .resume(let waiter, .failure):
      if !caller.hasLeft { problems.append("one is sent away that did not leave") }
      answer(UInt64(waiter), "cancelled")
    }
  }

  private mutating func leave() {
    let some = callers.filter { !$0.value.hasLeft && $0.value.answer == nil }.keys.sorted()
    guard let serial = some.randomElement(using: &random), let caller = callers[serial] else { return }
    let (waiter, isAbandoned) = caller.plane.state.leave(serial)
    caller.plane.sharers.leave(serial)
    callers[serial]?.hasLeft = true
    let isLast = !caller.plane.isOver && inside(caller.plane).isEmpty
    if isAbandoned != isLast { problems.append("an exchange is given up too early or not at all") }
    if (waiter != nil) != caller.isWaiting { problems.append("one that waits is forgotten as it leaves") }
    if isAbandoned { caller.plane.isAbandoned = true }
    if waiter != nil { answer(serial, "cancelled") }
  }

  private mutating func proceed() {
    guard let plane = running.randomElement(using: &random) else { return }
    if Int.random(in: 0..<5, using: &random) == 0 { plane.progress.isNoStore.toggle() }
    plane.progress.bytes += Int64.random(in: 0...6, using: &random)
  }

  private mutating func complete(_ plane: Plane?) {
    guard let plane else { return }
    let expected = callers.filter { $0.value.plane === plane && $0.value.isWaiting && $0.value.answer == nil }.keys
    table.end(plane, plane.key)
    let told = plane.state.complete(Self.answer)
    if told.sorted() != expected.map({ Int($0) }).sorted() { problems.append("others are answered than wait") }
    for waiter in told { answer(UInt64(waiter), "answered") }
    plane.isOver = true
    if newest[plane.key] === plane { newest[plane.key] = nil }
  }

  private mutating func answer(_ serial: UInt64, _ how: String) {
    if callers[serial]?.answer != nil { problems.append("\(serial) is told twice") }
    callers[serial]?.answer = how
  }

  // MARK: Predictions

  /// The exchange that a call with this key should join.
  private func joinable(_ key: Int) -> Plane? {
    guard let plane = newest[key], !plane.isAbandoned else { return nil }
    guard key > 0 else { return plane }
    return plane.progress.bytes <= Self.bytes && !plane.progress.isNoStore ? plane : nil
  }

  /// The priorities of the calls that share the exchange and have not left it, in order of joining.
  private func inside(_ plane: Plane) -> [Int] {
    callers.sorted { $0.key < $1.key }.filter { $0.value.plane === plane && !$0.value.hasLeft }.map(\.value.priority)
  }

  private mutating func check() {
    if table.count != running.count { problems.append("miscounts exchanges") }
    for plane in running {
      let present = inside(plane)
      if plane.sharers.members != present { problems.append("miscounts who shares") }
      if plane.urgency < present.max() ?? 0 { problems.append("is less urgent than one that waits") }
    }
  }
}

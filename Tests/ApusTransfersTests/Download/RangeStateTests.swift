import ApusTesting
import HTTPTypes
import Testing

@testable import ApusTransfers

@Suite("The state of a download with several ranges")
struct RangeStateTests {
  private static let known = Representation(validator: .entityTag(#""a""#), total: 100)

  private static func head(_ status: Int, _ range: String? = nil, tag: String? = #""a""#) -> HTTPResponse {
    var head = HTTPResponse(status: .init(code: status))
    head.headerFields[.contentRange] = range
    head.headerFields[.eTag] = tag
    if status == 200 { head.headerFields[.contentLength] = "100" }
    return head
  }

  private func state(
    _ lanes: Int = 4, minimum: Int64 = 10, present: [Range<Int64>] = [], continuations: Int = 2
  ) throws -> RangeState {
    let rules = RangeState.Rules(lanes: lanes, minimum: minimum, continuations: continuations)
    return try #require(RangeState(rules, Self.known, present: ByteRanges(present)))
  }

  private func ranges(_ state: inout RangeState, _ lanes: Range<Int>) -> [Range<Int64>?] {
    lanes.map { state.next(for: $0) }
  }

  // MARK: Requests

  @Test(
    "The missing bytes are cut into equal ranges, the longest gaps first, and no range is below the minimum",
    arguments: [
      (4, 10, [], [0..<25, 25..<50, 50..<75, 75..<100]), (3, 10, [], [0..<33, 33..<66, 66..<100]),
      (4, 40, [], [0..<50, 50..<100]), (4, 51, [], [0..<100]), (1, 10, [], [0..<100]),
      (4, 10, [0..<60], [60..<70, 70..<80, 80..<90, 90..<100]), (4, 10, [0..<75], [75..<87, 87..<100]),
      (3, 10, [10..<20, 30..<40], [0..<10, 20..<30, 40..<100]),
      (4, 10, [10..<20, 30..<40], [0..<10, 20..<30, 40..<70, 70..<100]),
      (1, 10, [10..<20], [0..<10, 20..<100]), (2, 10, [0..<10, 20..<90], [10..<20, 90..<100]),
    ] as [(Int, Int64, [Range<Int64>], [Range<Int64>])])
  func cut(_ lanes: Int, _ minimum: Int64, _ present: [Range<Int64>], _ cut: [Range<Int64>]) throws {
    var state = try state(lanes, minimum: minimum, present: present)
    #expect(state.laneCount == min(lanes, cut.count))
    #expect(ranges(&state, 0..<state.laneCount) == cut.prefix(lanes).map { Optional($0) })
  }

  @Test("An idle lane takes over the second half of the longest range, unless it is too short")
  func split() throws {
    var state = try state(2)
    #expect(ranges(&state, 0..<2) == [0..<50, 50..<100])
    _ = state.receive(Self.head(206, "bytes 0-49/100"), on: 0)
    #expect(state.arrive(50, on: 0) == .write(50))
    state.reach(50, on: 0)
    #expect(state.endContent(on: 0, isWhole: true) == nil && state.next(for: 0) == 75..<100)
    _ = state.receive(Self.head(206, "bytes 50-99/100"), on: 1)
    #expect(state.arrive(6, on: 1) == .write(6) && state.arrive(30, on: 1) == .last(19))
    state.reach(75, on: 1)
    #expect(state.endContent(on: 1, isWhole: false) == nil)
    #expect(state.next(for: 1) == 87..<100 && state.next(for: 0) == 75..<87)
    _ = state.receive(Self.head(206, "bytes 87-99/100"), on: 1)
    #expect(state.arrive(13, on: 1) == .write(13))
    state.reach(100, on: 1)
    #expect(state.next(for: 1) == nil && state.laneCount == 1 && state.end == nil && state.arrived == 88)
    _ = state.receive(Self.head(206, "bytes 75-99/100"), on: 0)
    #expect(state.arrive(25, on: 0) == .last(12))
    state.reach(87, on: 0)
    #expect(state.end == .complete && state.present.ranges == [0..<100] && state.next(for: 0) == nil)
  }

  // MARK: Responses

  @Test(
    "A response to a request for a range determines the next step",
    arguments: [
      (head(206, "bytes 25-49/100"), .write(from: 25), nil), (head(206, "bytes 25-99/*"), .write(from: 25), nil),
      (head(206, "bytes 25-30/100"), .write(from: 25), nil),
      (head(206, "bytes 24-49/100"), .stop, .sequential), (head(206), .stop, .sequential),
      (head(206, "bytes 25-49/101"), .stop, .startOver),
      (head(206, "bytes 25-49/100", tag: #""b""#), .stop, .startOver),
      (head(206, "bytes 25-49/100", tag: nil), .stop, .startOver), (head(416, "bytes */100"), .stop, .startOver),
      (head(200), .stop, .sequential), (head(200, tag: #""b""#), .stop, .startOver),
      (head(200, tag: nil), .stop, .startOver), (head(203), .stop, .startOver),
      (head(204), .stop, .sequential), (head(304), .stop, .sequential), (head(501), .stop, .sequential),
    ] as [(HTTPResponse, RangeState.Step, RangeState.End?)])
  func response(_ head: HTTPResponse, _ step: RangeState.Step, _ end: RangeState.End?) throws {
    var state = try state()
    #expect(ranges(&state, 0..<2) == [0..<25, 25..<50])
    #expect(state.receive(head, on: 1) == step && state.end == end)
    // Later responses have no effect.
    if end != nil { #expect(state.receive(Self.head(206, "bytes 0-24/100"), on: 0) == .stop && state.end == end) }
  }

  @Test("If the server ignores ranges, the first response continues alone to the end of the file")
  func ignored() throws {
    var state = try state(present: [0..<20])
    state.adopt(until: 100)
    #expect(ranges(&state, 1..<3) == [40..<60, 60..<80])
    _ = state.receive(Self.head(206, "bytes 40-59/100"), on: 1)
    #expect(state.arrive(5, on: 1) == .write(5) && state.arrive(15, on: 0) == .write(15))
    #expect(state.receive(Self.head(200), on: 2) == .stop && state.end == nil)
    #expect(ranges(&state, 1..<4) == [nil, nil, nil] && state.arrive(5, on: 1) == .last(0))
    state.reach(45, on: 1)
    #expect(state.arrived == 35 && state.arrive(65, on: 0) == .write(65))
    state.reach(100, on: 0)
    #expect(state.end == .complete)
  }

  @Test("A part that the transport has decoded is not accepted as a part of the file")
  func decoded() throws {
    var state = try state()
    #expect(ranges(&state, 0..<2) == [0..<25, 25..<50])
    #expect(state.receive(Self.head(206, "bytes 25-49/100"), isDecoded: true, on: 1) == .stop)
    #expect(state.end == .sequential)
  }

  @Test("If the server ignores a range after the first response has ended, the download continues with one range")
  func ignoredLater() throws {
    var state = try state()
    state.adopt(until: 100)
    _ = state.next(for: 1)
    #expect(state.arrive(40, on: 0) == .last(25))
    // Lane 1 requests no further range, although the bytes of the first response are not yet written.
    #expect(state.receive(Self.head(200), on: 1) == .stop && state.end == .sequential)
    state.reach(25, on: 0)
    #expect(state.present.prefix == 25 && state.next(for: 0) == nil)
  }

  @Test("Content must have the announced length; after a shorter range the next range is requested")
  func lengths() throws {
    var state = try state()
    _ = state.next(for: 0)
    _ = state.receive(Self.head(206, "bytes 0-9/100"), on: 0)
    #expect(state.arrive(9, on: 0) == .write(9))
    state.reach(9, on: 0)
    #expect(state.endContent(on: 0, isWhole: true) == .wrongLength && state.next(for: 0) == 9..<25)
    _ = state.receive(Self.head(206, "bytes 9-9/100"), on: 0)
    _ = state.arrive(1, on: 0)
    state.reach(10, on: 0)
    #expect(state.endContent(on: 0, isWhole: true) == nil && state.next(for: 0) == 10..<25)
  }

  @Test("A server cannot make a download send an unbounded number of requests")
  func bounds() throws {
    let rules = RangeState.Rules(lanes: 1, minimum: 10, continuations: 2)
    let long = Representation(validator: .entityTag(#""a""#), total: 5000)
    var state = try #require(RangeState(rules, long, present: ByteRanges([0..<1])))
    for offset in Int64(1)...1001 {
      #expect(state.next(for: 0) == offset..<5000)
      _ = state.receive(Self.head(206, "bytes \(offset)-\(offset)/5000"), on: 0)
      _ = state.arrive(1, on: 0)
      state.reach(offset + 1, on: 0)
      #expect(state.endContent(on: 0, isWhole: true) == (offset == 1001 ? .unusableRange : nil))
    }
  }

  @Test("Only files with a strong validator and a length are split")
  func resumable() {
    let rules = RangeState.Rules(lanes: 4, minimum: 10, continuations: 2)
    #expect(RangeState(rules, Representation(validator: nil, total: 100), present: ByteRanges()) == nil)
    #expect(RangeState(rules, Representation(validator: .entityTag(#""a""#), total: nil), present: .init()) == nil)
  }

  // MARK: Failures

  @Test("A lane continues after interruptions as long as bytes arrive, up to its number of continuations")
  func interruptions() throws {
    var state = try state(1)
    for number in 1...3 {
      let offset = Int64(number)
      _ = state.next(for: 0)
      _ = state.receive(Self.head(206, "bytes \(offset - 1)-99/100"), on: 0)
      _ = state.arrive(1, on: 0)
      state.reach(offset, on: 0)
      #expect(state.recordInterruption(of: 0, by: .temporary) == (number < 3 ? .next(number) : .fail))
    }
    #expect(state.end == .failed && state.next(for: 0) == nil)
  }

  @Test("A range that the server rejects is taken over by other lanes; if the last lane is rejected, the download ends")
  func rejected() throws {
    var state = try state(3, minimum: 30)
    #expect(ranges(&state, 0..<3) == [0..<33, 33..<66, 66..<100])
    #expect(
      state.recordInterruption(of: 1, by: .rejected) == .stop && state.next(for: 1) == nil && state.laneCount == 2)
    _ = state.receive(Self.head(206, "bytes 66-99/100"), on: 2)
    _ = state.arrive(34, on: 2)
    state.reach(100, on: 2)
    #expect(state.next(for: 2) == 33..<66)
    #expect(
      state.recordInterruption(of: 0, by: .temporary) == .stop
        && state.recordInterruption(of: 2, by: .rejected) == .fail)
    #expect(state.end == .failed && state.present.ranges == [66..<100])
  }

  @Test("An error that does not come from the server ends the download, and the other lanes stop")
  func permanent() throws {
    var state = try state(2)
    _ = ranges(&state, 0..<2)
    #expect(
      state.recordInterruption(of: 1, by: .permanent) == .fail
        && state.recordInterruption(of: 0, by: .temporary) == .stop)
    #expect(state.end == .failed && state.next(for: 0) == nil)
    state.fail()
    #expect(state.end == .failed)
  }

  // MARK: Interleavings

  /// A server with ranges, lanes that run in any order, and a file that counts how often each byte was written.
  private struct Model {
    let total: Int64
    var state: RangeState
    var generator: SeededGenerator
    var written: [Int]
    var lanes: [Int: (requested: Range<Int64>, offset: Int64, contentEnd: Int64?)?] = [:]
    var progress: Int64 = 0

    mutating func pick(_ bound: Int64) -> Int64 { Int64.random(in: 0..<max(bound, 1), using: &generator) }

    /// Performs one step of a lane. Returns whether the lane continues.
    mutating func step(_ lane: Int) -> Bool {
      guard let known = lanes[lane], let (requested, offset, contentEnd) = known else {
        guard let range = state.next(for: lane) else { return false }
        lanes[lane] = (range, range.lowerBound, nil)
        return true
      }
      guard let contentEnd else {
        let last = pick(5) == 0 ? offset + pick(requested.upperBound - offset) : requested.upperBound - 1
        let head = RangeStateTests.head(206, "bytes \(offset)-\(last)/\(total)")
        #expect(state.receive(head, on: lane) == (state.end == nil ? .write(from: offset) : .stop))
        lanes[lane] = state.end == nil ? (requested, offset, last + 1) : .some(nil)
        return true
      }
      return pick(20) == 0 ? interrupt(lane, at: offset) : read(lane, from: offset, to: contentEnd)
    }

    private mutating func read(_ lane: Int, from offset: Int64, to contentEnd: Int64) -> Bool {
      let count = min(1 + pick(40), contentEnd - offset)
      let (taken, isLast): (Int, Bool) =
        switch state.arrive(Int(count), on: lane) {
        case .write(let taken): (taken, false)
        case .last(let taken): (taken, true)
        }
      let end = offset + Int64(taken)
      for byte in offset..<end { written[Int(byte)] += 1 }
      #expect(state.arrived >= progress && state.arrived <= total)
      progress = state.arrived
      lanes[lane]??.offset = end
      guard isLast || end == contentEnd else { return true }
      state.reach(end, on: lane)
      #expect(state.endContent(on: lane, isWhole: !isLast) == nil)
      lanes[lane] = .some(nil)
      return true
    }

    /// Loses the connection. The bytes that have arrived are written.
    private mutating func interrupt(_ lane: Int, at offset: Int64) -> Bool {
      state.reach(offset, on: lane)
      lanes[lane] = .some(nil)
      let failure: RangeState.Failure = pick(3) == 0 ? .rejected : .temporary
      if case .next = state.recordInterruption(of: lane, by: failure) { return true }
      return false
    }
  }

  @Test("In any order of events, each byte is written exactly once, unless the last lane fails", arguments: 0..<200)
  func interleavings(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let total = Int64.random(in: 100..<3000, using: &generator)
    let first = Int64.random(in: 0..<total, using: &generator)
    let present = ByteRanges([first..<min(total, first + 50), 0..<Int64.random(in: 0..<40, using: &generator)])
    let rules = RangeState.Rules(lanes: Int.random(in: 1...6, using: &generator), minimum: 20, continuations: 50)
    let known = Representation(validator: .entityTag(#""a""#), total: total)
    let state = try #require(RangeState(rules, known, present: present))
    var model = Model(
      total: total, state: state, generator: generator, written: [Int](repeating: 0, count: Int(total)))
    for byte in present.ranges.flatMap({ Array($0) }) { model.written[Int(byte)] = 1 }
    var running = Set(0..<state.laneCount)
    while let lane = running.sorted().randomElement(using: &model.generator) {
      if !model.step(lane) { running.remove(lane) }
    }
    #expect(model.state.end == .complete || model.state.end == .failed)
    #expect(model.written.allSatisfy { $0 <= 1 })
    let there = model.written.indices.filter { model.written[$0] == 1 }.map { Int64($0) }
    #expect(there == model.state.present.ranges.flatMap { Array($0) })
    if model.state.end == .complete { #expect(there.count == Int(total)) }
  }
}

import ApusTesting
import Synchronization
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Content channels") struct ContentChannelTests {
  private struct Broke: Error {}

  private func data(_ count: Int) -> Data { Data(repeating: 7, count: count) }

  @Test("A content channel returns its pieces in order, then nil repeatedly")
  func order() async throws {
    let channel = ContentChannel {}
    for text in ["a", "b", "c"] { #expect(channel.push(Data(text.utf8))) }
    channel.finish()
    channel.finish(throwing: Broke())
    channel.push(Data("late".utf8))
    for text in ["a", "b", "c"] { #expect(try await channel.next() == Data(text.utf8)) }
    #expect(try await channel.next() == nil)
    #expect(try await channel.next() == nil)
  }

  @Test("A content channel returns the pieces before an error, then throws the error repeatedly")
  func error() async throws {
    let channel = ContentChannel {}
    channel.push(data(1))
    channel.finish(throwing: Broke())
    channel.finish()
    #expect(try await channel.next()?.count == 1)
    for _ in 0..<2 { await #expect(throws: Broke.self) { try await channel.next() } }
  }

  @Test("Empty pieces of content are skipped")
  func emptyPieces() async throws {
    let channel = ContentChannel {}
    #expect(channel.push(Data()))
    channel.push(data(2))
    channel.push(Data())
    channel.finish()
    #expect(try await channel.next()?.count == 2)
    #expect(try await channel.next() == nil)
  }

  @Test(
    "The sender is paused at the high-water mark, and resumed once half of the mark is read",
    arguments: [1, 2, 3, 10, 1 << 10])
  func demand(mark: Int) async throws {
    let demands = Counter()
    let channel = ContentChannel(highWaterMark: mark, onDemand: { demands.add() }, onCancel: {})
    var pushed = 0
    while channel.push(data(1)) { pushed += 1 }
    #expect(pushed == mark - 1)
    var read = 0
    while demands.value == 0 {
      _ = try await channel.next()
      read += 1
      try #require(read <= mark)
    }
    #expect(mark - read <= mark / 2)
    for _ in read..<mark { _ = try await channel.next() }
    #expect(demands.value == 1)
  }

  @Test("No more content is demanded after the end")
  func noDemandAfterEnd() async throws {
    let demands = Counter()
    let channel = ContentChannel(highWaterMark: 2, onDemand: { demands.add() }, onCancel: {})
    #expect(!channel.push(data(4)))
    channel.finish()
    #expect(try await channel.next()?.count == 4)
    #expect(try await channel.next() == nil)
    #expect(demands.value == 0)
  }

  @Test("Cancelling a content channel discards queued pieces, notifies the transport once and ends every read")
  func cancel() async throws {
    let cancels = Counter()
    let channel = ContentChannel { cancels.add() }
    channel.push(data(1))
    channel.cancel()
    channel.cancel()
    #expect(channel.push(data(1)))
    channel.finish()
    for _ in 0..<2 { await #expect(throws: CancellationError.self) { try await channel.next() } }
    #expect(cancels.value == 1)
  }

  @Test("Cancelling a content channel after the end does not notify the transport")
  func cancelAfterEnd() async {
    let cancels = Counter()
    let channel = ContentChannel { cancels.add() }
    channel.push(data(1))
    channel.finish()
    channel.cancel()
    #expect(cancels.value == 0)
    await #expect(throws: CancellationError.self) { try await channel.next() }
  }

  @Test("A waiting reader of a content channel receives the next piece, the end, the error or the cancellation")
  func waiting() async throws {
    for ending in 0..<4 {
      let channel = ContentChannel {}
      let reader = Task { try await channel.next() }
      await Task.yield()
      switch ending {
      case 0:
        channel.push(data(3))
        #expect(try await reader.value?.count == 3)
      case 1:
        channel.finish()
        #expect(try await reader.value == nil)
      case 2:
        channel.finish(throwing: Broke())
        await #expect(throws: Broke.self) { try await reader.value }
      default:
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        await #expect(throws: CancellationError.self) { try await channel.next() }
      }
    }
  }

  @Test(
    "A content channel agrees with a simple model in any order of sending, ending, cancelling and reading",
    arguments: 0..<20)
  func model(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<50 {
      let (demands, cancels) = (Counter(), Counter())
      let mark = Int.random(in: 1...6, using: &generator)
      let channel = ContentChannel(highWaterMark: mark, onDemand: { demands.add() }, onCancel: { cancels.add() })
      var model = Model(mark: mark)
      for _ in 0..<30 {
        switch Int.random(in: 0...9, using: &generator) {
        case 0...4:
          let piece = data(Int.random(in: 0...3, using: &generator))
          #expect(channel.push(piece) == model.push(piece.count))
        case 5...7 where model.canRead:
          let expected = model.read()
          let read = await Result { () async throws -> Int? in try await channel.next()?.count }
          #expect(read.text == expected)
        case 8:
          let error: (any Error)? = Bool.random(using: &generator) ? Broke() : nil
          channel.finish(throwing: error)
          model.finish(error == nil ? "end" : "broke")
        case 9 where Int.random(in: 0...3, using: &generator) == 0:
          channel.cancel()
          model.cancel()
        default: break
        }
        #expect(demands.value == model.demands && cancels.value == model.cancels)
      }
    }
  }

  @Test("A piece of content is released as soon as it was read, even if the channel is never empty")
  func releasesPieces() async throws {
    let alive = Counter()
    let channel = ContentChannel(highWaterMark: 10_000) {}
    for _ in 0..<3 { channel.push(.counted(1000, in: alive)) }
    for _ in 0..<2000 {
      channel.push(.counted(1000, in: alive))
      #expect(try await channel.next()?.count == 1000)
      #expect(alive.value <= 4)
    }
    channel.finish()
    for _ in 0..<3 { _ = try await channel.next() }
    #expect(alive.value == 0)
  }

  @Test("The storage of a piece queue remains proportional to the queued pieces, however many have passed through")
  func queueStaysShort() {
    var queue = PieceQueue()
    for number in 0..<100 { queue.append(data(number + 1)) }
    for number in 0..<100_000 {
      queue.append(data(number % 7 + 1))
      _ = queue.popFirst()
      #expect(queue.slots.count <= 300)
    }
    var count = 0
    while queue.popFirst() != nil { count += 1 }
    #expect(count == 100 && queue.isEmpty && queue.byteCount == 0)
  }

  @Test("Content sent with back-pressure arrives completely and in order on another thread", arguments: 0..<4)
  func threads(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let sizes = (0..<500).map { _ in Int.random(in: 1...900, using: &generator) }
    let (demand, signal) = AsyncStream.makeStream(of: Void.self)
    let channel = ContentChannel(highWaterMark: 1000, onDemand: { signal.yield() }, onCancel: {})
    let sender = Task {
      var iterator = demand.makeAsyncIterator()
      var byte: UInt8 = 0
      for size in sizes {
        let piece = Data(
          (0..<size).map { _ in
            byte &+= 1
            return byte
          })
        if !channel.push(piece) { await iterator.next() }
      }
      channel.finish()
    }
    var received: [UInt8] = []
    while let piece = try await channel.next() { received += piece }
    await sender.value
    #expect(received.count == sizes.reduce(0, +))
    #expect(received.enumerated().allSatisfy { $1 == UInt8(truncatingIfNeeded: $0 + 1) })
  }
}

extension Data {
  /// Bytes that are counted until they are released.
  fileprivate static func counted(_ count: Int, in alive: Counter) -> Data {
    alive.add()
    return Data(
      bytesNoCopy: .allocate(byteCount: count, alignment: 1), count: count,
      deallocator: .custom { pointer, _ in
        pointer.deallocate()
        alive.add(-1)
      })
  }
}

/// A simple model of a channel that never waits.
private struct Model {
  let mark: Int
  var pieces: [Int] = []
  var end: String?
  var isPaused = false
  var demands = 0
  var cancels = 0

  var canRead: Bool { !pieces.isEmpty || end != nil }

  mutating func push(_ count: Int) -> Bool {
    guard end == nil, count > 0 else { return true }
    pieces.append(count)
    isPaused = pieces.reduce(0, +) >= mark
    return !isPaused
  }

  mutating func read() -> String {
    guard !pieces.isEmpty else { return end ?? "" }
    let piece = pieces.removeFirst()
    if end == nil, isPaused, pieces.reduce(0, +) <= mark / 2 {
      isPaused = false
      demands += 1
    }
    return "\(piece)"
  }

  mutating func finish(_ how: String) {
    if end == nil { end = how }
  }

  mutating func cancel() {
    if end == nil { cancels += 1 }
    (pieces, end) = ([], "cancelled")
  }
}

extension Result where Success == Int?, Failure == any Error {
  fileprivate init(_ work: () async throws -> Int?) async {
    do { self = .success(try await work()) } catch { self = .failure(error) }
  }

  fileprivate var text: String {
    switch self {
    case .success(let count): count.map { "\($0)" } ?? "end"
    case .failure(is CancellationError): "cancelled"
    case .failure: "broke"
    }
  }
}

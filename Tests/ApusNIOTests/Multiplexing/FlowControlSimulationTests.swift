import ApusTesting
import NIOCore
import Testing

@testable import ApusNIO

/// A server that sends content on many streams as its windows permit, and readers of which some are slow or stop.
private struct FlowWorld {
  enum Pace { case fast, slow, stopped }

  struct Stream {
    let pace: Pace
    var window: ReceiveWindow
    /// What the server may still send on the stream.
    var credit = ReceiveWindow.initial
    /// The bytes that have arrived and that the reader has not consumed.
    var unread = 0
    var received = 0
  }

  private var random: SeededGenerator
  private(set) var now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
  private(set) var streams: [Stream]
  private(set) var connection = ConnectionWindow()
  private(set) var credit = ConnectionWindow.size
  private(set) var violations: [String] = []

  init(_ paces: [Pace], seed: UInt64) {
    random = SeededGenerator(seed: seed)
    streams = paces.map { Stream(pace: $0, window: ReceiveWindow()) }
  }

  /// The number of unread bytes of all streams.
  var unread: Int { streams.reduce(0) { $0 + $1.unread } }

  /// Lets the server send a piece on a random stream, then lets a random reader consume.
  mutating func step() {
    now = now + .microseconds(Int64.random(in: 1...2000, using: &random))
    send(on: Int.random(in: streams.indices, using: &random))
    consume(on: Int.random(in: streams.indices, using: &random))
    check()
  }

  /// Sends on a stream as much as the windows permit. Returns the number of bytes.
  @discardableResult
  mutating func send(on index: Int) -> Int {
    let count = min(streams[index].credit, credit, Int.random(in: 1...65_536, using: &random))
    guard count > 0 else { return 0 }
    streams[index].credit -= count
    credit -= count
    if !connection.receive(count) { violations.append("the connection's window is exceeded") }
    if !streams[index].window.receive(count, now: now) { violations.append("a stream's window is exceeded") }
    streams[index].received += count
    streams[index].unread += count
    if streams[index].pace == .fast { consume(on: index, streams[index].unread) }
    return count
  }

  private mutating func consume(on index: Int) {
    guard streams[index].pace == .slow, streams[index].unread > 0 else { return }
    consume(on: index, Int.random(in: 1...streams[index].unread, using: &random))
  }

  private mutating func consume(on index: Int, _ count: Int) {
    streams[index].unread -= count
    connection.consume(count)
    credit += connection.update() ?? 0
    let increment = streams[index].window.consume(count, now: now, roundTrip: .milliseconds(5), growth: 1 << 20)
    streams[index].credit += increment ?? 0
  }

  private mutating func check() {
    if connection.unread != unread { violations.append("the connection counts \(connection.unread) unread") }
    if credit != connection.available { violations.append("the server believes \(credit)") }
    if unread > ConnectionWindow.size { violations.append("too many unread bytes") }
    for stream in streams where stream.credit != stream.window.available {
      violations.append("the server believes \(stream.credit) of a stream")
    }
  }
}

@Suite("Flow control with many readers")
struct FlowControlSimulationTests {
  @Test("Fast streams never wait for a stopped reader", arguments: 1...20)
  func stoppedReader(seed: UInt64) {
    var world = FlowWorld([.stopped] + Array(repeating: .fast, count: 63), seed: seed)
    var waits = 0
    for _ in 0..<200 {
      world.step()
      // Whatever has happened, the server may send on each fast stream at once.
      for index in 1...63 where world.send(on: index) == 0 { waits += 1 }
    }
    #expect(waits == 0)
    #expect(world.violations.isEmpty)
    #expect(world.streams[0].received <= ReceiveWindow.initial)
  }

  @Test("Windows stay in agreement with the server for readers of any pace", arguments: 1...30)
  func paces(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let paces = (0..<Int.random(in: 1...40, using: &random)).map { _ in
      [FlowWorld.Pace.fast, .fast, .slow, .stopped][Int.random(in: 0..<4, using: &random)]
    }
    var world = FlowWorld(paces, seed: seed)
    for _ in 0..<2_000 where world.violations.isEmpty { world.step() }
    #expect(world.violations.isEmpty)
  }
}

import NIOCore
import Testing

@testable import ApusNIO

@Suite("Flow-control windows")
struct WindowsTests {
  private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
  private static let megabyte = 1 << 20

  @Test("A window for sending can become negative and grows up to 2^31 - 1")
  func sendWindow() {
    var window = SendWindow(65_535)
    window.take(65_535)
    #expect(window.change(by: -65_535) == true)
    #expect(window.available == -65_535)
    #expect(window.change(by: Int(Int32.max) + 65_535) == true)
    #expect(window.available == Int(Int32.max))
    #expect(window.change(by: 1) == false)
  }

  @Test("The window of a stream is announced once half of it is consumed")
  func streamUpdate() {
    var window = ReceiveWindow()
    let later = Self.start + .seconds(9)
    #expect(window.receive(Self.megabyte, now: Self.start) == true)
    let half = Self.megabyte / 2
    let early = window.consume(half - 1, now: later, roundTrip: .milliseconds(1), growth: .max)
    #expect(early == nil)
    let due = window.consume(1, now: later, roundTrip: .milliseconds(1), growth: .max)
    #expect(due == half)
    #expect(window.available == half)
  }

  @Test("A stream's window doubles up to 8 MiB while its reader keeps up, and every byte of it is announced")
  func growth() {
    var (window, now) = (ReceiveWindow(), Self.start)
    var (announced, received) = (Self.megabyte, 0)
    var sizes: [Int] = []
    for _ in 0..<80 {
      let count = window.target / 4
      #expect(window.receive(count, now: now) == true)
      received += count
      now = now + .milliseconds(1)
      announced += window.consume(count, now: now, roundTrip: .milliseconds(20), growth: .max) ?? 0
      // What the server believes it may still send.
      #expect(window.available == announced - received)
      #expect(window.available > 0)
      if sizes.last != window.target { sizes.append(window.target) }
    }
    let expected: [Int] = [1 << 20, 2 << 20, 4 << 20, 8 << 20]
    #expect(sizes == expected)
  }

  @Test("A stream's window does not grow if its reader is slow or the connection permits no growth")
  func noGrowth() {
    for (pause, growth) in [(TimeAmount.seconds(1), Int.max), (.zero, 0)] {
      var window = ReceiveWindow()
      #expect(window.receive(Self.megabyte, now: Self.start) == true)
      let increment = window.consume(
        Self.megabyte, now: Self.start + pause, roundTrip: .milliseconds(20), growth: growth)
      #expect(increment == Self.megabyte)
      #expect(window.target == Self.megabyte)
    }
  }

  @Test("Content beyond a window is detected", arguments: [0, 1])
  func exceeded(excess: Int) {
    var window = ReceiveWindow()
    #expect(window.receive(Self.megabyte + excess, now: Self.start) == (excess == 0))
    var connection = ConnectionWindow()
    #expect(connection.receive(ConnectionWindow.size + excess) == (excess == 0))
  }

  @Test("The connection's window is announced once the consumed bytes exceed what the server may still send")
  func connectionUpdate() {
    var window = ConnectionWindow()
    #expect(window.receive(8 << 20) == true)
    window.consume((8 << 20) - 1)
    #expect(window.update() == nil)
    window.consume(1)
    #expect(window.update() == 8 << 20)
    #expect(window.unread == 0)
    #expect(window.update() == nil)
  }

  @Test("Unread content of a stopped reader does not prevent updates for the other readers")
  func stoppedReader() {
    var window = ConnectionWindow()
    // 15 of 16 MiB stay unread.
    #expect(window.receive(15 << 20) == true)
    for _ in 0..<100 {
      let count = window.available
      #expect(count > 0)
      #expect(window.receive(count) == true)
      window.consume(count)
      #expect(window.update() == count)
    }
    #expect(window.unread == 15 << 20)
  }
}

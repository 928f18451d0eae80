import ApusCore
import Testing

import struct ApusTesting.SeededGenerator

@testable import ApusNIO

@Suite("Happy Eyeballs state")
struct HappyEyeballsTests {
  typealias State = HappyEyeballsState<String, String>

  private func at(_ milliseconds: Int) -> MonotonicInstant {
    MonotonicInstant(sinceStart: .milliseconds(milliseconds))
  }

  /// Renders actions as text, for comparison.
  private func text(_ actions: [State.Action]) -> [String] {
    actions.map { action in
      switch action {
      case .connect(let address): "connect \(address)"
      case .wait(let instant): "wait \(instant.sinceStart / .milliseconds(1))"
      case .close(let address): "close \(address)"
      case .succeed(let address): "succeed \(address)"
      case .fail(let failures): "fail " + failures.map { "\($0.address):\($0.failure)" }.joined(separator: " ")
      }
    }
  }

  @Test("A single address is tried without waiting")
  func one() {
    var state = State(["a"])
    #expect(text(state.start(now: at(0))) == ["connect a"])
    #expect(text(state.succeeded("a")) == ["succeed a"])
  }

  @Test("Attempts start 250 ms apart and run in parallel; the first success wins and the other attempts are closed")
  func race() {
    var state = State(["a", "b", "c"])
    #expect(text(state.start(now: at(0))) == ["connect a", "wait 250.0"])
    #expect(text(state.waited(now: at(249))) == [])
    #expect(text(state.waited(now: at(250))) == ["connect b", "wait 500.0"])
    #expect(text(state.succeeded("b")) == ["succeed b", "close a"])
    #expect(text(state.waited(now: at(500))) == [])
    #expect(text(state.succeeded("a")) == ["close a"])
    #expect(text(state.failed("a", "late", now: at(600))) == [])
  }

  @Test("A failure starts the next attempt immediately and restarts the delay")
  func failure() {
    var state = State(["a", "b", "c"])
    _ = state.start(now: at(0))
    #expect(text(state.failed("a", "refused", now: at(10))) == ["connect b", "wait 260.0"])
    #expect(text(state.waited(now: at(250))) == [])
    #expect(text(state.waited(now: at(260))) == ["connect c"])
    #expect(text(state.failed("c", "x", now: at(270))) == [])
    #expect(text(state.succeeded("b")) == ["succeed b"])
  }

  @Test("When no address can be reached, every failure is reported in order")
  func allFail() {
    var state = State(["a", "b"])
    _ = state.start(now: at(0))
    _ = state.waited(now: at(250))
    #expect(text(state.failed("b", "unreachable", now: at(300))) == [])
    #expect(text(state.failed("a", "timeout", now: at(900))) == ["fail b:unreachable a:timeout"])
    #expect(text(state.cancel()) == [])
  }

  @Test("The race fails if there are no addresses")
  func none() {
    var state = State([])
    #expect(text(state.start(now: at(0))) == ["fail "])
  }

  @Test("A duplicate address is tried once")
  func repeated() {
    var state = State(["a", "a", "b", "a"])
    #expect(text(state.start(now: at(0))) == ["connect a", "wait 250.0"])
    #expect(text(state.failed("a", "x", now: at(1))) == ["connect b"])
  }

  @Test("Cancelling closes all attempts, even an attempt that succeeds afterwards")
  func cancelled() {
    var state = State(["a", "b", "c"])
    _ = state.start(now: at(0))
    _ = state.waited(now: at(250))
    #expect(text(state.cancel()) == ["close a", "close b"])
    #expect(text(state.succeeded("a")) == ["close a"])
    #expect(text(state.failed("b", "x", now: at(300))) == [])
    #expect(text(state.waited(now: at(500))) == [])
  }

  @Test(
    "Address families alternate, beginning with the resolver's first",
    arguments: [
      (["6a", "6b", "6c", "4a", "4b"], ["6a", "4a", "6b", "4b", "6c"]),
      (["4a", "4b", "6a"], ["4a", "6a", "4b"]), (["4a", "4b"], ["4a", "4b"]), ([], []),
    ])
  func order(addresses: [String], ordered: [String]) {
    #expect(AddressOrder.interleaved(addresses) { $0.hasPrefix("6") } == ordered)
  }

  @Test(
    "In any order of events the race ends once and leaves no connection open", arguments: 0..<200 as Range<UInt64>)
  func random(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let addresses = (0..<Int.random(in: 0...6, using: &random)).map { "\($0)" }
    var state = State(addresses)
    var underWay: Set<String> = []
    var (opened, closed): (Set<String>, Set<String>) = ([], [])
    var ends = 0
    var now = 0
    var winner: String?
    func perform(_ actions: [State.Action]) {
      for action in actions {
        switch action {
        case .connect(let address): #expect(underWay.insert(address).inserted)
        case .wait(let instant): #expect(instant > at(now))
        case .close(let address):
          underWay.remove(address)
          closed.insert(address)
        case .succeed(let address):
          winner = address
          ends += 1
        case .fail(let failures):
          #expect(failures.count == addresses.count)
          ends += 1
        }
      }
    }
    perform(state.start(now: at(0)))
    for _ in 0..<60 {
      now += Int.random(in: 0...200, using: &random)
      let address = underWay.sorted().randomElement(using: &random)
      switch (Int.random(in: 0..<8, using: &random), address) {
      case (0, let address?):
        underWay.remove(address)
        opened.insert(address)
        perform(state.succeeded(address))
      case (1, let address?):
        underWay.remove(address)
        perform(state.failed(address, "x", now: at(now)))
      default: perform(state.waited(now: at(now)))
      }
    }
    let wasCancelled = ends == 0
    perform(state.cancel())
    #expect(ends == (wasCancelled ? 0 : 1))
    #expect(underWay.isEmpty)
    #expect(opened.subtracting(closed) == Set([winner].compactMap { $0 }))
  }
}

import Testing

@testable import ApusNIO

@Suite("Reading one piece ahead")
struct ReadAheadTests {
  private typealias State = ReadAhead<String, Int>

  private enum Event {
    case take(Int)
    case finish(State.Outcome)
  }

  /// Performs events. Returns the effects of each event: `1:a` if waiter 1 gets piece a, `1:-` for the end, `1:!` for
  /// an error, and `+` if the next piece is read.
  private func performed(_ events: [Event]) -> [String] {
    var state = State()
    return events.map { event in
      let actions =
        switch event {
        case .take(let waiter): state.wait(waiter)
        case .finish(let outcome): state.finish(outcome)
        }
      var text = ""
      if let waiter = actions.waiter {
        switch state.take() {
        case .success(let piece): text = "\(waiter):\(piece ?? "-")"
        case .failure: text = "\(waiter):!"
        }
      }
      return text + (actions.reads ? "+" : "")
    }
  }

  @Test("Nothing is read before the first piece is requested; afterwards one piece is read ahead")
  func ahead() {
    let events: [Event] = [
      .take(1), .finish(.success("a")), .finish(.success("b")), .take(2), .finish(.success("c")), .take(3),
    ]
    #expect(performed(events) == ["+", "1:a+", "", "2:b+", "", "3:c+"])
  }

  @Test("A consumer that is faster than the reader waits for each piece")
  func slowReading() {
    let events: [Event] = [.take(1), .finish(.success("a")), .take(2), .finish(.success("b")), .take(3)]
    #expect(performed(events) == ["+", "1:a+", "", "2:b+", ""])
  }

  @Test("Nothing is read after the end of the file")
  func end() {
    let ahead: [Event] = [.take(1), .finish(.success("a")), .finish(.success(nil)), .take(2), .take(3)]
    #expect(performed(ahead) == ["+", "1:a+", "", "2:-", "3:-"])
    let awaited: [Event] = [.take(1), .finish(.success("a")), .take(2), .finish(.success(nil)), .take(3)]
    #expect(performed(awaited) == ["+", "1:a+", "", "2:-", "3:-"])
  }

  @Test("An error is delivered after the pieces read before it, and nothing is read afterwards")
  func error() {
    let events: [Event] = [
      .take(1), .finish(.success("a")), .finish(.failure(FileFault.changed)), .take(2), .take(3),
    ]
    #expect(performed(events) == ["+", "1:a+", "", "2:!", "3:-"])
    #expect(performed([.take(1), .finish(.failure(FileFault.unreadable)), .take(2)]) == ["+", "1:!", "2:-"])
  }
}

import Testing

@testable import ApusNIO

@Suite("Reading one piece ahead")
struct ReadAheadTests {
  private typealias State = ReadAhead<String, Int>

  private enum Event {
    case take(Int)
    case finish(State.Outcome)
  }

  /// Performs events. Returns what each one does: `1:a` for a piece that waiter 1 gets, `1:-` for the end, `1:!` for an
  /// error, and `+` if the next piece is read.
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

  @Test("Nothing is read before the first piece is taken; then one piece waits while the one before it is sent")
  func ahead() {
    let events: [Event] = [
      .take(1), .finish(.success("a")), .finish(.success("b")), .take(2), .finish(.success("c")), .take(3),
    ]
    #expect(performed(events) == ["+", "1:a+", "", "2:b+", "", "3:c+"])
  }

  @Test("A consumer that is faster than reading waits for each piece")
  func slowReading() {
    let events: [Event] = [.take(1), .finish(.success("a")), .take(2), .finish(.success("b")), .take(3)]
    #expect(performed(events) == ["+", "1:a+", "", "2:b+", ""])
  }

  @Test("Nothing is read after the end, whether it was read ahead or awaited")
  func end() {
    let ahead: [Event] = [.take(1), .finish(.success("a")), .finish(.success(nil)), .take(2), .take(3)]
    #expect(performed(ahead) == ["+", "1:a+", "", "2:-", "3:-"])
    let awaited: [Event] = [.take(1), .finish(.success("a")), .take(2), .finish(.success(nil)), .take(3)]
    #expect(performed(awaited) == ["+", "1:a+", "", "2:-", "3:-"])
  }

  @Test("An error arrives after the pieces before it, and nothing is read after it")
  func error() {
    let events: [Event] = [
      .take(1), .finish(.success("a")), .finish(.failure(FileFault.changed)), .take(2), .take(3),
    ]
    #expect(performed(events) == ["+", "1:a+", "", "2:!", "3:-"])
    #expect(performed([.take(1), .finish(.failure(FileFault.unreadable)), .take(2)]) == ["+", "1:!", "2:-"])
  }
}

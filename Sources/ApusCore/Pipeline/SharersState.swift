/// Who shares something, and who is to be told of those that come: pure.
struct SharersState<Member: Sendable, Listener: Sendable>: Sendable {
  private struct Numbered<Item: Sendable>: Sendable {
    let number: UInt64
    let item: Item
  }

  private var present: [UInt64: Numbered<Member>] = [:]
  private var listeners: [Numbered<Listener>] = []
  private var arrivals: UInt64 = 0
  private var lastListener: UInt64 = 0

  /// In the order in which they came.
  var members: [Member] { present.values.sorted { $0.number < $1.number }.map(\.item) }

  /// One comes. Answers who is told.
  mutating func join(_ member: Member, _ serial: UInt64) -> [Listener] {
    arrivals += 1
    present[serial] = Numbered(number: arrivals, item: member)
    return listeners.map(\.item)
  }

  /// One goes.
  mutating func leave(_ serial: UInt64) {
    present[serial] = nil
  }

  /// Somebody wants to be told. Answers a number to end it by.
  mutating func listen(_ listener: Listener) -> UInt64 {
    lastListener += 1
    listeners.append(Numbered(number: lastListener, item: listener))
    return lastListener
  }

  mutating func endListening(_ number: UInt64) {
    listeners.removeAll { $0.number == number }
  }
}

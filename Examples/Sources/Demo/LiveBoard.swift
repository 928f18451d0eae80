import Synchronization

/// Shows a live list, and what is said meanwhile above it: redrawn in its place on a terminal; elsewhere a line for
/// each change of the first call of every endpoint.
final class LiveBoard: Sendable {
  private let list: LiveList
  private let stage: Stage
  /// How many lines are drawn. Held while something is written: whoever says something is not the one who draws.
  private let height = Mutex(0)

  init(_ list: LiveList, on stage: Stage) {
    self.list = list
    self.stage = stage
  }

  /// Shows the list as it is now.
  func refresh() {
    height.withLock { draw(over: &$0) }
  }

  /// Shows the list whenever it changes, until its task is cancelled.
  func follow() async {
    for await _ in list.changes { refresh() }
  }

  /// Says something; the list goes on below.
  func say(_ text: String) {
    height.withLock { height in
      clear(&height)
      stage.say(text)
      draw(over: &height)
    }
  }

  /// Leaves the list's counts in its place.
  func close() {
    height.withLock { height in
      clear(&height)
      stage.say(list.line)
    }
  }

  private func draw(over height: inout Int) {
    clear(&height)
    guard stage.isTerminal else { return }
    let lines = list.lines()
    for line in lines { stage.say(line) }
    height = lines.count
  }

  /// What is drawn goes; off a terminal what has happened since is told.
  private func clear(_ height: inout Int) {
    stage.erase(lines: height)
    height = 0
    let news = list.takeNews()
    guard !stage.isTerminal else { return }
    for line in news { stage.note(line) }
  }
}

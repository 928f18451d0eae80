import NIOCore
import Synchronization

/// The connections that are open now.
final class Connections: Sendable {
  private struct State {
    var open: [ObjectIdentifier: Connection] = [:]
    var count = 0
    var isClosing = false
  }

  private let state = Mutex(State())

  subscript(channel: any Channel) -> Connection? {
    state.withLock { $0.open[ObjectIdentifier(channel)] }
  }

  func opened(_ channel: any Channel) {
    let isClosing = state.withLock { state in
      state.count += 1
      state.open[ObjectIdentifier(channel)] = Connection(number: state.count, channel: channel)
      return state.isClosing
    }
    if isClosing { channel.close(promise: nil) }
  }

  func closed(_ channel: any Channel) {
    let connection = state.withLock { $0.open.removeValue(forKey: ObjectIdentifier(channel)) }
    connection?.left()
  }

  /// Closes every connection, and every one that still comes in.
  func close() {
    let open = state.withLock { state in
      state.isClosing = true
      return Array(state.open.values)
    }
    for connection in open { connection.channel.close(promise: nil) }
  }
}

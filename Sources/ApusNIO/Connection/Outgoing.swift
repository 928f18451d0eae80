#if NIO
  /// What sends the request on a connection.
  struct Outgoing {
    /// Gives the content piece by piece.
    var upload: Task<Void, Never>?
    /// Waits for room to send the next piece; told whether it is still wanted.
    var sender: CheckedContinuation<Bool, Never>?

    /// Takes the room for the next piece away.
    mutating func stop() {
      upload?.cancel()
      sender?.resume(returning: false)
      sender = nil
    }
  }
#endif

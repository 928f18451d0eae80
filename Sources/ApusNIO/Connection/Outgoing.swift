#if NIO
  import NIOCore

  /// What sends the request on a connection.
  struct Outgoing {
    /// Gives the content piece by piece.
    var upload: Task<Void, Never>?
    /// Waits for room to send the next piece; told whether it is still wanted.
    var sender: CheckedContinuation<Bool, Never>?
    /// Looks how much has left, again and again while some has not.
    var look: Scheduled<Void>?
    /// Bytes of content that were given to the socket, and those of them that were reported as sent.
    var written: Int64 = 0
    var reported: Int64 = 0

    /// Takes the room for the next piece away.
    mutating func stop() {
      upload?.cancel()
      look?.cancel()
      sender?.resume(returning: false)
      sender = nil
    }
  }
#endif

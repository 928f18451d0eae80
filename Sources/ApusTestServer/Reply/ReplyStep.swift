#if NIO
  extension Reply {
    /// One thing the server does while it answers.
    ///
    /// Bytes are gathered until a step waits or closes, so what belongs together leaves together.
    public enum Step: Sendable {
      /// Waits at a gate, with everything before it sent.
      case wait(Gate)
      /// Waits for a time, with everything before it sent; prefer a gate where the test can open one.
      case pause(Duration)
      /// Waits until the client closes the connection or the server is shut down, with everything before it sent.
      case stall
      /// An interim response: a 1xx status and field lines.
      case interim(Int, fields: FieldLines)
      /// The head of the answer: a status and field lines, sent as they are.
      case head(Int, fields: FieldLines)
      /// Bytes of the content. Not sent in answer to HEAD.
      case content([UInt8])
      /// Bytes of the content made on the way: those of a pattern from an offset to another. Sent no faster than the
      /// client reads, and never in memory as a whole. Not sent in answer to HEAD.
      case generated(ContentPattern, Range<Int>)
      /// Bytes that frame content, such as a chunk's size. Not sent in answer to HEAD.
      case framing([UInt8])
      /// The last chunk and the trailers. Not sent in answer to HEAD.
      case lastChunk(trailers: FieldLines)
      /// Any bytes at all, sent whatever the request was.
      case raw([UInt8])
      /// Stops reading from the connection (`false`) or goes on reading (`true`). Meanwhile a client that sends much
      /// is blocked; one that leaves is noticed all the same.
      case reading(Bool)
      /// From now on at most so many bytes are read, and so many sent, in each interval: of what comes over the wire
      /// where there is no TLS, or none yet, else of what is inside of it.
      case throttle(bytes: Int, every: Duration)
      /// Cuts the connection, like ``cut``, as soon as so many more bytes have left, and at the end of the answer at
      /// the latest.
      case truncate(after: Int)
      /// Closes the connection, with everything before it sent. Ends the reply.
      case close
      /// Ends the server's side of the connection, with everything before it sent, and reads until the client ends the
      /// other. Ends the reply.
      case halfClose
      /// Closes the connection like ``close``, but over TLS without the farewell that tells the end of the content from
      /// a connection that was cut. Ends the reply.
      case cut
      /// Resets the connection (RST), with everything before it sent. Ends the reply.
      case reset
    }
  }
#endif

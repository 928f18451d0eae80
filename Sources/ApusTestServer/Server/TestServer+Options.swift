#if NIO
  extension TestServer {
    /// How a server listens and what it keeps.
    public struct Options: Sendable {
      /// When the handler is asked for a reply.
      public enum Moment: Sendable, Hashable {
        /// As soon as the request's head is there. Its content goes on being received, and the reply decides what
        /// `Expect: 100-continue` is answered.
        case head
        /// Once the request is complete. `Expect: 100-continue` is answered 100 at once.
        case end
      }

      /// The most bytes of a request's content that are kept; the rest is counted and digested. 1 MiB at first.
      public var contentCap = 1 << 20
      /// When the handler is asked; at the request's end at first.
      public var answersAt = Moment.end
      /// The port to listen on; 0, at first, for one that is free. Any other may be taken already.
      public var port = 0
      /// How it speaks TLS; `nil`, at first, for not at all.
      public var tls: TLS?
      /// What goes wrong; at each trigger the first that covers the connection or request. Nothing at first.
      public var faults: [Fault] = []

      /// The defaults.
      public init() {}

      /// The defaults, but for what is given.
      public init(
        contentCap: Int = 1 << 20, answersAt: Moment = .end, port: Int = 0, tls: TLS? = nil, faults: [Fault] = []
      ) {
        self.contentCap = contentCap
        self.answersAt = answersAt
        self.port = port
        self.tls = tls
        self.faults = faults
      }
    }
  }
#endif

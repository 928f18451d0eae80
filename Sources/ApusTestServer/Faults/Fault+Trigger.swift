#if NIO
  extension Fault {
    /// When a fault happens.
    public enum Trigger: Sendable, Hashable, CaseIterable, CustomStringConvertible {
      /// A connection was accepted; nothing has been read, and TLS has not begun.
      case connect
      /// A request's head was received; nothing behind it is read until the fault is over.
      case requestHead
      /// So many bytes of a request's content were received, or all of it where there is less; then nothing more is
      /// read until the fault is over.
      case requestContent(after: Int = 1)
      /// The head of the answer is due.
      case responseHead
      /// So many bytes of the answer's content were sent, or all of it where there is less.
      case responseContent(after: Int = 1)
      /// The answer was sent.
      case end

      /// Every trigger; those in content after its first byte.
      public static let allCases: [Trigger] = [
        .connect, .requestHead, .requestContent(), .responseHead, .responseContent(), .end,
      ]

      /// The trigger in words: `request head`.
      public var description: String {
        switch self {
        case .connect: "connect"
        case .requestHead: "request head"
        case .requestContent: "request content"
        case .responseHead: "response head"
        case .responseContent: "response content"
        case .end: "end"
        }
      }

      /// The place in a reply; `nil` for what happens before there is one.
      var point: Reply.Point? {
        switch self {
        case .connect, .requestHead, .requestContent: nil
        case .responseHead: .start
        case .responseContent(let length): .content(length)
        case .end: .end
        }
      }
    }
  }
#endif

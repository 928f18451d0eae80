#if NIO
  extension Fault {
    /// What goes wrong.
    public enum Effect: Sendable, CaseIterable, CustomStringConvertible {
      /// The server closes the connection.
      case close
      /// The server ends its side of the connection, and reads on until the client ends the other.
      case halfClose
      /// The server resets the connection.
      case reset
      /// The server does nothing more until a gate opens; without one, until the client leaves.
      ///
      /// Before a gate nothing is read either, and so a client that leaves with more on its way than the sockets hold
      /// is noticed only when it opens. Without a gate what comes is dropped, and the client's leaving noticed.
      case stall(until: Gate? = nil)
      /// From now on at most so many bytes are read, and so many are sent, in each interval of the event loop's clock.
      case throttle(bytes: Int = 1024, every: Duration = .milliseconds(1))
      /// So many bytes of what comes next leave, whatever they are part of; then the connection is cut, over TLS
      /// without a farewell. An answer that ends sooner is followed by the cut.
      case truncate(after: Int = 8)
      /// So many bytes of noise, the same for the same seed.
      case garbage(bytes: Int = 64, seed: UInt64 = 0)
      /// Very much of something, up to so many bytes; `nil` is what fits the trigger.
      case flood(Flood? = nil, upTo: Int = 1 << 20)

      /// Whether it lasts until the client leaves.
      var isEndless: Bool { if case .stall(until: nil) = self { true } else { false } }

      /// Every effect with its defaults.
      public static let allCases: [Effect] = [
        .close, .halfClose, .reset, .stall(), .throttle(), .truncate(), .garbage(), .flood(),
      ]

      /// The effect in a word: `half-close`.
      public var description: String {
        switch self {
        case .close: "close"
        case .halfClose: "half-close"
        case .reset: "reset"
        case .stall: "stall"
        case .throttle: "throttle"
        case .truncate: "truncate"
        case .garbage: "garbage"
        case .flood: "flood"
        }
      }
    }

    /// What a flood is of.
    public enum Flood: String, Sendable, Hashable, CaseIterable {
      /// Interim responses (103), one after the other.
      case interimResponses
      /// Fields, 1 KiB each; at ``Fault/Trigger/responseHead`` inside of the answer's head.
      case fields
      /// Content; at ``Fault/Trigger/responseContent(after:)`` in chunks, whatever the head was to say.
      case content
      /// The extension of one chunk; at ``Fault/Trigger/responseContent(after:)`` with a head that says so.
      case chunkExtensions
      /// Trailer fields, 1 KiB each; at ``Fault/Trigger/responseContent(after:)`` behind a last chunk.
      case trailers
      /// Whole answers that nobody asked for.
      case answers
    }
  }
#endif

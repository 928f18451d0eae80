#if NIO
  extension Fault {
    /// Which connections or requests a fault happens to.
    public struct Scope: Sendable {
      let covers: @Sendable (Occasion) -> Bool

      /// Every connection and every request.
      public static let everything = Scope { _ in true }

      /// Requests with this path (the target up to `?`). Never at ``Fault/Trigger/connect``, when none is known.
      public static func path(_ path: String) -> Scope {
        Scope { $0.request?.path == path }
      }

      /// The connection of this number, from 0, and the requests on it.
      public static func connection(_ number: Int) -> Scope {
        Scope { $0.connection == number }
      }

      /// The request of this number, from 0. Never at ``Fault/Trigger/connect``, when none is known.
      public static func request(_ number: Int) -> Scope {
        Scope { $0.request?.number == number }
      }

      /// Whatever `covers` says yes to.
      public static func matching(_ covers: @escaping @Sendable (Occasion) -> Bool) -> Scope {
        Scope(covers: covers)
      }
    }

    /// What is known when a fault may happen.
    public struct Occasion: Sendable {
      /// The number of the connection, from 0.
      public let connection: Int
      /// The request, as far as it has been received; `nil` at ``Fault/Trigger/connect``.
      public let request: RecordedRequest?
    }
  }

  extension [Fault] {
    /// The effect on a new connection.
    func effect(onConnection connection: Int) -> Fault.Effect? {
      let occasion = Fault.Occasion(connection: connection, request: nil)
      return first { $0.trigger == .connect && $0.scope.covers(occasion) }?.effect
    }

    /// The first fault of a kind that happens to a request.
    func first(on request: RecordedRequest, where fits: (Fault.Trigger) -> Bool) -> Fault? {
      let occasion = Fault.Occasion(connection: request.connection, request: request)
      return first { fits($0.trigger) && $0.scope.covers(occasion) }
    }
  }

  extension Reply {
    /// The reply with what goes wrong in it.
    func suffering(_ faults: [Fault], of request: RecordedRequest) -> Reply {
      let late = [
        // Backwards: what is put in at the end must not be in the way of a point before it.
        faults.first(on: request) { $0 == .end },
        faults.first(on: request) { if case .responseContent = $0 { true } else { false } },
        faults.first(on: request) { $0 == .responseHead },
      ]
      return late.reduce(self) { reply, fault in fault.map { reply.suffering($0) } ?? reply }
    }
  }
#endif

#if NIO
  import ApusCore

  /// Which of a host's addresses is tried when (RFC 8305 §4, §5): a pure state machine, whose answers say what is to be
  /// done.
  ///
  /// Attempts begin one after the other, a while apart and without waiting for each other's end; when one fails, the next
  /// begins at once. The first that succeeds wins, and the others are given up.
  struct HappyEyeballsState<Address: Hashable & Sendable, Failure: Sendable>: Sendable {
    /// What is to be done, in this order.
    enum Action {
      /// The address is to be tried; answered by ``HappyEyeballsState/succeeded(_:)`` or
      /// ``HappyEyeballsState/failed(_:_:now:)``.
      case connect(Address)
      /// ``HappyEyeballsState/waited(now:)`` is to be called then. An earlier one need not be taken back.
      case wait(until: MonotonicInstant)
      /// The attempt, under way or just succeeded, is given up and its connection closed.
      case close(Address)
      /// The connection to this address is the one.
      case succeed(Address)
      /// No address could be reached: every attempt's failure, in the order in which they came; none when there was no
      /// address.
      case fail([(address: Address, failure: Failure)])
    }

    /// How long one attempt is alone before the next begins. Default 250 ms, as RFC 8305 §5 recommends.
    let delay: Duration
    private var untried: ArraySlice<Address>
    private var underWay: [Address] = []
    private var failures: [(address: Address, failure: Failure)] = []
    private var nextBegins: MonotonicInstant?
    private var isOver = false

    /// - Parameter addresses: In order of preference, as ``AddressOrder`` gives them; repeated ones are tried
    ///   once.
    init(_ addresses: [Address], delay: Duration = .milliseconds(250)) {
      var seen: Set<Address> = []
      untried = addresses.filter { seen.insert($0).inserted }[...]
      self.delay = delay
    }

    /// Begins.
    mutating func start(now: MonotonicInstant) -> [Action] {
      guard !isOver, underWay.isEmpty, failures.isEmpty else { return [] }
      return tryNext(now: now)
    }

    /// The time of ``Action/wait(until:)`` is over.
    mutating func waited(now: MonotonicInstant) -> [Action] {
      guard !isOver, let nextBegins, now >= nextBegins else { return [] }
      return tryNext(now: now)
    }

    /// An attempt succeeded. When another did before, or nobody wants it any more, it is closed.
    mutating func succeeded(_ address: Address) -> [Action] {
      guard !isOver, let index = underWay.firstIndex(of: address) else { return [.close(address)] }
      underWay.remove(at: index)
      return [.succeed(address)] + cancel()
    }

    /// An attempt failed: the next begins at once.
    mutating func failed(_ address: Address, _ failure: Failure, now: MonotonicInstant) -> [Action] {
      guard !isOver, let index = underWay.firstIndex(of: address) else { return [] }
      underWay.remove(at: index)
      failures.append((address, failure))
      return tryNext(now: now)
    }

    /// Nobody wants the connection any more: gives up what is under way.
    mutating func cancel() -> [Action] {
      guard !isOver else { return [] }
      isOver = true
      nextBegins = nil
      untried = []
      defer { underWay = [] }
      return underWay.map { .close($0) }
    }

    private mutating func tryNext(now: MonotonicInstant) -> [Action] {
      nextBegins = nil
      guard let address = untried.popFirst() else {
        guard underWay.isEmpty else { return [] }
        isOver = true
        return [.fail(failures)]
      }
      underWay.append(address)
      guard !untried.isEmpty else { return [.connect(address)] }
      let next = now.advanced(by: delay)
      nextBegins = next
      return [.connect(address), .wait(until: next)]
    }
  }
#endif

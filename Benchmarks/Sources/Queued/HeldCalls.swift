import Apus
import ApusTesting

/// The end of a call or a task.
enum Ending: Sendable {
  case answered
  case cancelled
  /// The queue was full.
  case refused
  case other
}

/// A client with the default pipeline and a scheduler that holds calls by their tag.
struct HeldCalls: Sendable {
  private static let tag: Tag = "images"

  let scheduler: Scheduler
  private let api: Client

  /// Creates a client of a stub that responds immediately, with a queue for `count` calls.
  init(_ count: Int) {
    let stub = StubTransport()
    stub.onAny(reply: .status(204))
    self.init(.server, queue: count, over: stub)
    scheduler.pause(Self.tag)
  }

  /// Creates a client without held tags and limits. Its responses never arrive.
  init(unansweredIn room: Room) {
    self.init(ConcurrencyLimits(global: .max, perOrigin: .max), queue: 0, over: Unanswered(room: room))
  }

  private init(_ limits: ConcurrencyLimits, queue: Int, over transport: any Transport) {
    var limits = limits
    limits.queueCapacity = queue
    let scheduler = Scheduler(limits)
    self.scheduler = scheduler
    api = Client(baseURL: "https://api.example.com/v1", transport: transport) {
      $0.scheduler = scheduler
      // Timeouts are set, as usual, but never exceeded.
      $0.timeout = .seconds(3600)
      $0.attemptTimeout = .seconds(3600)
    }
  }

  /// Whether no call is queued or registered.
  var isIdle: Bool { api.calls.isEmpty && scheduler.queuedCount == 0 && scheduler.runningCount == 0 }

  /// Makes a call with the tag.
  func image(_ number: Int) async -> Ending {
    await ending(of: Request<Void>.method(.get, "/images/\(number)").tag(Self.tag))
  }

  /// Makes a call without the tag.
  func list() async -> Ending {
    await ending(of: Request<Void>.method(.get, "/list"))
  }

  /// Cancels all calls with the tag through the registry.
  func cancelAll() {
    api.calls.cancel(tag: Self.tag)
  }

  /// Releases all calls.
  func release() {
    scheduler.resume(Self.tag)
  }

  private func ending(of request: Request<Void>) async -> Ending {
    do throws(CallError) {
      try await api.send(request)
      return .answered
    } catch {
      if error.isCancellation { return .cancelled }
      guard case .queueFull? = error.underlying as? SchedulingRefusal else { return .other }
      return .refused
    }
  }
}

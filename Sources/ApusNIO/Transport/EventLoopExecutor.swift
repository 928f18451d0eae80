#if NIO
  import NIOCore

  /// Runs tasks on an event loop, where answers arrive: nobody has to be woken to go on with one.
  ///
  /// For tasks that do little between calls. One that computes or blocks keeps every connection of its loop waiting.
  public final class EventLoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) {
      self.loop = loop
    }

    /// Runs a job when the loop comes to it.
    public func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  extension NIOTransport {
    /// One of the threads that the transport's connections are served on, the next at each call, as an executor of
    /// tasks; `nil` once the transport is shut down.
    ///
    /// A call whose task runs on it, in a client whose own work does too, goes out and comes back without a change of
    /// threads, where the usual call changes them twice. Worth it in a service that makes thousands of small calls a
    /// second; an app's own actors need nothing of the kind.
    ///
    /// ```swift
    /// let transport = NIOTransport()
    /// let executor = transport.executor()
    /// let client = Client(baseURL: "https://api.example.com/v1", transport: transport) {
    ///   $0.settings.runtime.executor = executor
    /// }
    /// let friends = try await withTaskExecutorPreference(executor) {
    ///   try await client.send(Request<[User]>.get("/users/7/friends"))
    /// }
    /// ```
    ///
    /// A client has one such thread; for more make as many clients over the same transport. Values of small answers are
    /// made there too, those of big ones on the global pool (`Runtime.decodedOnExecutor`). Threads of the transport's own
    /// (``EventLoops/own(_:)``) end with the transport: run nothing on them then.
    public func executor() -> EventLoopExecutor? {
      core.loops.next().map { EventLoopExecutor($0) }
    }
  }
#endif

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
    /// A call whose task runs on it (`withTaskExecutorPreference`), in a client whose own work does too
    /// (`runtime.executor` of the client's settings), goes out and comes back without a change of threads.
    ///
    /// Threads of the transport's own (``EventLoops/own(_:)``) end with the transport: run nothing on them then.
    public func executor() -> EventLoopExecutor? {
      core.loops.next().map { EventLoopExecutor($0) }
    }
  }
#endif

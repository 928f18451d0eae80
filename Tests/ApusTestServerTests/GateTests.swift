#if NIO
  import ApusTestServer
  import Testing

  @Suite struct GateTests {
    @Test("An open gate lets everyone pass, those who wait and those who come later")
    func open() async throws {
      let gate = Gate()
      async let first: Void = gate.wait()
      async let second: Void = gate.wait()
      try await gate.waitForArrivals(2)
      #expect(!gate.isOpen)
      gate.open()
      _ = try await (first, second)
      try await gate.wait()
      #expect(gate.isOpen)
      #expect(gate.arrivals == 3)
    }

    @Test("A release lets single ones pass, and is kept for those who come later")
    func release() async throws {
      let gate = Gate()
      let waiter = Task { try await gate.wait() }
      try await gate.waitForArrivals(1)
      gate.release(2)
      try await waiter.value
      try await gate.wait()
      let third = Task { try await gate.wait() }
      try await gate.waitForArrivals(3)
      third.cancel()
      await #expect(throws: CancellationError.self) { try await third.value }
    }

    @Test("A cancelled waiter leaves, and takes no pass with it")
    func cancellation() async throws {
      let gate = Gate()
      let waiter = Task { try await gate.wait() }
      try await gate.waitForArrivals(1)
      waiter.cancel()
      await #expect(throws: CancellationError.self) { try await waiter.value }
      gate.release()
      try await gate.wait()
    }

    @Test("Whoever is cancelled already does not wait, nor for arrivals")
    func alreadyCancelled() async throws {
      let gate = Gate()
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        await #expect(throws: CancellationError.self) { try await gate.wait() }
        await #expect(throws: CancellationError.self) { try await gate.waitForArrivals(9) }
      }
      await task.value
    }

    @Test("Waiting for arrivals ends when the task is cancelled")
    func arrivalsCancelled() async throws {
      let gate = Gate()
      let task = Task { try await gate.waitForArrivals(2) }
      try? await gate.waitForArrivals(0)
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }
#endif

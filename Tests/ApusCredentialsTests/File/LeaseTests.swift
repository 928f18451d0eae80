import ApusCore
import ApusFiles
import ApusMiddleware
import ApusTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ApusCredentials

@Suite("Locks of a credentials file")
struct LeaseTests {
  private struct Refused: Error {}

  private final class Counts: Sendable {
    struct Now: Sendable {
      var inside = 0
      var most = 0
      var visits = 0
    }

    private let counts = Mutex(Now())

    var now: Now { counts.withLock { $0 } }

    func visit() async {
      counts.withLock { counts in
        counts.inside += 1
        counts.visits += 1
        counts.most = max(counts.most, counts.inside)
      }
      for _ in 0..<3 { await Task.yield() }
      counts.withLock { $0.inside -= 1 }
    }
  }

  @Test("One task at a time refreshes, even if the tasks use different stores of the same file")
  func exclusive() async throws {
    try await CredentialsFolder.with { place in
      let (stores, counts) = ((0..<3).map { _ in place.waitingStore() }, Counts())
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<12 {
          group.addTask { try await stores[number % 3].withLock { await counts.visit() } }
        }
        try await group.waitForAll()
      }
      #expect(counts.now.most == 1)
      #expect(counts.now.visits == 12)
    }
  }

  @Test("Work that fails or is cancelled releases the lease")
  func failing() async throws {
    try await CredentialsFolder.with { place in
      let (first, second) = (place.store(), place.store())
      await #expect(throws: Refused.self) { try await first.withLock { throw Refused() } }
      let gate = Gate()
      let task = Task { try await first.withLock { try await gate.wait() } }
      try await gate.waitForArrivals(1)
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      // No time passes in this test, so the lease is free immediately.
      try await second.withLock {}
    }
  }

  @Test("A waiting task polls for the lease, at first often, then ten times per second")
  func pauses() async throws {
    try await CredentialsFolder.with { place in
      let (first, second, gate) = (place.waitingStore(), place.store(), Gate())
      let holder = Task { try await first.withLock { try await gate.wait() } }
      try await gate.waitForArrivals(1)
      let waiter = Task { try await second.withLock {} }
      for pause in [5, 10, 20, 40, 80, 100, 100] {
        try await place.clock.waitForSleepers(1)
        let wake = place.clock.nextWake.map { place.clock.now.duration(to: $0) }
        #expect(wake == .milliseconds(pause))
        place.clock.advance(by: .milliseconds(pause))
      }
      gate.open()
      try await holder.value
      try await place.clock.waitForSleepers(1)
      place.clock.advance(by: .milliseconds(100))
      try await waiter.value
    }
  }

  @Test("A task that is cancelled while it waits for the lease leaves no lock")
  func cancelled() async throws {
    try await CredentialsFolder.with { place in
      let (first, second, gate) = (place.store(), place.store(), Gate())
      let holder = Task { try await first.withLock { try await gate.wait() } }
      try await gate.waitForArrivals(1)
      let waiter = Task { try await second.withLock {} }
      try await place.clock.waitForSleepers(1)
      waiter.cancel()
      await #expect(throws: CancellationError.self) { try await waiter.value }
      gate.open()
      try await holder.value
      try await second.withLock {}
    }
  }

  @Test("A write waits for another write, but not for a refresh; a cancelled task can still write")
  func writing() async throws {
    try await CredentialsFolder.with { place in
      let store = place.store()
      try await store.set(.token("1"))
      let folder = try #require(try FilePath(place.file).openFolder())
      let lock = try await FileLock.acquire("credentials.lock", in: folder, place.pause)
      let waiter = Task { try await store.set(.token("lost")) }
      try await place.clock.waitForSleepers(1)
      // A reader does not wait for the lock.
      let during = try await place.store().current()
      #expect(during.credential == .token("1"))
      waiter.cancel()
      await #expect(throws: CancellationError.self) { try await waiter.value }
      lock.release()
      let late = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await store.set(.token("2"))
      }
      try await late.value
      try await store.withLock { try await store.set(.token("3")) }
      let stored = try await place.store().current()
      #expect(stored.credential == .token("3"))
    }
  }

  @Test("A task that waited for a lock whose file was removed waits for the lock of the new file")
  func removedLock() async throws {
    try await CredentialsFolder.with { place in
      let (folder, name) = (try FilePath(place.file).makeFolder(), "credentials.lock")
      let first = try await FileLock.acquire(name, in: folder, place.pause)
      let events = Log<String>()
      let waiter = Task {
        let lock = try await FileLock.acquire(name, in: folder, place.pause)
        events.add("waiter")
        lock.release()
      }
      try await place.clock.waitForSleepers(1)
      try FileManager.default.removeItem(atPath: place.folder + "/" + name)
      let second = try await FileLock.acquire(name, in: folder, place.pause)
      first.release()
      place.clock.advance(by: .milliseconds(5))
      // A correct waiter now has the old lock and waits for the new one. A wrong waiter has already ended.
      try await waitWhile(place.clock.sleepers == 0 && events.all.isEmpty)
      events.add("second")
      second.release()
      place.clock.advance(by: .seconds(1))
      try await waiter.value
      #expect(events.all == ["second", "waiter"])
    }
  }

  @Test("A second task does not get the lease if the lease file is removed during a refresh")
  func removedLease() async throws {
    try await CredentialsFolder.with { place in
      let (first, second, gate, events) = (place.store(), place.store(), Gate(), Log<String>())
      try await first.set(.token("1"))
      let generation = try await first.current().generation
      let holder = Task {
        try await first.withLock {
          try await gate.wait()
          _ = try await first.refresh(generation, to: .token("2"))
          events.add("first")
        }
      }
      try await gate.waitForArrivals(1)
      try FileManager.default.removeItem(atPath: place.folder + "/credentials.lease")
      let waiter = Task { try await second.withLock { events.add("second \(try await second.current().generation)") } }
      try await waitWhile(place.clock.sleepers == 0 && events.all.isEmpty)
      #expect(events.all.isEmpty)
      gate.open()
      try await holder.value
      place.clock.advance(by: .seconds(1))
      try await waiter.value
      #expect(events.all == ["first", "second \(generation + 1)"])
    }
  }

  @Test("Credentials set during the refresh of old credentials can be refreshed at the same time")
  func newCredentials() async throws {
    try await CredentialsFolder.with { place in
      let (first, second, gate) = (place.store(), place.store(), Gate())
      try await first.set(.token("1"))
      let holder = Task { try await first.withLock { try await gate.wait() } }
      try await gate.waitForArrivals(1)
      try FileManager.default.removeItem(atPath: place.folder + "/credentials.lease")
      try await second.set(.token("2"))
      try await second.withLock {}
      gate.open()
      try await holder.value
    }
  }

  @Test("A write whose lock file is removed meanwhile still excludes other writes")
  func removedWriteLock() async throws {
    try await CredentialsFolder.with { place in
      let (store, events) = (place.store(), Log<String>())
      try await store.set(.token("1"))
      let folder = try #require(try FilePath(place.file).openFolder())
      let locks = try await FilePath(place.file).lockForWrite(in: folder, place.pause)
      try FileManager.default.removeItem(atPath: place.folder + "/credentials.lock")
      let writer = Task {
        try await store.set(.token("2"))
        events.add("written")
      }
      try await waitWhile(place.clock.sleepers == 0 && events.all.isEmpty)
      events.add("released")
      locks.release()
      place.clock.advance(by: .seconds(1))
      try await writer.value
      #expect(events.all == ["released", "written"])
    }
  }
}

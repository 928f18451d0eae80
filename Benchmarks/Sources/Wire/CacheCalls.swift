import Apus
import ApusNIO
import Foundation
import Measuring
import Samples

/// Calls whose response is stored, compared with the same calls over loopback, with callers on an event loop.
struct CacheCalls {
  private enum Way: String, CaseIterable {
    case server = "Apus, from the server"
    case memory = "from memory"
    case folder = "from a folder"
  }

  private let clients: [Way: Client]
  private let loop: any TaskExecutor

  private init(port: Int, folder: String) throws {
    let transport = NIOTransport(options: .wire)
    guard let loop = transport.executor() else { throw Unexpected() }
    self.loop = loop
    let base = try BaseURL("http://127.0.0.1:\(port)")
    let caches: [Way: ResponseCache] = [.memory: ResponseCache(), .folder: ResponseCache(.folder(folder))]
    clients = Dictionary(
      uniqueKeysWithValues: Way.allCases.map { way in
        let client = Client(baseURL: base, transport: transport) {
          $0.settings.runtime.executor = loop
          $0.cache = caches[way]
        }
        return (way, client)
      })
  }

  /// An answer, and whether the call decodes it.
  private struct Reading {
    let answer: Answer
    var isDecoded = true

    var name: String { answer.rawValue + (isDecoded ? "" : ", not decoded") }
    static let all = Answer.allCases.map { Reading(answer: $0) } + [Reading(answer: .page, isDecoded: false)]
  }

  private func usage(of way: Way, _ reading: Reading, inFlight: Int) async throws -> Usage {
    guard let api = clients[way] else { throw Unexpected() }
    let calls = reading.answer.calls(inFlight: inFlight)
    return try await withTaskExecutorPreference(loop) {
      switch (reading.answer.count, reading.isDecoded) {
      case (nil, _):
        let request = Request<Person>.get("/users/\(7)").cache(for: .seconds(3600))
        return try await Usage.of(calls, inFlight: inFlight) { _ = try await api.send(request) }
      case (let count?, true):
        let request = Request<[Person]>.get("/arrays/\(count)").cache(for: .seconds(3600))
        return try await Usage.of(calls, inFlight: inFlight) { _ = try await api.send(request) }
      case (let count?, false):
        let request = Request<Data>.get("/arrays/\(count)").cache(for: .seconds(3600))
        return try await Usage.of(calls, inFlight: inFlight) { _ = try await api.send(request) }
      }
    }
  }

  /// Prints the processor time of a call for each place of its response.
  static func compare(runs: Int) async throws {
    let server = try Nginx()
    defer { server.stop() }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apus-wire-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let lineup = try CacheCalls(port: server.port, folder: folder)
    print(
      """
      \(runs) interleaved runs, caller on `transport.executor()`; ratio to the first row: median [lowest, highest]

      | answer | in flight | contender | processor µs | ratio | elapsed µs | ratio |
      |---|---|---|---|---|---|---|
      """)
    for reading in Reading.all {
      for inFlight in [1, connectionLimit] {
        let rows = try await interleaved(runs) {
          var row: [Usage] = []
          for way in Way.allCases { row.append(try await lineup.usage(of: way, reading, inFlight: inFlight)) }
          return row
        }
        for (index, way) in Way.allCases.enumerated() {
          let cells = [\Usage.processor, \.wall].flatMap { value in
            [
              Calls.median(rows.map { $0[index][keyPath: value] }),
              Calls.spread(rows.map { $0[index][keyPath: value] / $0[0][keyPath: value] }),
            ]
          }
          print("| \(reading.name) | \(inFlight) | \(way.rawValue) | \(cells.joined(separator: " | ")) |")
        }
        fflush(nil)
      }
    }
  }
}

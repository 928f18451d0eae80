import Apus
import ApusNIO
import ApusTestServer
import ApusURLSession
import Foundation
import Measuring
import Samples

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A program that compares a typed call over each transport with a plain URLSession loop, interleaved, against a server
/// on loopback in another process.
///
///     Loopback [calls] [runs]      measures
///     Loopback serve               runs the server: prints its port and serves until its input ends
@main
struct Loopback {
  static func main() async throws {
    // The program runs off the main actor, because callers should run on the global pool.
    try await Task.detached { try await run() }.value
  }

  @concurrent private static func run() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    if arguments.first == "serve" { return try await serve() }
    let numbers = arguments.compactMap { Int($0) }
    try await compare(calls: numbers.first ?? 1000, runs: numbers.dropFirst().first ?? 11)
  }

  static func serve() async throws {
    let server = try await TestServer.start { _ in .json(Person.text) }
    FileHandle.standardOutput.write(Data("\(server.port)\n".utf8))
    _ = try? FileHandle.standardInput.readToEnd()
    await server.shutDown()
  }

  static func compare(calls: Int, runs: Int) async throws {
    let server = try ServerProcess()
    defer { server.stop() }
    let bare = try BareLoop(port: server.port)
    let baseURL = try BaseURL("http://127.0.0.1:\(server.port)")
    let urlSession = Client(baseURL: baseURL, transport: URLSessionTransport())
    let nio = Client(baseURL: baseURL, transport: NIOTransport())
    let endpoint: Request<Person> = .get("/users/\(7)")

    let rows = try await interleaved(runs) {
      (
        bare: try await Usage.of(calls) { _ = try await bare.call() },
        urlSession: try await Usage.of(calls) { _ = try await urlSession.send(endpoint) },
        nio: try await Usage.of(calls) { _ = try await nio.send(endpoint) }
      )
    }
    print("\(runs) interleaved runs of \(calls) calls, one in flight; median [lowest, highest]")
    for (unit, value) in [("µs", \Usage.wall), ("processor µs", \Usage.processor)] {
      report("plain URLSession loop, \(unit) a call", rows.map { $0.bare[keyPath: value] })
      report("Apus on URLSession, \(unit)", rows.map { $0.urlSession[keyPath: value] })
      report("ratio to the plain loop", rows.map { $0.urlSession[keyPath: value] / $0.bare[keyPath: value] })
      report("Apus on SwiftNIO, \(unit)", rows.map { $0.nio[keyPath: value] })
      report("ratio to the plain loop", rows.map { $0.nio[keyPath: value] / $0.bare[keyPath: value] })
    }
  }
}

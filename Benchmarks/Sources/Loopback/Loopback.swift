import Apus
import ApusTestServer
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A typed call over the URLSession transport beside a bare URLSession loop, interleaved, against a server in a
/// process of its own on loopback.
///
///     Loopback [calls] [runs]      measures
///     Loopback serve               is the server: prints its port and answers until its input ends
@main
struct Loopback {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    if arguments.first == "serve" { return try await serve() }
    let numbers = arguments.compactMap { Int($0) }
    try await compare(calls: numbers.first ?? 1000, runs: numbers.dropFirst().first ?? 11)
  }

  static func serve() async throws {
    let server = try await TestServer.start { _ in .json(#"{"id":7,"name":"Apus"}"#) }
    FileHandle.standardOutput.write(Data("\(server.port)\n".utf8))
    _ = try? FileHandle.standardInput.readToEnd()
    await server.shutDown()
  }

  static func compare(calls: Int, runs: Int) async throws {
    let server = try ServerProcess()
    defer { server.stop() }
    let bare = try BareLoop(port: server.port)
    let client = Client(baseURL: try BaseURL("http://127.0.0.1:\(server.port)"))
    let endpoint: Request<Small> = .get("/users/\(7)")

    var pairs: [(apus: Usage, bare: Usage)] = []
    for run in 0...runs {
      let theirs = try await Usage.of(calls) { _ = try await bare.call() }
      let ours = try await Usage.of(calls) { _ = try await client.send(endpoint) }
      // The first pair warms both up.
      if run > 0 { pairs.append((ours, theirs)) }
    }
    print("\(runs) interleaved runs of \(calls) calls, one in flight; median [lowest, highest]")
    report("Apus, µs a call", pairs.map(\.apus.wall))
    report("bare loop, µs a call", pairs.map(\.bare.wall))
    report("ratio", pairs.map { $0.apus.wall / $0.bare.wall })
    report("Apus, processor µs a call", pairs.map(\.apus.processor))
    report("bare loop, processor µs a call", pairs.map(\.bare.processor))
    report("ratio", pairs.map { $0.apus.processor / $0.bare.processor })
  }

  static func report(_ name: String, _ figures: [Double]) {
    let sorted = figures.sorted()
    func text(_ figure: Double) -> String { String(format: "%.2f", figure) }
    let padding = String(repeating: " ", count: max(1, 34 - name.count))
    print("\(name)\(padding)\(text(sorted[sorted.count / 2]))  [\(text(sorted[0])), \(text(sorted[sorted.count - 1]))]")
  }
}

struct Small: Codable, Sendable {
  let id: Int
  let name: String
}

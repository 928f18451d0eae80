import Foundation

/// Compares Apus over SwiftNIO with plain async-http-client and JSONDecoder, against nginx on loopback. For Linux.
///
///     Wire calls [calls] [runs]     small responses: processor and wall time of a call
///     Wire transfers [MiB] [runs]   upload of a file through nginx: speed, peak memory
///     Wire uploads [MiB] [runs]     a file, plain and as a part of multipart content, to a server that discards it
///     Wire downloads [MiB] [runs]   a file into a file with `Client.download`, and with plain and flushed writes
///     Wire cold [runs]              from the start of a process to its first decoded response
///     Wire waiting [calls]          memory of calls that wait for a connection
///     Wire profile NAME [calls] [in flight]   one contender alone (raw, pool or loop), for a profiler
///     Wire one …, Wire kept …, Wire sink   used by the others for child processes
@main
struct Wire {
  static func main() async throws {
    // Off the main actor, because callers should run on the global pool.
    try await Task.detached { try await run() }.value
  }

  @concurrent private static func run() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let numbers = arguments.compactMap { Int($0) }
    switch arguments.first {
    case "one": try await One.run(Array(arguments.dropFirst()))
    case "profile":
      try await Calls.profile(arguments[1], calls: numbers.first ?? 20_000, inFlight: numbers.dropFirst().first ?? 1)
    case "calls": try await Calls.compare(calls: numbers.first ?? 3000, runs: numbers.dropFirst().first ?? 11)
    case "transfers":
      try await Transfers.compare(mebibytes: numbers.first ?? 256, runs: numbers.dropFirst().first ?? 11)
    case "uploads": try await Uploads.compare(mebibytes: numbers.first ?? 256, runs: numbers.dropFirst().first ?? 11)
    case "downloads":
      try await Downloads.compare(mebibytes: numbers.first ?? 256, runs: numbers.dropFirst().first ?? 11)
    case "sink": try Sink.serve()
    case "cold": try await ColdStart.compare(runs: numbers.first ?? 21)
    case "waiting": try Waiting.compare(calls: numbers.first ?? 10_000)
    case "kept": try await Waiting.run(Array(arguments.dropFirst()))
    default:
      try await Calls.compare(calls: 3000, runs: 11)
      try await Transfers.compare(mebibytes: 256, runs: 11)
      try await Uploads.compare(mebibytes: 256, runs: 11)
      try await Downloads.compare(mebibytes: 256, runs: 11)
      try await ColdStart.compare(runs: 21)
      try Waiting.compare(calls: 10_000)
    }
  }
}

struct Small: Decodable, Sendable {
  let id: Int
  let name: String
}

/// An error that invalidates the measurement.
struct Unexpected: Error {}

import Foundation

/// For Linux. Apus over SwiftNIO beside raw async-http-client with JSONDecoder, against nginx on loopback.
///
///     Wire calls [calls] [runs]     small answers: processor and wall time of a call
///     Wire transfers [MiB] [runs]   a file down and a file up: speed, peak memory
///     Wire cold [runs]              from the start of a process to its first decoded answer
///     Wire waiting [calls]          memory of calls that wait for a connection
///     Wire profile NAME [calls] [in flight]   one contender alone (raw, pool or loop), to be looked at by a profiler
///     Wire one …, Wire kept …       what the others start in processes of their own
@main
struct Wire {
  static func main() async throws {
    // Off the main actor, where a program begins: callers are to be on the global pool.
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
    case "cold": try await ColdStart.compare(runs: numbers.first ?? 21)
    case "waiting": try Waiting.compare(calls: numbers.first ?? 10_000)
    case "kept": try await Waiting.run(Array(arguments.dropFirst()))
    default:
      try await Calls.compare(calls: 3000, runs: 11)
      try await Transfers.compare(mebibytes: 256, runs: 11)
      try await ColdStart.compare(runs: 21)
      try Waiting.compare(calls: 10_000)
    }
  }
}

struct Small: Decodable, Sendable {
  let id: Int
  let name: String
}

/// Something that makes all figures worthless.
struct Unexpected: Error {}

import Foundation
import Uploading

/// A program that compares Apus over SwiftNIO with plain async-http-client and JSONDecoder, against nginx on loopback.
/// For Linux. Without arguments it compares everything but HTTP/2.
///
///     Wire calls [runs] [ANSWER …]  JSON of three sizes: processor time and elapsed time of a call, as a table
///     Wire cache [runs]             the same calls from the server, from a cache in memory and from a folder
///     Wire transfers [MiB] [runs]   upload of a file through nginx: speed, peak memory
///     Wire uploads [MiB] [runs]     a file, plain and as a part of multipart content, to a server that discards it
///     Wire downloads [MiB] [runs]   a file into a file with `Client.download`, and with plain and flushed writes
///     Wire cold [runs]              from the start of a process to its first decoded response
///     Wire http2 calls [runs]       JSON over HTTP/2 and TLS: processor time of a call, writes to the socket, as a table
///     Wire http2 transfers [MiB] [runs]   downloads and uploads over HTTP/2, from nginx and nghttpd
///     Wire http2 relay [MiB] [runs] [ms]  downloads through a relay with a round-trip time
///     Wire http2 stopped [runs]           times of calls beside a response on the same connection that is not read
///     Wire http2 profile NAME ANSWER [calls] [in flight]   one contender alone: a case of `HTTP2Calls.Way`
///     Wire waiting [calls]          memory of calls that wait for a connection
///     Wire profile NAME ANSWER [calls] [in flight]   one contender alone, for a profiler: a case of `Calls.Way`, and
///                                                    one of `Answer`
///     Wire one …, Wire kept …, Wire sink, Wire http2 one …, Wire http2 relay-to …   used by the others for child
///                                                                                   processes
@main
struct Wire {
  static func main() async throws {
    // The program runs off the main actor, because callers should run on the global pool.
    try await Task.detached { try await run() }.value
  }

  @concurrent private static func run() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let numbers = arguments.compactMap { Int($0) }
    switch arguments.first {
    case "one": try await One.run(Array(arguments.dropFirst()))
    case "profile":
      guard arguments.count > 2, let way = Calls.Way.named(arguments[1]), let answer = Answer.named(arguments[2])
      else { throw Unexpected() }
      try await Calls.profile(way, answer, calls: numbers.first ?? 20_000, inFlight: numbers.dropFirst().first ?? 1)
    case "calls":
      let answers = arguments.compactMap(Answer.named)
      try await Calls.compare(answers.isEmpty ? Answer.allCases : answers, runs: numbers.first ?? 21)
    case "cache": try await CacheCalls.compare(runs: numbers.first ?? 11)
    case "transfers":
      try await Transfers.compare(mebibytes: numbers.first ?? 256, runs: numbers.dropFirst().first ?? 11)
    case "uploads": try await Uploads.compare(mebibytes: numbers.first ?? 256, runs: numbers.dropFirst().first ?? 11)
    case "downloads":
      try await Downloads.compare(mebibytes: numbers.first ?? 256, runs: numbers.dropFirst().first ?? 11)
    case "sink": try Sink.serve { _ in "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" }
    case "cold": try await ColdStart.compare(runs: numbers.first ?? 21)
    case "http2": try await HTTP2.run(Array(arguments.dropFirst()))
    case "waiting": try Waiting.compare(calls: numbers.first ?? 10_000)
    case "kept": try await Waiting.run(Array(arguments.dropFirst()))
    default:
      try await Calls.compare(runs: 21)
      try await CacheCalls.compare(runs: 11)
      try await Transfers.compare(mebibytes: 256, runs: 11)
      try await Uploads.compare(mebibytes: 256, runs: 11)
      try await Downloads.compare(mebibytes: 256, runs: 11)
      try await ColdStart.compare(runs: 21)
      try Waiting.compare(calls: 10_000)
    }
  }
}

/// The commands of HTTP/2.
private enum HTTP2 {
  static func run(_ arguments: [String]) async throws {
    let numbers = arguments.compactMap { Int($0) }
    switch arguments.first {
    case "calls": try await HTTP2Calls.compare(runs: numbers.first ?? 11)
    case "transfers":
      try await HTTP2Transfers.compare(mebibytes: numbers.first ?? 100, runs: numbers.dropFirst().first ?? 11)
    case "relay":
      try await HTTP2Transfers.compareDistant(
        mebibytes: numbers.first ?? 100, roundTrip: numbers.dropFirst(2).first ?? 20,
        runs: numbers.dropFirst().first ?? 11)
    case "stopped": try await HTTP2Stopped.compare(runs: numbers.first ?? 7)
    case "profile":
      guard arguments.count > 2, let way = HTTP2Calls.Way.named(arguments[1]), let answer = Answer.named(arguments[2])
      else { throw Unexpected() }
      let inFlight = numbers.dropFirst().first ?? 1
      try await HTTP2Calls.profile(way, answer, calls: numbers.first ?? 20_000, inFlight: inFlight)
    case "one": try await HTTP2Transfers.run(Array(arguments.dropFirst()))
    case "relay-to":
      guard numbers.count == 2 else { throw Unexpected() }
      try Relay.serve(to: numbers[0], roundTrip: numbers[1])
    default: throw Unexpected()
    }
  }
}

/// An error that invalidates the measurement.
struct Unexpected: Error {}

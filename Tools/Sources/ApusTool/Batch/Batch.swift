import Apus
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The execution of `apus batch`: sends the requests of all input lines, concurrently or in order, and writes a line when
/// a request ends.
struct Batch: Sendable {
  let clients: Clients
  /// The origin of the credentials on the command line; `nil` without credentials, and for the credentials of a
  /// profile.
  var scope: CredentialScope?
  /// Whether redirects are followed unless a line says otherwise.
  let followsRedirects: Bool
  let showsTraces: Bool
  /// Whether a request is sent only when the result of the line before is written.
  var isInOrder = false
  /// Whether the output is a terminal, which must not interpret control characters in responses.
  var isOnTerminal = false
  let input: DescriptorReader
  let output: DescriptorWriter
  let error: DescriptorWriter

  /// Runs until the input has ended and the result of every request is written.
  func run() async -> ExitStatus {
    let (lines, feed) = AsyncStream<LineSplitter.Line>.makeStream()
    do {
      try await withThrowingDiscardingTaskGroup { group in
        // A child task, so that it is cancelled when writing fails.
        group.addTask {
          defer { feed.finish() }
          try await read(into: feed)
        }
        for await line in lines {
          recordOrigin(of: line)
          if isInOrder { try await respond(to: line) } else { group.addTask { try await respond(to: line) } }
        }
      }
      return .accepted
    } catch {
      let ending = Ending(error)
      if let text = ending.complaint?.text { try? await self.error.writeToTheEnd(Data(text.utf8)) }
      return ending.status
    }
  }

  private func read(into feed: AsyncStream<LineSplitter.Line>.Continuation) async throws {
    var splitter = LineSplitter()
    while let piece = try await input.next() {
      for line in splitter.split(piece) { feed.yield(line) }
    }
    if let line = splitter.finish() { feed.yield(line) }
  }

  /// Records the origin of the first line with a URL as the origin of the credentials, before any line is sent.
  private func recordOrigin(of line: LineSplitter.Line) {
    guard let scope, scope.isOpen, case .text(let bytes) = line, let request = try? BatchLine(bytes),
      let url = try? TargetURL(request.url)
    else { return }
    scope.record(url.origin)
  }

  private func respond(to line: LineSplitter.Line) async throws {
    let result: BatchResult
    switch line {
    case .tooLong: result = BatchResult(BatchLine.Unusable(number: nil, reason: "the line is too long"))
    case .text(let bytes):
      do throws(BatchLine.Unusable) {
        result = await self.result(of: try BatchLine(bytes))
      } catch {
        result = BatchResult(error)
      }
    }
    // The result is written even if the task is cancelled, because every request must have a result.
    try await output.writeToTheEnd(isOnTerminal ? TerminalText.harmless(result.line) : result.line)
  }

  private func result(of line: BatchLine) async -> BatchResult {
    let interim = InterimLog()
    do {
      let url = try TargetURL(line.url)
      try scope?.check(url.origin)
      var request = try line.request(to: url) { interim.append($0) }
      let follows = line.redirect.map { $0 == .follow } ?? followsRedirects
      request = request.redirects(follows ? .follow : .none)
      let response = try await clients.client(for: url).response(to: request)
      await show(response.trace)
      var result = BatchResult(line.n, .responded(response.head, response.value.data, interim: interim.all))
      result.cache = clients.cacheOutcome(of: response.trace)
      return result
    } catch let error as CallError {
      await show(error.trace)
      var result = BatchResult(line.n, error)
      result.cache = clients.cacheOutcome(of: error.trace)
      return result
    } catch let error as BatchLine.Unusable {
      return BatchResult(error)
    } catch let error as CredentialScope.OtherOrigin {
      return BatchResult(line.n, .failed(error: error.description, code: "otherOrigin", state: .notSent))
    } catch {
      let code = CallError.Code.invalidRequest.rawValue
      return BatchResult(line.n, .failed(error: "\(error)", code: code, state: .notSent))
    }
  }

  private func show(_ trace: Trace) async {
    guard showsTraces else { return }
    // An error here cannot be reported anywhere.
    try? await error.writeToTheEnd(Data(TerminalText.harmless("\(trace)\n").utf8))
  }
}

/// The interim responses of a call, in order.
private final class InterimLog: Sendable {
  private let heads = Mutex<[HTTPResponse]>([])

  var all: [HTTPResponse] { heads.withLock { $0 } }

  func append(_ head: HTTPResponse) {
    heads.withLock { $0.append(head) }
  }
}

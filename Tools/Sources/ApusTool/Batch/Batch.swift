import Apus
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Does what `apus batch` is asked to: a request for each line of the input, all at once, a line for each as it ends.
struct Batch: Sendable {
  let clients: Clients
  /// Whether redirects are followed where a line says nothing.
  let followsRedirects: Bool
  let showsTraces: Bool
  /// Whether lines are shown on a terminal, which must not obey what is in them.
  var isOnTerminal = false
  let input: DescriptorReader
  let output: DescriptorWriter
  let error: DescriptorWriter

  /// Runs until the input has ended and everything is answered.
  func run() async -> ExitStatus {
    let (lines, feed) = AsyncStream<LineSplitter.Line>.makeStream()
    do {
      try await withThrowingDiscardingTaskGroup { group in
        // A child like the others, so that output that fails ends it too.
        group.addTask {
          defer { feed.finish() }
          try await read(into: feed)
        }
        for await line in lines {
          group.addTask { try await answer(line) }
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

  private func answer(_ line: LineSplitter.Line) async throws {
    let answer: BatchAnswer
    switch line {
    case .tooLong: answer = BatchAnswer(BatchLine.Unusable(number: nil, reason: "the line is too long"))
    case .text(let bytes):
      do throws(BatchLine.Unusable) {
        answer = await self.answer(to: try BatchLine(bytes))
      } catch {
        answer = BatchAnswer(error)
      }
    }
    // Also when all is being cancelled: every request has its line.
    try await output.writeToTheEnd(isOnTerminal ? TerminalText.harmless(answer.line) : answer.line)
  }

  private func answer(to line: BatchLine) async -> BatchAnswer {
    let interim = InterimLog()
    do {
      let url = try TargetURL(line.url)
      var request = try line.request(to: url) { interim.append($0) }
      let follows = line.redirect.map { $0 == .follow } ?? followsRedirects
      request = request.redirects(follows ? .follow : .none)
      let response = try await clients.client(for: url).response(to: request)
      await show(response.trace)
      return BatchAnswer(line.n, .answered(response.head, response.value.data, interim: interim.all))
    } catch let error as CallError {
      await show(error.trace)
      return BatchAnswer(line.n, error)
    } catch let error as BatchLine.Unusable {
      return BatchAnswer(error)
    } catch {
      let code = CallError.Code.invalidRequest.rawValue
      return BatchAnswer(line.n, .failed(error: "\(error)", code: code, state: .notSent))
    }
  }

  private func show(_ trace: Trace) async {
    guard showsTraces else { return }
    // Where even this cannot be written, there is nobody to tell.
    try? await error.writeToTheEnd(Data(TerminalText.harmless("\(trace)\n").utf8))
  }
}

/// The interim responses of one call, in order.
private final class InterimLog: Sendable {
  private let heads = Mutex<[HTTPResponse]>([])

  var all: [HTTPResponse] { heads.withLock { $0 } }

  func append(_ head: HTTPResponse) {
    heads.withLock { $0.append(head) }
  }
}

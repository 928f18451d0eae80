import ApusCore
import HTTPTypes

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a stub answers: a head and content, or a failure, with waits wherever a test wants them.
///
/// <!-- sample: answers as StubAnswer -->
/// ```swift
/// .json(#"{"id":7}"#)                                    // an answer
/// .json("[]").after(.seconds(2))                         // … two seconds later, on the client's clock
/// .json("[]").waiting(for: gate)                         // … when the test opens the gate
/// .pieces(["a", "b"], gate: gate).brokenOff(after: 1)    // one piece, then the connection breaks
/// .failure(TransportError(.offline, requestState: .notSent))
/// ```
public struct StubAnswer: Sendable {
  enum Step: Sendable {
    case wait(Gate)
    case pause(Duration)
    case piece(Data)
    case fail(any Error)
  }

  /// What happens before the head.
  var opening: [Step] = []
  var head: HTTPResponse
  /// The pieces of content and what happens before, between and behind them.
  var content: [Step] = []
  /// What comes after the content.
  var trailers = HTTPFields()

  init(status: Int, fields: HTTPFields, content: [Step]) {
    head = HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: fields)
    self.content = content
  }

  /// The whole content when it is there at once.
  var bytes: Data? {
    var all = Data()
    for step in content {
      guard case .piece(let piece) = step else { return nil }
      all.append(piece)
    }
    return all
  }

  /// What the head says about the content's length.
  var announcedLength: Int64? {
    head.headerFields[.contentLength].flatMap { Int64($0) }
  }
}

extension StubAnswer.Step {
  /// Waits or fails as it says; answers its piece of content, if it is one.
  func perform(on clock: any MonotonicClock) async throws -> Data? {
    switch self {
    case .wait(let gate): try await gate.wait()
    case .pause(let duration): try await clock.sleep(until: clock.now.advanced(by: duration))
    case .piece(let data): return data
    case .fail(let error): throw error
    }
    return nil
  }
}

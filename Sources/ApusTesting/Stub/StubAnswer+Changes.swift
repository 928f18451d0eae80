public import ApusCore
public import HTTPTypes

/// Changes to an answer; each gives a changed copy, so they can be combined.
extension StubAnswer {
  /// The answer after a time on the client's clock.
  public func after(_ latency: Duration) -> StubAnswer {
    opening([.pause(latency)])
  }

  /// The answer once a gate is open, or lets this exchange pass.
  public func waiting(for gate: Gate) -> StubAnswer {
    opening([.wait(gate)])
  }

  /// The content with a time on the client's clock before each piece.
  public func dripping(every pause: Duration) -> StubAnswer {
    var answer = self
    answer.content = content.flatMap { step -> [Step] in
      if case .piece = step { return [.pause(pause), step] }
      return [step]
    }
    return answer
  }

  /// The content broken off with an error after so many pieces.
  ///
  /// - Parameters:
  ///   - count: pieces that arrive before.
  ///   - error: what the reader gets. Default: a ``TransportError`` of kind `broken`, after an answer.
  public func brokenOff(
    after count: Int, error: any Error = TransportError(.broken, requestState: .answered, detail: "stubbed")
  ) -> StubAnswer {
    cut(after: count, .fail(error))
  }

  /// The content never continued after so many pieces: its reader waits until cancelled.
  public func stalled(after count: Int) -> StubAnswer {
    cut(after: count, .wait(Gate()))
  }

  /// The answer with fields after its content, which an answer to HEAD does not have either.
  public func trailers(_ trailers: HTTPFields) -> StubAnswer {
    var answer = self
    answer.trailers = trailers
    return answer
  }

  private func opening(_ steps: [Step]) -> StubAnswer {
    var answer = self
    answer.opening = steps + opening
    return answer
  }

  private func cut(after count: Int, _ last: Step) -> StubAnswer {
    var answer = self
    var pieces = 0
    answer.content = Array(
      content.prefix { step in
        if case .piece = step { pieces += 1 }
        return pieces <= count
      })
    // What waits ahead of a piece that no longer comes goes with it.
    while let step = answer.content.last, !step.isPiece { answer.content.removeLast() }
    answer.content.append(last)
    return answer
  }
}

extension StubAnswer.Step {
  fileprivate var isPiece: Bool {
    if case .piece = self { return true }
    return false
  }
}

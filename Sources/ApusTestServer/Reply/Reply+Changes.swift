public import ApusWaiting

// Modifiers: each returns a changed reply, so they can be combined.
extension Reply {
  /// A reply that never arrives: the connection stays open until the client closes it.
  public static let stalled = Reply(steps: [.stall])

  /// A reply that closes the connection without a response.
  public static let closed = Reply(steps: [.close])

  /// A reply that resets the connection without a response.
  public static let reset = Reply(steps: [.reset])

  /// Waits for a gate at a point, then continues.
  public func waiting(for gate: Gate, at point: Point = .start) -> Reply {
    inserting([.wait(gate)], at: point)
  }

  /// Waits for a time at a point, then continues. Prefer ``waiting(for:at:)`` where the test can open a gate.
  public func pausing(for time: Duration, at point: Point = .start) -> Reply {
    inserting([.pause(time)], at: point)
  }

  /// Sends nothing after a point and leaves the connection open until the client closes it.
  public func stalling(at point: Point) -> Reply {
    ending(with: .stall, at: point)
  }

  /// Closes the connection at a point. At ``Point/end`` the response is complete, but the next request on the
  /// connection finds it closed without warning.
  public func closing(at point: Point) -> Reply {
    ending(with: .close, at: point)
  }

  /// Resets the connection at a point.
  public func resetting(at point: Point) -> Reply {
    ending(with: .reset, at: point)
  }

  /// Sends an interim response before everything else. Of several interim responses, the last added is sent first.
  public func interim(_ status: Int, fields: FieldLines = [:]) -> Reply {
    inserting([.interim(status, fields: fields)], at: .start)
  }

  /// Sends the content in pieces of at most `size` bytes, each after passing the gate.
  ///
  /// `Gate.release(_:)` sends one piece at a time.
  public func paced(by size: Int, through gate: Gate) -> Reply {
    paced(by: size, after: .wait(gate))
  }

  /// Sends the content in pieces of at most `size` bytes, each after a pause.
  public func paced(by size: Int, every time: Duration) -> Reply {
    paced(by: size, after: .pause(time))
  }

  /// Replaces a field of the head, or removes it if `value` is `nil`: to send a wrong `Content-Length`, for example.
  public func setting(_ name: String, to value: String?) -> Reply {
    Reply(
      steps: steps.map { step in
        guard case .head(let status, var fields) = step else { return step }
        fields[name] = value
        return .head(status, fields: fields)
      })
  }

  /// Inserts steps at a point.
  package func inserting(_ more: [Step], at point: Point) -> Reply {
    let (before, after) = split(at: point)
    return Reply(steps: before + more + after)
  }

  /// Replaces everything after a point with one step.
  package func ending(with last: Step, at point: Point) -> Reply {
    Reply(steps: split(at: point).before + [last])
  }

  private func paced(by size: Int, after pause: Step) -> Reply {
    Reply(
      steps: steps.flatMap { step in
        var pieces: [Step] = []
        var rest = step
        while let length = rest.contentLength, length > 0 {
          let (piece, remainder) = rest.split(after: min(max(size, 1), length))
          pieces += [pause, piece]
          rest = remainder
        }
        return pieces.isEmpty ? [step] : pieces
      })
  }
}

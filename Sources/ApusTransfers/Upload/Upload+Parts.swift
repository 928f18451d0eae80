import ApusCore

extension Upload {
  /// The result of sending a part.
  private struct SentPart: Sendable {
    let part: Range<Int64>
    let result: Result<UploadStep, CallError>
  }

  /// Sends missing parts, several concurrently, until no part is missing or a part fails. After a failure the other
  /// parts are cancelled, and the upload requests the list of parts from the server.
  ///
  /// - Returns: the meaning of the last response.
  mutating func sendParts(of ticket: UploadTicket) async throws(CallError) -> UploadStep {
    let outcome: Result<UploadStep, CallError> = await withTaskGroup(of: SentPart.self) { group in
      var (sending, outcome) = ([Range<Int64>](), Result<UploadStep, CallError>?.none)
      while true {
        while outcome == nil, sending.count < driver.maximumParallelParts,
          let part = state.nextPart(besides: sending)
        {
          sending.append(part)
          group.addTask { [driver, progress, calls] in
            let calls = calls.reporting { progress.send($0 - part.lowerBound, of: part) }
            return SentPart(part: part, result: await Self.send(part, of: ticket, driver, calls))
          }
        }
        guard let sent = await group.next() else { break }
        sending.removeAll { $0 == sent.part }
        progress.end(sent.part)
        guard outcome == nil else { continue }
        outcome = await recordPart(sent.result)
        if outcome != nil { group.cancelAll() }
      }
      return outcome ?? .success(.stored(state.stored))
    }
    return try outcome.get()
  }

  /// Records a part that was sent. Returns `nil` if the upload continues with further parts.
  private mutating func recordPart(
    _ result: Result<UploadStep, CallError>
  ) async -> Result<UploadStep, CallError>? {
    guard case .success(.added(let part)) = result else { return result }
    do throws(CallError) {
      _ = try await apply(.added(part))
      return nil
    } catch {
      return .failure(error)
    }
  }

  /// Sends a part, and resends it after a temporary failure.
  private static func send(
    _ part: Range<Int64>, of ticket: UploadTicket, _ driver: any UploadDriver, _ calls: UploadCalls
  ) async -> Result<UploadStep, CallError> {
    var failures = 0
    while true {
      do throws(CallError) {
        return .success(try await driver.send(part, of: ticket, calls))
      } catch {
        failures += 1
        let delay = error.retryAfter ?? .zero
        guard failures < attempts, delay <= maximumDelay, isTemporary(error, driver, exists: true) else {
          return .failure(error)
        }
        let runtime = calls.client.runtime
        let backoff = Backoff.delay(before: failures, random: runtime.random())
        do {
          try await runtime.clock.sleep(until: runtime.clock.now.advanced(by: max(delay, backoff)))
        } catch _ {
          return .failure(error)
        }
      }
    }
  }

  /// The maximum number of attempts for a part. After the last attempt the upload requests the list of parts from the
  /// server.
  private static var attempts: Int { 3 }
}

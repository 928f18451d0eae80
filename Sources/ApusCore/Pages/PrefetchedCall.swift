/// A call that runs before its result is requested. The call is cancelled when the last reference to this object is
/// released.
final class PrefetchedCall<Value: Sendable>: Sendable {
  private let task: Task<Result<Response<Value>, CallError>, Never>

  /// Starts a call, which inherits the deadline, the task-local values and the priority of the caller.
  init(_ request: Request<Value>, by client: Client) {
    task = client.host.spawner.spawn {
      do throws(CallError) {
        return .success(try await client.response(to: request))
      } catch {
        return .failure(error)
      }
    }
  }

  deinit {
    task.cancel()
  }

  /// Waits for the response.
  ///
  /// - Throws: the error of the call.
  /// - Cancellation: cancelling the waiting task cancels the call.
  func response() async throws(CallError) -> Response<Value> {
    try await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }.get()
  }
}

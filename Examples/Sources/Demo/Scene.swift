import Apus

/// One thing the apps do, or that happens to them.
protocol Scene: Sendable {
  /// What it is about, in a few words.
  var title: String { get }

  /// Plays it; answers what must be in the logs then.
  func play(in world: World) async throws -> [Claim]
}

/// A call that ought to have failed.
struct UnexpectedSuccess: Error, CustomStringConvertible {
  let description = "a call that was to fail did not"
}

extension Scene {
  /// Makes a call that fails, and shows what the person reads then.
  ///
  /// - Throws: ``UnexpectedSuccess`` when it does not fail.
  @discardableResult
  func showFailure<Value>(
    on stage: Stage, _ call: () async throws(CallError) -> Value
  ) async throws(UnexpectedSuccess) -> CallError {
    do throws(CallError) {
      _ = try await call()
    } catch {
      let status = error.status.map { ", status \($0)" } ?? ""
      stage.reads(error.errorDescription ?? "", behind: "\(error.code), \(error.requestState)\(status)")
      return error
    }
    throw UnexpectedSuccess()
  }
}

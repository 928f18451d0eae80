public import ApusCore
public import Foundation

extension ProgressReporter {
  /// Returns a Foundation `Progress` that follows this reporter, for views of UIKit, AppKit and SwiftUI.
  ///
  /// <!-- sample: foundation-progress -->
  /// ```swift
  /// let reporter = ProgressReporter()
  /// let film = Task {
  ///   try await api.download(Request<Content>.get("/films/7.mp4").downloadProgress(reporter), to: "/tmp/7.mp4")
  /// }
  /// let progress = reporter.foundationProgress { film.cancel() }
  /// print(progress.isIndeterminate, progress.fractionCompleted)
  /// ```
  ///
  /// The units of the progress are bytes. The total is -1, and the progress indeterminate, until the total is known.
  /// The completed count never decreases, and the progress is finished when the transfer succeeds; an empty transfer is
  /// one unit. If the file changes on the server during the transfer, the total stays, and the count follows the
  /// fraction of the new file. The progress changes on the transfer's thread, so observe it with key-value observation,
  /// as Foundation requires. The reporter retains the progress; the progress does not retain the reporter.
  ///
  /// - Parameter onCancel: called once when the progress is cancelled, for example to cancel the task of the transfer.
  ///   Default: `nil`; the progress then cannot be cancelled.
  public func foundationProgress(onCancel: (@Sendable () -> Void)? = nil) -> Progress {
    let progress = Progress(totalUnitCount: -1)
    progress.kind = .file
    progress.isPausable = false
    progress.isCancellable = onCancel != nil
    progress.cancellationHandler = onCancel
    observe { progress.follow($0) }
    return progress
  }
}

extension Progress {
  fileprivate func follow(_ step: TransferProgress) {
    // Foundation considers a progress of 0 of 0 units unfinished.
    let isEmpty = step.total == 0
    let total = isEmpty ? 1 : step.total ?? -1
    // Set the total first: with the old total the progress could briefly look finished.
    if isIndeterminate, totalUnitCount != total { totalUnitCount = total }
    completedUnitCount = max(completedUnitCount, completed(of: step, units: total))
    if let rate = step.bytesPerSecond { setUserInfoObject(Int(rate), forKey: .throughputKey) }
    if let remaining = step.remaining {
      setUserInfoObject(remaining / .seconds(1), forKey: .estimatedTimeRemainingKey)
    }
  }

  /// Returns the completed units. They follow the fraction of a changed total, so that the progress does not briefly
  /// decrease.
  private func completed(of step: TransferProgress, units: Int64) -> Int64 {
    if totalUnitCount == units { return step.total == 0 ? 1 : step.completed }
    guard let fraction = step.fraction else { return completedUnitCount }
    return fraction == 1 ? totalUnitCount : Int64(fraction * Double(totalUnitCount))
  }
}

import Apus

/// The drawing of a transfer's progress on standard error.
struct ProgressDrawing: Sendable {
  let direction: ProgressBar.Direction
  /// The terminal. Without a terminal, no progress is drawn.
  let terminal: Terminal
  let error: DescriptorWriter

  /// Draws the progress until its end, and erases it.
  func follow(_ progress: ProgressReporter) async {
    guard terminal.showsErrors else { return }
    var bar = ProgressBar(width: terminal.width)
    let start = ContinuousClock.now
    for await step in progress {
      let transfer = ProgressBar.Transfer(
        direction: direction, bytes: step.completed, total: step.total, bytesPerSecond: step.bytesPerSecond)
      if let drawing = bar.update(transfer, elapsed: start.duration(to: .now)) { error.enqueue(drawing) }
    }
    if let drawing = bar.finish() { await error.writeMessage(drawing) }
  }
}

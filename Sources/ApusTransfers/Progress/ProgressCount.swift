import ApusCore

/// The progress of a transfer as it is reported: its fraction never decreases.
struct ProgressCount {
  /// Receives the number of completed bytes and the number of all bytes, if known.
  typealias Report = @Sendable (Int64, Int64?) -> Void

  private let report: Report
  private var last: TransferProgress?

  init(_ report: @escaping Report) {
    self.report = report
  }

  mutating func reach(_ completed: Int64, of total: Int64?) {
    let present = TransferProgress(completed: min(completed, total ?? .max), total: total)
    let next = last?.advanced(to: present) ?? present
    guard next != last else { return }
    last = next
    report(next.completed, next.total)
  }
}

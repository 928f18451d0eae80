#if Transfers
/// The progress of a transfer as it is reported: it never goes back.
struct ProgressCount {
  /// Receives the number of completed bytes and the number of all bytes, if known.
  typealias Report = @Sendable (Int64, Int64?) -> Void

  private let report: Report
  private var last: (completed: Int64, total: Int64?)?

  init(_ report: @escaping Report) {
    self.report = report
  }

  mutating func reach(_ completed: Int64, of total: Int64?) {
    // After a restart the count stays where it is until it is exceeded.
    var completed = max(completed, last?.completed ?? 0)
    if let total { completed = min(completed, total) }
    guard completed != last?.completed || total != last?.total else { return }
    last = (completed, total)
    report(completed, total)
  }
}
#endif

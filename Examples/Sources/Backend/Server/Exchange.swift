import Foundation
import HTTPTypes
import Synchronization

/// Keeps the log's row of one exchange up to date.
final class Exchange: Sendable {
  private let log: ExchangeLog
  private let sequence: Int
  private let start = ContinuousClock.now
  private let hasEnded = Mutex(false)

  init(_ head: HTTPRequest, connection: Int, time: Date, log: ExchangeLog) {
    let target = head.path ?? ""
    let parts = target.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
      .map { String(Substring($0)) }
    let query = parts.count > 1 ? parts[1] : nil
    self.log = log
    sequence = log.append { sequence, atWork in
      LoggedExchange(
        sequence: sequence, connection: connection, time: time, method: head.method.rawValue,
        path: parts.first ?? "", query: Redaction.query(query),
        userAgent: head.headerFields[.userAgent],
        requestContentLength: head.headerFields[.contentLength].flatMap(Int.init),
        credential: Redaction.credential(fields: head.headerFields, query: query),
        idempotencyKey: IdempotencyKey.fingerprint(in: head.headerFields), atWork: atWork)
    }
  }

  /// The credential was found to be this account's.
  func identified(as account: Int64) {
    log.update(sequence) { $0.account = account }
  }

  /// The answer's head is about to be written.
  func answering(status: Int, contentLength: Int?) {
    log.workEnded(sequence)
    log.update(sequence) { row in
      row.status = status
      row.responseContentLength = contentLength
    }
  }

  /// The client went away; a row that has ended stays as it is.
  func clientLeft() { end(left: true) }

  /// The answer is out.
  func ended() { end(left: false) }

  private func end(left: Bool) {
    let first = hasEnded.withLock { hasEnded in
      defer { hasEnded = true }
      return !hasEnded
    }
    guard first else { return }
    log.workEnded(sequence)
    let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
    log.update(sequence) { row in
      row.clientLeft = left
      row.durationMilliseconds = milliseconds
    }
  }
}

import Logging

/// Keeps log lines in memory.
final class LogRecorder: Sendable {
  struct Line: Sendable {
    let level: Logger.Level
    let message: String
    let metadata: [String: String]

    var text: String { "\(message) \(metadata)" }
  }

  let lines = Told<Line>()

  func logger(level: Logger.Level = .trace) -> Logger {
    var logger = Logger(label: "test") { _ in Handler(lines: self.lines) }
    logger.logLevel = level
    return logger
  }

  private struct Handler: LogHandler {
    let lines: Told<Line>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let metadata = (event.metadata ?? [:]).mapValues { "\($0)" }
      lines.add(Line(level: event.level, message: "\(event.message)", metadata: metadata))
    }
  }
}

import Logging

/// Keeps log lines in memory, each as one text.
final class LogRecorder: Sendable {
  let lines = Told<String>()

  func logger() -> Logger {
    var logger = Logger(label: "test") { _ in Handler(lines: self.lines) }
    logger.logLevel = .trace
    return logger
  }

  private struct Handler: LogHandler {
    let lines: Told<String>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let metadata = (event.metadata ?? [:]).map { "\($0)=\($1)" }
      lines.add("\(event.level) \(event.message) " + metadata.joined(separator: " "))
    }
  }
}

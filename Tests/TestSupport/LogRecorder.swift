public import Logging

/// A recorder that stores log events in memory.
public final class LogRecorder: Sendable {
  /// A log event.
  public struct Line: Sendable {
    /// The level of the event.
    public let level: Logger.Level
    /// The message of the event.
    public let message: String
    /// The metadata of the event, as text.
    public let metadata: [String: String]

    /// Level, message and metadata, sorted by key.
    public var text: String {
      "\(level) \(message) " + metadata.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined(separator: " ")
    }
  }

  /// The events so far.
  public let lines = Log<Line>()

  /// Creates a recorder without events.
  public init() {}

  /// Returns a logger that this recorder records.
  public func logger(level: Logger.Level = .trace) -> Logger {
    var logger = Logger(label: "test") { _ in Handler(lines: self.lines) }
    logger.logLevel = level
    return logger
  }

  private struct Handler: LogHandler {
    let lines: Log<Line>
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

import Logging

/// Keeps what is logged, each event as one line.
struct LineRecorder: LogHandler {
  let lines: Told<String>
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let metadata = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0)=\($1)" }
    lines.add("\(event.level) \(event.message) " + metadata.joined(separator: " "))
  }
}

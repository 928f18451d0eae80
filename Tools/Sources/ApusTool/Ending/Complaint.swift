import Apus

/// What the tool says on standard error when a call did not end well.
struct Complaint: Sendable, Hashable {
  /// A sentence for the person at the terminal.
  var sentence: String
  /// What is known beyond that, for those who look further.
  var detail = ""

  /// Of a call's error; `nil` where there is nobody to say it to.
  init?(_ error: CallError) {
    if let output = error.underlying as? OutputError {
      // Whoever reads our output went away, and knows.
      if output.isBrokenPipe { return nil }
      sentence = output.description
      return
    }
    if let input = error.underlying as? InputError {
      sentence = input.description
      return
    }
    guard !error.isCancellation else {
      sentence = "Interrupted."
      return
    }
    sentence = error.sentence
    let facts = "\(error.code.rawValue), \(error.requestState.rawValue) while \(error.phase.rawValue)"
    detail = error.detail.isEmpty ? facts : "\(facts): \(error.detail)"
  }

  init(sentence: String) {
    self.sentence = sentence
  }

  /// Of an answer that was not accepted.
  init(refusal status: Int, reason: String) {
    sentence = "The server refused: \(status)" + (reason.isEmpty ? "." : " \(reason).")
  }

  /// The lines on standard error, in which nothing that a server wrote can move a terminal's cursor or make a line.
  var text: String {
    let (sentence, detail) = (
      TerminalText.harmless(sentence, keepsLines: false), TerminalText.harmless(detail, keepsLines: false)
    )
    return "apus: \(sentence)\n" + (detail.isEmpty ? "" : "      \(detail)\n")
  }
}

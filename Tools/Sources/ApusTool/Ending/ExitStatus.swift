import Apus

/// How the tool ends: one status for each class of endings. This is the only table of them; help and documentation are
/// held to it.
enum ExitStatus: Int32, Sendable, Hashable, CaseIterable {
  /// The answer was accepted.
  case accepted = 0
  /// The request cannot be made.
  case invalidRequest = 3
  /// The host's name has no address.
  case hostNotFound = 6
  /// There is no connection to the server.
  case connectionFailed = 7
  /// The answer breaks the rules of HTTP.
  case malformedResponse = 8
  /// The server refused.
  case rejected = 22
  /// The output could not be written.
  case output = 23
  /// A file, a profile or the input could not be read.
  case input = 26
  /// A deadline passed.
  case timeout = 28
  /// The secure connection could not be made.
  case tls = 35
  /// The exchange broke off.
  case broken = 56
  /// The answer is larger than allowed.
  case contentTooLarge = 63
  /// The command line makes no sense.
  case usage = 64
  /// The tool itself failed.
  case fault = 70
  /// Ended because its terminal went away.
  case hungUp = 129
  /// Ended by an interrupt, such as Ctrl-C.
  case interrupted = 130
  /// Ended by a request to terminate.
  case terminated = 143

  /// What it means, in a few words.
  var meaning: String {
    switch self {
    case .accepted: "the answer was accepted: its status is from 200 to 299"
    case .invalidRequest: "the request cannot be made: URL, field, setting, content or credentials"
    case .hostNotFound: "the host's name has no address"
    case .connectionFailed: "there is no connection to the server"
    case .malformedResponse: "the answer breaks the rules of HTTP"
    case .rejected: "the server refused: any other status"
    case .output: "the output could not be written"
    case .input: "a file, a profile or the input could not be read"
    case .timeout: "a deadline passed"
    case .tls: "the secure connection could not be made: certificate, pin or protocol"
    case .broken: "the exchange broke off"
    case .contentTooLarge: "the answer is larger than allowed"
    case .usage: "the command line makes no sense"
    case .fault: "the tool itself failed"
    case .hungUp: "hung up: the terminal went away"
    case .interrupted: "interrupted, as by Ctrl-C"
    case .terminated: "terminated"
    }
  }

  /// All of them, a line each, for help.
  static var table: String {
    let lines = allCases.map { status in
      let number = "\(status.rawValue)"
      return String(repeating: " ", count: 5 - number.count) + number + "  " + status.meaning
    }
    return "Exit status:\n" + lines.joined(separator: "\n")
  }
}

extension ExitStatus {
  /// How a call ends the tool that failed so.
  init(_ error: CallError) {
    if error.underlying is InputError {
      self = .input
      return
    }
    switch error.code {
    case .invalidRequest, .encoding, .declined: self = .invalidRequest
    case .offline, .connectionFailed: self = .connectionFailed
    case .hostNotFound: self = .hostNotFound
    case .tls: self = .tls
    case .timeout: self = .timeout
    case .cancelled: self = .interrupted
    case .broken: self = .broken
    case .malformedResponse: self = .malformedResponse
    case .contentTooLarge: self = .contentTooLarge
    case .rejected: self = .rejected
    case .handler: self = error.underlying is OutputError ? .output : .fault
    case .decoding: self = .fault
    }
  }
}

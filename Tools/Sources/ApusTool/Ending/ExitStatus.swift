import Apus
import ApusTransfers

/// The exit statuses. Tests compare help and documentation with this list.
enum ExitStatus: Int32, Sendable, Hashable, CaseIterable {
  /// Success.
  case accepted = 0
  /// The request is invalid.
  case invalidRequest = 3
  /// The host was not found.
  case hostNotFound = 6
  /// The connection failed.
  case connectionFailed = 7
  /// The response is malformed.
  case malformedResponse = 8
  /// The server rejected the request.
  case rejected = 22
  /// The output cannot be written.
  case output = 23
  /// A file, a profile or the input cannot be read.
  case input = 26
  /// A timeout passed.
  case timeout = 28
  /// The TLS connection failed.
  case tls = 35
  /// The connection broke during the exchange.
  case broken = 56
  /// The response is too large.
  case contentTooLarge = 63
  /// The command line is invalid.
  case usage = 64
  /// An internal error.
  case fault = 70
  /// The terminal was closed.
  case hungUp = 129
  /// Interrupted, for example by Ctrl-C.
  case interrupted = 130
  /// Terminated.
  case terminated = 143

  /// The meaning in a few words.
  var meaning: String {
    switch self {
    case .accepted: "success: the status is from 200 to 299"
    case .invalidRequest: "the request is invalid: URL, field, setting, content or credentials"
    case .hostNotFound: "the host was not found"
    case .connectionFailed: "the connection failed"
    case .malformedResponse: "the response is malformed"
    case .rejected: "the server rejected the request: any other status"
    case .output: "the output cannot be written"
    case .input: "a file, a profile or the input cannot be read"
    case .timeout: "timed out"
    case .tls: "the TLS connection failed: certificate, pin or protocol"
    case .broken: "the connection broke during the exchange"
    case .contentTooLarge: "the response is too large"
    case .usage: "the command line is invalid"
    case .fault: "internal error"
    case .hungUp: "hung up: the terminal was closed"
    case .interrupted: "interrupted, as by Ctrl-C"
    case .terminated: "terminated"
    }
  }

  /// The table for help, a line for each status.
  static var table: String {
    let lines = allCases.map { status in
      let number = "\(status.rawValue)"
      return String(repeating: " ", count: 5 - number.count) + number + "  " + status.meaning
    }
    return "Exit status:\n" + lines.joined(separator: "\n")
  }
}

extension ExitStatus {
  /// Creates the status for a call's error.
  init(_ error: CallError) {
    if error.underlying is InputError {
      self = .input
      return
    }
    if let transfer = error.transfer, transfer.reason != .interrupted, error.code == .refused {
      // A size limit of the server has the same exit status as a response with status 413. The other reasons concern
      // files.
      switch transfer.reason {
      case .sizeLimit: self = .rejected
      default: self = .output
      }
      return
    }
    switch error.code {
    case .invalidRequest, .encoding, .refused: self = .invalidRequest
    case .offline, .connectionFailed: self = .connectionFailed
    case .hostNotFound: self = .hostNotFound
    case .tls: self = .tls
    case .timeout: self = .timeout
    case .cancelled: self = .interrupted
    case .connectionLost: self = .broken
    case .malformedResponse, .decoding: self = .malformedResponse
    case .contentTooLarge: self = .contentTooLarge
    case .rejected: self = .rejected
    case .handler: self = error.underlying is OutputError ? .output : .fault
    @unknown default: self = .fault
    }
  }
}

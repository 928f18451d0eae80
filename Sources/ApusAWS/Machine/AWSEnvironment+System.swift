import ApusCore
import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension AWSEnvironment {
  /// The environment of the process: its variables, the user's files and the machine's programs.
  public static var system: AWSEnvironment {
    let variables = ProcessInfo.processInfo.environment
    var environment = AWSEnvironment(variables: variables, home: variables["HOME"].flatMap { $0.isEmpty ? nil : $0 })
    environment.readFile = { try SystemFile.read($0, maximumLength: $1) }
    #if os(macOS) || os(Linux)
    environment.runProgram = { try await SystemProgram.run($0) }
    #endif
    return environment
  }
}

/// A regular file that is read completely.
enum SystemFile {
  /// The reason why a file was not read.
  enum Failure: LoggableError {
    case unreadable, tooLong, notRegular

    var description: String {
      switch self {
      case .unreadable: "it cannot be read"
      case .tooLong: "it is too long"
      case .notRegular: "it is not a regular file"
      }
    }
  }

  /// Returns the content of a file, or `nil` if the file does not exist.
  static func read(_ path: String, maximumLength: Int) throws(Failure) -> Data? {
    // Opens without waiting: a pipe in place of the file would block forever.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw .unreadable
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .unreadable }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
    var all = Data()
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = buffer.withUnsafeMutableBytes { systemRead(descriptor, $0) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .unreadable }
      if count == 0 { return all }
      all += buffer[..<count]
      guard all.count <= maximumLength else { throw .tooLong }
    }
  }

  static func systemRead(_ descriptor: CInt, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    #if canImport(Darwin)
    Darwin.read(descriptor, buffer.baseAddress, buffer.count)
    #elseif canImport(Glibc)
    Glibc.read(descriptor, buffer.baseAddress, buffer.count)
    #else
    Musl.read(descriptor, buffer.baseAddress, buffer.count)
    #endif
  }
}

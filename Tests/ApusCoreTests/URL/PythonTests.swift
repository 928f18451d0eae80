import Testing

@testable import ApusCore

#if os(Linux) || os(macOS)
import Foundation

/// Decodes encoded strings with Python's standard library.
@Suite("Queries decoded by Python") struct PythonTests {
  static let python = ["/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  @Test(
    "Python's urllib decodes queries and forms to the original values",
    .enabled(if: python != nil, "python3 is not installed"))
  func urllib() throws {
    let values =
      (UInt8(0)...0x7F).map { "a\(Unicode.Scalar($0))b" } + ["bücher", "e\u{301}", "👨‍👩‍👧", "+ & = % @ %41", "\u{FEFF}"]
    var query = Query()
    for (index, value) in values.enumerated() { query.append("k\(index) &=", value) }
    var target = ""
    try QueryText.append(query, style: .default, after: "", to: &target)
    let script = """
      import sys, urllib.parse
      for line in sys.stdin.read().split("\\n"):
        for name, value in urllib.parse.parse_qsl(line, keep_blank_values=True, strict_parsing=True):
          print(name.encode().hex(), value.encode().hex())
      """
    let output = try Self.run(script, input: target + "\n" + QueryText.form(query, style: .default))
    let expected = values.enumerated().map { "\(Self.hex("k\($0) &=")) \(Self.hex($1))" }
    #expect(output.split(separator: "\n").map(String.init) == expected + expected)
  }

  private static func hex(_ text: String) -> String {
    text.utf8.map { String(format: "%02x", $0) }.joined()
  }

  private static func run(_ script: String, input: String) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(python))
    process.arguments = ["-c", script]
    let (stdin, stdout) = (Pipe(), Pipe())
    process.standardInput = stdin
    process.standardOutput = stdout
    try process.run()
    stdin.fileHandleForWriting.write(Data(input.utf8))
    try stdin.fileHandleForWriting.close()
    let output = stdout.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: output, as: UTF8.self)
  }
}
#endif

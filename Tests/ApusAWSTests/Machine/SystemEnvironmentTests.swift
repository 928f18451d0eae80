import Foundation
import TestSupport
import Testing

@testable import ApusAWS

@Suite("The machine's files and programs", .timeLimit(.minutes(5)))
struct SystemEnvironmentTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "apus-\(UUID())")

  private func program(_ path: String, _ arguments: [String], limit: Int = 1000, seconds: Int = 200) -> AWSProgram {
    AWSProgram(
      path: path, arguments: arguments, variables: ["NAME": "value"], maximumLength: limit,
      timeout: .seconds(seconds))
  }

  @Test("A regular file is read up to the limit; a missing file is nil, and any other kind of file is an error")
  func files() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "file").path
    try Data(repeating: 1, count: 40_000).write(to: URL(filePath: file))
    #expect(try SystemFile.read(file, maximumLength: 40_000)?.count == 40_000)
    #expect(throws: SystemFile.Failure.tooLong) { try SystemFile.read(file, maximumLength: 39_999) }
    #expect(try SystemFile.read(file + "x", maximumLength: 10) == nil)
    #expect(try SystemFile.read(file + "/x", maximumLength: 10) == nil)
    #expect(throws: SystemFile.Failure.notRegular) { try SystemFile.read(folder.path, maximumLength: 10) }
  }

  #if os(Linux) || os(macOS)
  @Test("A program receives its arguments unchanged and its variables, and its standard output is returned")
  func output() async throws {
    let words = ["-c", "printf '%s|' \"$@\"; printf '%s' \"$NAME\"; printf error >&2", "sh", "a b", "$HOME;x"]
    let output = try await SystemProgram.run(program("/bin/sh", words))
    #expect(String(decoding: output, as: UTF8.self) == "a b|$HOME;x|value")
  }

  @Test("A program that fails, prints too much, takes too long or does not exist is an error, without further waiting")
  func failures() async {
    await #expect(throws: AWSProgramError.failed(status: 3)) {
      try await SystemProgram.run(program("/bin/sh", ["-c", "exit 3"]))
    }
    await #expect(throws: AWSProgramError.outputTooLong) {
      try await SystemProgram.run(program("/bin/sh", ["-c", "exec yes"]))
    }
    await #expect(throws: AWSProgramError.timedOut) {
      try await SystemProgram.run(program("/bin/sh", ["-c", "exec sleep 1000"], seconds: 1))
    }
    await #expect(throws: AWSProgramError.notStarted) {
      try await SystemProgram.run(program("/nowhere/at/all", []))
    }
  }

  @Test("Waiting for a program ends when the program ends, even if it leaves an agent running", arguments: [0, 3])
  func agent(status: Int) async throws {
    let folder = folder.path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    // The agent inherits the program's standard output. The program writes the agent's process ID into a file.
    let script = "sleep 1000 & echo $! >\(folder)/agent; printf %40000s x; exit \(status)"
    let result = await Task {
      try await SystemProgram.run(program("/bin/sh", ["-c", script], limit: 50_000, seconds: 10))
    }.result
    let text = try String(contentsOfFile: "\(folder)/agent", encoding: .utf8)
    let agent = try #require(Int32(text.dropLast()))
    #expect(kill(agent, SIGKILL) == 0)
    if status == 0 {
      #expect(try result.get().count == 40_000)
    } else {
      #expect(throws: AWSProgramError.failed(status: status)) { try result.get() }
    }
  }

  @Test("A program ended by a signal yields no credentials, and output beyond the size of a pipe is read")
  func ends() async throws {
    await #expect(throws: AWSProgramError.failed(status: 9)) {
      try await SystemProgram.run(program("/bin/sh", ["-c", "printf x; kill -9 $$"]))
    }
    let output = try await SystemProgram.run(program("/bin/sh", ["-c", "printf %300000s x"], limit: 300_000))
    #expect(output.count == 300_000)
    let closed = try await SystemProgram.run(program("/bin/sh", ["-c", "printf x; exec >&-; exec true"]))
    #expect(closed == Data("x".utf8))
  }

  @Test(
    "A program name is searched in the absolute folders of PATH, and a program with a relative path is refused"
  )
  func search() async throws {
    for (path, name, isFound) in [
      ("/nowhere:/bin", "sh", true), ("bin:/bin", "sh", true), ("bin:.", "sh", false), ("/bin", "./sh", false),
      ("/bin", "bin/sh", false), ("", "sh", false),
    ] {
      var program = program(name, ["-c", "echo yes"])
      program.variables["PATH"] = path
      let output = try? await SystemProgram.run(program)
      #expect((output == Data("yes\n".utf8)) == isFound, "\(path) \(name)")
    }
  }

  @Test("A cancelled task does not wait for its program")
  func cancelled() async {
    let task = Task { try await SystemProgram.run(program("/bin/sh", ["-c", "exec sleep 1000"])) }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }
  #endif

  @Test("Paths relative to the working directory are refused")
  func paths() {
    let environment = AWSEnvironment(home: "/home/x")
    #expect(environment.absolute("/a") == "/a" && environment.absolute("~/a") == "/home/x/a")
    for path in ["a", "./a", "../a", "~a", ""] { #expect(environment.absolute(path) == nil) }
    #expect(AWSEnvironment(home: "home").absolute("~/a") == nil)
  }

  @Test("The description of an environment contains only the names of its variables")
  func secrets() {
    let environment = AWSEnvironment(variables: ["AWS_SECRET_ACCESS_KEY": "sentinel-secret", "OTHER": "sentinel"])
    #expect(!texts(of: environment).contains("sentinel"))
    #expect("\(environment)".contains("AWS_SECRET_ACCESS_KEY"))
    let program = AWSProgram(
      path: "/bin/x", arguments: ["sentinel"], variables: ["A": "sentinel"], maximumLength: 1, timeout: .seconds(1))
    #expect(!texts(of: program).contains("sentinel"))
  }
}

import Apus
import ApusTransfers
import ArgumentParser
import Foundation
import HTTPTypes
import Testing

@testable import ApusTool

/// A transport that always fails.
struct FailingTransport: Transport {
  let error: any Error

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage { throw error }
}

@Suite("Exit statuses")
struct ExitStatusTests {
  /// Returns the error of a call whose transport fails.
  private func callError(_ failure: any Error) async -> CallError? {
    let client = Client(baseURL: "http://h.example", transport: FailingTransport(error: failure))
    do throws(CallError) {
      try await client.send(Request<Void>.method(.get, "/"))
      return nil
    } catch {
      return error
    }
  }

  @Test(
    "Each kind of failure has a specific exit status",
    arguments: [
      (.offline, .connectionFailed), (.hostNotFound, .hostNotFound), (.connectionFailed, .connectionFailed),
      (.tls, .tls), (.connectionLost, .broken), (.malformedResponse, .malformedResponse),
      (.contentTooLarge, .contentTooLarge), (.timeout, .timeout), (.invalidRequest, .invalidRequest),
    ] as [(CallError.Code, ApusTool.ExitStatus)])
  func kinds(kind: CallError.Code, status: ApusTool.ExitStatus) async throws {
    let error = try #require(await callError(TransportError(kind, requestState: .maybeSent, detail: "why")))
    #expect(ApusTool.ExitStatus(error) == status)
    let ending = Ending(error)
    #expect(ending.status == status)
    let text = try #require(ending.complaint).text
    #expect(text.hasPrefix("apus: \(error.message)\n"))
    #expect(text.contains("maybeSent while"))
    #expect(text.hasSuffix(": why\n"))
  }

  @Test("An input error always exits with the status for input, an output error with the status for output")
  func inputAndOutput() async throws {
    let input = try #require(await callError(InputError(place: "x", number: ENOENT)))
    #expect(Ending(input).status == .input)
    #expect(Ending(input).complaint?.text == "apus: Cannot read x: no such file or directory.\n")
    #expect(Ending(InputError(place: "x", number: ENOENT)).status == .input)
    #expect(Ending(OutputError(place: "x", number: ENOSPC)).status == .output)
    #expect(Ending(OutputError(place: "x", number: EPIPE)) == Ending(.output))
    #expect(Ending(CancellationError()).status == .interrupted)
  }

  @Test("Profile errors have a status and a sentence with the profile's name")
  func profiles() throws {
    let (name, reason) = (try ProfileName("work"), "it is not JSON")
    let origin = Origin(scheme: "https", host: "h.example", port: 443)
    let errors: [(ProfileError, ApusTool.ExitStatus)] = [
      (.unknown(name, folder: "/a"), .input), (.damaged(name, path: "/a", reason: reason), .input),
      (.signedOut(name, origin), .invalidRequest),
      (.otherOrigin(name, own: origin, requested: origin), .invalidRequest),
      (.unreadable(name, folder: "/a", reason: reason), .input),
      (.notKept(name, folder: "/a", reason: reason), .output),
    ]
    #expect(Ending(ProfileError.noFolder).status == .input)
    for (error, status) in errors {
      let ending = Ending(error)
      #expect(ending.status == status)
      let sentence = try #require(ending.complaint).sentence
      #expect(sentence.contains("“work”") && sentence.hasSuffix("."))
    }
  }

  @Test("A response that cannot be written ends with the output status")
  func handler() async throws {
    let client = Client(baseURL: "http://h.example", transport: AnsweringTransport())
    do throws(CallError) {
      try await client.withResponse(to: Request<Content>.get("/")) { (_: inout StreamedResponse) -> Void in
        throw OutputError(place: "standard output", number: EPIPE)
      }
      Issue.record("the call did not fail")
    } catch {
      #expect(Ending(error) == Ending(.output))
    }
  }

  @Test(
    "Failures of uploads have a specific exit status, and a message with advice for users of the command line",
    arguments: [
      (
        UploadTransport(limit: 1), .rejected, "The file is too large for the server.",
        "the server accepts at most 1 bytes"
      ),
      (UploadTransport(), .broken, "", "the same command starts again"),
    ] as [(UploadTransport, ApusTool.ExitStatus, String, String)])
  func uploads(transport: UploadTransport, status: ApusTool.ExitStatus, sentence: String, detail: String) async throws {
    let client = Client(baseURL: "http://h.example", transport: transport)
    do throws(CallError) {
      _ = try await client.upload(
        Request<Content>.method(.post, "/", content: .text("film")), by: .ietf(createsFirst: true))
      Issue.record("the upload did not fail")
    } catch {
      let ending = Ending(upload: error)
      #expect(ending.status == status)
      let complaint = try #require(ending.complaint)
      #expect(complaint.sentence.hasPrefix(sentence) && complaint.detail.hasSuffix(detail), "\(complaint)")
    }
  }

  @Test("Statuses are distinct, and success, rejection and usage have their conventional numbers")
  func numbers() {
    #expect(Set(ApusTool.ExitStatus.allCases.map(\.rawValue)).count == ApusTool.ExitStatus.allCases.count)
    #expect(ApusTool.ExitStatus.accepted.rawValue == 0)
    #expect(ApusTool.ExitStatus.rejected.rawValue == 22)
    #expect(ApusTool.ExitStatus.usage.rawValue == ExitCode.validationFailure.rawValue)
  }

  @Test("Help lists every status")
  func help() {
    for text in [
      ApusCommand.helpMessage(), ApusCommand.helpMessage(for: SendCommand.self, columns: 120),
      ApusCommand.helpMessage(for: BatchCommand.self, columns: 120),
      ApusCommand.helpMessage(for: DownloadCommand.self, columns: 120),
      ApusCommand.helpMessage(for: UploadCommand.self, columns: 120),
      ApusCommand.helpMessage(for: EventsCommand.self, columns: 120),
      ApusCommand.helpMessage(for: PagesCommand.self, columns: 120),
      ApusCommand.helpMessage(for: LoginCommand.self, columns: 120),
      ApusCommand.helpMessage(for: LogoutCommand.self, columns: 120),
      ApusCommand.helpMessage(for: WhoamiCommand.self, columns: 120),
    ] {
      for status in ApusTool.ExitStatus.allCases {
        #expect(text.contains("\(status.rawValue)  \(status.meaning)"), "\(text)")
      }
    }
  }

  @Test("The README lists the same statuses")
  func readme() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    let readme = try String(contentsOf: folder.appending(path: "../../../README.md"), encoding: .utf8)
    let rows = ApusTool.ExitStatus.allCases.map { "| \($0.rawValue) | \($0.meaning) |" }.joined(separator: "\n")
    #expect(readme.contains(rows), "README.md should hold:\n\(rows)")
  }
}

/// A transport that responds without content.
struct AnsweringTransport: Transport {
  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    ResponseMessage(head: .init(status: .ok), content: .empty)
  }
}

/// A transport that creates uploads, and then no longer has them.
struct UploadTransport: Transport {
  /// The maximum number of bytes of an upload; `nil`: no maximum.
  var limit: Int?

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    guard request.head.method == .post else { return ResponseMessage(head: .init(status: .notFound), content: .empty) }
    var fields: HTTPFields = [.location: "/uploads/1"]
    if let limit, let name = HTTPField.Name("Upload-Limit") { fields[name] = "max-size=\(limit)" }
    return ResponseMessage(head: .init(status: .created, headerFields: fields), content: .empty)
  }
}

import Apus
import ApusAWS
import ApusTransfers
import ArgumentParser
import Foundation
import Testing

@testable import ApusTool

@Suite("S3 locations on the command line")
struct S3PlaceTests {
  private let environment = ["AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "s"]

  @Test(
    "A location has a bucket and a key, which is not decoded",
    arguments: [
      ("s3://films/a b%20/../ran.mp4", "films", "a b%20/../ran.mp4"), ("s3://films", "films", ""),
      ("s3://films/", "films", ""), ("s3://films//a", "films", "/a"),
    ])
  func places(word: String, bucket: String, key: String) throws {
    let place = try S3Place(word)
    #expect(place.bucket == bucket && place.key == key)
  }

  @Test("A location without a bucket is refused", arguments: ["s3://", "s3:///a", "s3:/films/a", "https://films"])
  func refused(word: String) {
    #expect(throws: PlanError.self) { try S3Place(word) }
  }

  @Test("After a slash an object gets the file's name, and a file gets the object's name")
  func names() throws {
    #expect(try S3Place("s3://films").completed(by: "/tmp/ran.mp4").key == "ran.mp4")
    #expect(try S3Place("s3://films/a/").completed(by: "ran.mp4").key == "a/ran.mp4")
    #expect(try S3Place("s3://films/a").completed(by: "ran.mp4").key == "a")
    #expect(try S3Place("s3://films/a/ran.mp4").fileName == "ran.mp4")
    for word in [
      "s3://films", "s3://films/a/", "s3://films/..", "s3://films/.bashrc", "s3://films/-rf", "s3://films/a\nb",
    ] {
      #expect(try S3Place(word).fileName == nil)
    }
  }

  @Test("The server and the region come from options or the environment, otherwise they are those of AWS")
  func plans() throws {
    let options = try S3Options.parse([])
    #expect(try options.plan(in: environment).url.origin.description == "https://s3.us-east-1.amazonaws.com")
    let variables = environment.merging(["AWS_REGION": "eu-west-1"]) { $1 }
    #expect(try options.plan(in: variables).region == "eu-west-1")
    let own = try S3Options.parse(["--endpoint-url", "http://localhost:9000", "--region", "r", "--no-sign-request"])
    let plan = try own.plan(in: [:])
    #expect(plan.url.origin.description == "http://localhost:9000" && plan.region == "r" && plan.credentials == nil)
    #expect(throws: PlanError.self) { try S3Options.parse(["--no-sign-request", "--aws-profile", "a"]).plan(in: [:]) }
  }

  @Test("The URL of a server keeps its path, from an option and from the environment")
  func paths() throws {
    let url = "http://h.example/storage/v1/s3"
    #expect(try S3Options.parse(["--endpoint-url", url]).plan(in: environment).url.target == "/storage/v1/s3")
    for name in ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"] {
      let plan = try S3Options.parse([]).plan(in: environment.merging([name: url]) { $1 })
      #expect(plan.url.target == "/storage/v1/s3")
    }
  }

  @Test(
    "A region that would change the host is refused, from an option and from the environment",
    arguments: ["evil.example/", "evil.example#", "a@evil.example/", "a:1", "a b", "EU", "ü"])
  func unusableRegion(name: String) throws {
    #expect(throws: PlanError.self) { try S3Options.parse(["--region", name]).plan(in: environment) }
    #expect(throws: PlanError.self) {
      try S3Options.parse([]).plan(in: environment.merging(["AWS_REGION": name]) { $1 })
    }
    // At another server the region is only part of signatures.
    _ = try S3Options.parse(["--region", name, "--endpoint-url", "http://h.example"]).plan(in: environment)
  }

  @Test("A name or password in the URL of a server is refused, because it would not be sent")
  func userInformation() throws {
    #expect(throws: PlanError.self) {
      try S3Options.parse(["--endpoint-url", "https://a:b@h.example"]).plan(in: environment)
    }
  }

  @Test("Credentials come from options, or from the locations that AWS's own tools search")
  func credentials() throws {
    let keys = ["--access-key", "id", "--secret-key", "secret"]
    let own = try S3Options.parse(keys).plan(in: [:]).credentials
    #expect(own == .keys(AWSCredentials(accessKeyID: "id", secretAccessKey: "secret")))
    #expect(own?.account(in: [:]) == "id")
    #expect(try S3Options.parse([]).plan(in: environment).credentials == .search(profile: nil))
    let named = try S3Options.parse(["--aws-profile", "work"]).plan(in: environment).credentials
    #expect(named == .search(profile: "work") && named?.account(in: environment) == "work")
    #expect(AWSCredentialsPlan.search(profile: nil).account(in: ["AWS_PROFILE": "home"]) == "home")
    #expect(throws: PlanError.self) { try S3Options.parse(keys + ["--aws-profile", "work"]).plan(in: environment) }
    #expect(throws: PlanError.self) { try S3Options.parse(["--access-key", "id"]).plan(in: [:]) }
  }

  @Test(
    "Invalid options for an S3 location are refused, and so are S3 options for other URLs",
    arguments: [
      ["f", "s3://b/k", "--protocol", "tus"], ["f", "s3://b/k", "-H", "A: 1"], ["f", "s3://b/k", "--include"],
      ["f", "s3://b/k", "--bearer", "t"], ["-", "s3://b/k"],
    ])
  func upload(arguments: [String]) throws {
    let command = try UploadCommand.parse(arguments)
    #expect(throws: PlanError.self) { try command.workInS3(environment) }
    let other = try UploadCommand.parse(["f", "https://h/", "--region", "r"])
    #expect(throws: PlanError.self) { try other.plan() }
  }

  @Test("A download needs a key and a file name")
  func download() throws {
    let command = try DownloadCommand.parse(["s3://b/a/k", "--force", "-o", "f"])
    let (work, path, options) = try command.workInS3(environment)
    #expect(work.place.key == "a/k" && path == "f" && options.replacesExisting)
    #expect(try DownloadCommand.parse(["s3://b/a/k"]).workInS3(environment).1 == "k")
    for arguments in [["s3://b"], ["s3://b/a/"], ["s3://b/k", "-o", "-"], ["s3://b/k", "-H", "A: 1"]] {
      let command = try DownloadCommand.parse(arguments)
      #expect(throws: PlanError.self) { try command.workInS3(environment) }
    }
  }
}

import Apus
import ApusAWS
import Foundation
import Measuring
import Uploading

/// A program that uploads a file to a server with the API of S3. The script `Benchmarks/figures/s3-upload` runs this
/// program to compare uploads.
///
///     S3Upload prepare URL BUCKET          makes a bucket, and stores a small object in it
///     S3Upload presign URL BUCKET KEY      prints a URL with which the object can be stored without a signature
///     S3Upload apus URL BUCKET KEY FILE    uploads a file with `S3Bucket.upload` and its default options
///     S3Upload put URL FILE                uploads a file in one request with async-http-client, unsigned
///     S3Upload sink [CERTIFICATES KEY]     serves until standard input closes, with files over TLS; prints the port
///                                          first
///
/// Uploads print the seconds that they took. The access key and its secret are in the usual variables of the
/// environment. The variable `AWS_CA_BUNDLE` is the path of the file with the trusted authorities.
@main
struct S3Upload {
  static func main() async throws {
    // The program runs off the main actor, because callers should run on the global pool.
    try await Task.detached { try await run(Array(CommandLine.arguments.dropFirst())) }.value
  }

  @concurrent private static func run(_ arguments: [String]) async throws {
    switch (arguments.first, arguments.dropFirst().map { $0 }) {
    case ("prepare", let words) where words.count == 2: try await Contender.prepare(words[0], bucket: words[1])
    case ("presign", let words) where words.count == 3:
      print(try await Contender.bucket(words[0], words[1]).presign(words[2], method: .put, seconds: 3600))
    case ("apus", let words) where words.count == 4:
      let bucket = try Contender.bucket(words[0], words[1])
      try await timed { try await bucket.upload(words[3], to: words[2]) }
    case ("put", let words) where words.count == 2: try await Contender.put(words[1], to: words[0], timed)
    case ("sink", []): try Sink.serve(Answers.answer)
    case ("sink", let words) where words.count == 2:
      try Sink.serve(certificates: words[0], key: words[1], Answers.answer)
    default: throw WrongArguments()
    }
  }

  private static func timed(_ upload: () async throws -> Void) async throws {
    let start = ContinuousClock.now
    try await upload()
    print(start.duration(to: .now).microseconds / 1e6)
  }
}

struct WrongArguments: Error {}

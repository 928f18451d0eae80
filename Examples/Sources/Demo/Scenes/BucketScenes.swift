import Apus
import ApusAWS
import Foundation

/// An avatar in a bucket of a server with the API of S3: stored, read by the app and by anyone with a link, listed and
/// deleted.
struct BucketScene: Scene {
  let title = "An avatar in a bucket: signed requests, a link for anyone, a list"

  func play(in world: World) async throws -> [Claim] {
    let stage = world.stage
    guard let server = world.bucketServer else {
      throw MissingServer("SeaweedFS is not installed; scripts/servers/install-from-pypi installs it.")
    }
    // The server ends while the next scenes are played.
    defer { server.end() }
    let address = try await server.address()
    let api = Client(baseURL: address) { $0.apply(.app) }
    let bucket = S3(api, region: "us-east-1", credentials: BucketServer.credentials).bucket("avatars")
    let image = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
    try await bucket.create()
    try await bucket.put("users/ada.png", .bytes(image, "image/png"), options: S3PutOptions(metadata: ["user": "Ada"]))
    let stored = try await bucket.get("users/ada.png")
    stage.say("The app stores Ada's avatar in the bucket \(bucket.name) of \(address), and reads it again.")
    stage.note("\(stored.data.count) bytes; every request is signed, and the content has a checksum")

    let link = try await bucket.presign("users/ada.png", seconds: 60)
    let path = String(link.prefix { $0 != "?" })
    // The client of another app, without credentials.
    let anyone = Client(baseURL: address)
    let shown = try await anyone.send(Request<Data>.get(.url(link)))
    stage.say("Anyone with the link sees it for a minute: \(path)?…")
    let refused = try await showFailure(.rejected, on: stage) { try await anyone.send(Request<Data>.get(.url(path))) }

    let listed = try await list(bucket)
    stage.say("The bucket has \(listed). The app deletes the avatar.")
    try await bucket.delete("users/ada.png")
    let left = try await list(bucket)
    let missing = try await failure(.rejected) { try await bucket.get("users/ada.png") }
    return [
      .app("bucket-avatar", "the avatar in the bucket", expected: "the same", shown: same(stored.data, image)),
      .app(
        "bucket-properties", "its properties", expected: "image/png of Ada",
        shown: "\(stored.info.mediaType?.essence ?? "none") of \(stored.info.metadata["user"] ?? "nobody")"),
      .app("bucket-link", "the avatar behind the link", expected: "the same", shown: same(shown, image)),
      .app("unsigned-read", "without a signature", expected: "403", shown: refused.status.map { "\($0)" } ?? "none"),
      .app("bucket-list", "the bucket's list", expected: "users/ada.png (200000 bytes)", shown: listed),
      .app("bucket-empty", "the list after the deletion", expected: "nothing", shown: left),
      .app("bucket-deleted", "the avatar after the deletion", expected: "NoSuchKey", shown: missing.s3?.code ?? "none"),
    ]
  }

  private func same(_ shown: Data, _ image: Data) -> String { shown == image ? "the same" : "other" }

  private func list(_ bucket: S3Bucket) async throws -> String {
    var names: [String] = []
    for try await page in bucket.list(prefix: "users/") {
      names += page.objects.map { "\($0.key) (\($0.size ?? 0) bytes)" }
    }
    return names.isEmpty ? "nothing" : names.joined(separator: ", ")
  }
}

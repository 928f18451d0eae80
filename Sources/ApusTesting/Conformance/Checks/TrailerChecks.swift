import ApusCore
import HTTPTypes

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension TransportConformance {
  /// What is handed over of the fields behind content (RFC 9110 §6.5).
  static let trailerChecks: [Check] = [
    Check("hands over the trailers once the content has ended, but for those that may not be any", needs: [.trailers]) {
      bench in
      let digest = try field("X-Digest", "abc")
      let fields = HTTPFields([digest, HTTPField(name: .contentType, value: "text/evil")])
      await bench.server.answer(
        "/", ConformanceReply([.head(status: 200, fields: [:]), .content(Data("hello".utf8)), .trailers(fields)]))
      for delivery in [ContentDelivery.buffered, .streamed] {
        let trailers = try await bench.perform(ConformanceMessage("GET", "/"), delivery) { request, context in
          let response = try await bench.transport.send(request, context: context)
          let content = try await response.content.collect(upTo: context.contentLimit)
          try require(content == Data("hello".utf8), "the content was another")
          return response.content.trailers
        }
        try require(trailers[digest.name], is: "abc", "the trailer X-Digest")
        try require(trailers[.contentType], is: nil, "the trailer Content-Type")
        try require(trailers.count, is: 1, "the number of trailers")
      }
    }
  ]
}

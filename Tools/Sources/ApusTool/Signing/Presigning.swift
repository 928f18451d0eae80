import Apus
import ApusAWS
import Foundation

/// The execution of `apus presign`: gets the credentials and prints a URL.
struct Presigning: Sendable {
  let plan: AWSPlan
  let message: RequestMessage
  let date: Date
  let seconds: Int
  /// The transport to services that issue credentials.
  let transport: any Transport
  let output: DescriptorWriter
  let error: DescriptorWriter

  func run() async -> ExitStatus {
    do {
      let credentials = try await plan.credentials.provider(transport).credentials()
      let signed = try plan.signer.presign(message, with: credentials, at: date, seconds: seconds)
      try await output.writeToTheEnd(Data("\(signed.message.url)\n".utf8))
      return .accepted
    } catch {
      return await Ending(error).reported(on: self.error)
    }
  }
}

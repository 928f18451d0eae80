#if canImport(Security)
import Foundation
import Security

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLSessionConfiguration {
  /// Applies the options that exist only on Apple platforms.
  func apply(_ options: URLSessionTransport.Options) {
    allowsCellularAccess = options.allowsCellularAccess
    allowsExpensiveNetworkAccess = options.allowsExpensiveNetworkAccess
    allowsConstrainedNetworkAccess = options.allowsConstrainedNetworkAccess
    waitsForConnectivity = options.waitsForConnectivity
    tlsMinimumSupportedProtocolVersion = options.minimumTLSVersion == .tls13 ? .TLSv13 : .TLSv12
  }
}
#endif

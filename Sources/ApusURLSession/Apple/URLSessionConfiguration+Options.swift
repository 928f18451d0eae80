#if canImport(Security)
  import Foundation
  import Security

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  extension URLSessionConfiguration {
    /// Sets what only Apple's platforms let one choose.
    func apply(_ options: URLSessionTransport.Options) {
      allowsCellularAccess = options.allowsCellular
      allowsExpensiveNetworkAccess = options.allowsExpensive
      allowsConstrainedNetworkAccess = options.allowsConstrained
      waitsForConnectivity = options.waitsForConnectivity
      tlsMinimumSupportedProtocolVersion = options.tlsMinimum == .tls13 ? .TLSv13 : .TLSv12
    }
  }
#endif

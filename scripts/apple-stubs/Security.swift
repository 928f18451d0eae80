// A stub of Apple's Security framework for scripts/apple-check: the declarations used for server trust, pins, client
// identities and the Keychain, and declarations that Foundation has on Apple's systems only.
//
// As on Apple's systems, the C types are classes without declared sendability. The types of Core Foundation are
// aliases of the types of Foundation to which they are bridged.
public import Foundation
public import FoundationNetworking

public typealias CFArray = NSArray
public typealias CFData = NSData
public typealias CFDictionary = NSDictionary
public typealias CFString = String
public typealias CFTypeRef = AnyObject
public typealias CFTypeID = UInt
public typealias OSStatus = Int32
public final class CFError: Error {}

public class SecTrust {}
public class SecCertificate {}
public class SecIdentity {}

public let errSecSuccess: OSStatus = 0
public let kSecImportExportPassphrase = "passphrase"
public let kSecImportToMemoryOnly = "memory"
public let kSecImportItemIdentity = "identity"
public let kSecImportItemCertChain = "chain"

public func CFGetTypeID(_ value: CFTypeRef?) -> CFTypeID { 0 }
public func SecIdentityGetTypeID() -> CFTypeID { 0 }
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool { false }
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { nil }
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { NSData() }
public func SecPKCS12Import(_ data: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>)
  -> OSStatus
{ errSecSuccess }

public let errSecItemNotFound: OSStatus = -25300
public let errSecDuplicateItem: OSStatus = -25299
public let errSecDecode: OSStatus = -26275
public let kSecClass = "class"
public let kSecClassGenericPassword = "genp"
public let kSecAttrService = "svce"
public let kSecAttrAccount = "acct"
public let kSecAttrAccessGroup = "agrp"
public let kSecAttrGeneric = "gena"
public let kSecAttrAccessible = "pdmn"
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly = "cku"
public let kSecUseDataProtectionKeychain = "nleg"
public let kSecValueData = "v_Data"
public let kSecReturnData = "r_Data"
public let kSecReturnAttributes = "r_Attributes"
public let kSecMatchLimit = "m_Limit"
public let kSecMatchLimitOne = "m_LimitOne"

public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
  errSecItemNotFound
}
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
  errSecSuccess
}
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus { errSecSuccess }
public func SecItemDelete(_ query: CFDictionary) -> OSStatus { errSecSuccess }
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? { nil }

public enum tls_protocol_version_t: Sendable { case TLSv12, TLSv13 }

extension URLSessionConfiguration {
  public var allowsExpensiveNetworkAccess: Bool {
    get { true }
    set {}
  }
  public var allowsConstrainedNetworkAccess: Bool {
    get { true }
    set {}
  }
  public var waitsForConnectivity: Bool {
    get { false }
    set {}
  }
  public var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t {
    get { .TLSv12 }
    set {}
  }
  public var sessionSendsLaunchEvents: Bool {
    get { true }
    set {}
  }
  public class func background(withIdentifier identifier: String) -> URLSessionConfiguration { .ephemeral }
}

extension URLSession {
  public var allTasks: [URLSessionTask] {
    get async { [] }
  }
}

extension URLCredential {
  public convenience init(trust: SecTrust) { self.init(user: "", password: "", persistence: .none) }
  public convenience init(identity: SecIdentity, certificates: [Any]?, persistence: URLCredential.Persistence) {
    self.init(user: "", password: "", persistence: persistence)
  }
}

extension URLProtectionSpace {
  public var serverTrust: SecTrust? { nil }
}

extension Stream {
  public class func getBoundStreams(
    withBufferSize bufferSize: Int, inputStream: UnsafeMutablePointer<InputStream?>?,
    outputStream: UnsafeMutablePointer<OutputStream?>?
  ) {}
}

public let NSURLAuthenticationMethodServerTrust = "trust"
public let NSURLAuthenticationMethodClientCertificate = "certificate"

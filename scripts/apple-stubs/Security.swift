// A stub of Apple's Security framework for scripts/apple-check: what server trust and pinning need, no more.
// On Apple's systems the C types are imported as classes without declared sendability, as here.
public import Foundation

public class SecTrust {}
public class SecCertificate {}
public class SecKey {}
public class SecPolicy {}
public class SecIdentity {}
public final class CFErrorStub: Error {}

public typealias CFError = CFErrorStub
public typealias OSStatus = Int32

public let errSecSuccess: OSStatus = 0
public let errSecDuplicateItem: OSStatus = -25299
public let errSecItemNotFound: OSStatus = -25300

public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool { false }
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> NSArray? { nil }
public func SecTrustCopyKey(_ trust: SecTrust) -> SecKey? { nil }
public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: NSArray) -> OSStatus { errSecSuccess }
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchors: NSArray?) -> OSStatus { errSecSuccess }
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ only: Bool) -> OSStatus { errSecSuccess }
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: NSString?) -> SecPolicy { SecPolicy() }
public func SecCertificateCreateWithData(_ allocator: AnyObject?, _ data: NSData) -> SecCertificate? { nil }
public func SecCertificateCopyData(_ certificate: SecCertificate) -> NSData { NSData() }
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? { nil }
public func SecKeyCopyExternalRepresentation(
  _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> NSData? { nil }
public func SecKeyCopyAttributes(_ key: SecKey) -> NSDictionary? { nil }

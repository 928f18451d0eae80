import Testing

/// Self-signed certificates created by `openssl req -x509`, each with the public key printed by
/// `openssl pkey -pubout -outform der`, in Base64.
enum SampleCertificates {
  struct Sample: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let certificate: String
    let key: String
  }

  static let all = [
    Sample(testDescription: "RSA with 2048 bits", certificate: rsa, key: rsaKey),
    Sample(testDescription: "the curve P-256", certificate: ec, key: ecKey),
    Sample(testDescription: "Ed25519", certificate: ed, key: edKey),
  ]

  static let rsa = """
    MIIDBTCCAe2gAwIBAgIUD5HPC1Qa3L0LYg4wZotknQeUBzQwDQYJKoZIhvcNAQELBQAwETEPMA0GA1UEAwwGYS50ZXN0MCAXDTI2\
    MTEyMTA5MDYzMFoYDzIxMjYxMDI4MDkwNjMwWjARMQ8wDQYDVQQDDAZhLnRlc3QwggEiMA0GCSqGSIb3DQEBAQUAA4IBDwAwggEK\
    AoIBAQDf0WX+ozutIjPpVf1b0iplMPc46zjnEscF5vtchcDYE6ZvUCW0G9NR7fDjGViW2nwQgQqVKQV4B9A8gzNgWloLS9EpXg/+\
    oNKnL61oD0nfrLOSv/lqXMPsxoO/5H8E1o/dn0IPus3mT89mxELEHCfmg41SXdeV9kOrDW0TTUus9/iFBAZAaAp9ZKcXsxAYSWKC\
    vEOlMB1/SPrgBhO60p8iYvz3Z6BCAVDhcccuRjRdrCVAbaobOh4omogjj5/wYaViOU2BFv4diymM1wzyxJffkDJIQ2ipQQE20LMh\
    iRwNIZ1DdQdkFeMq1rqkxpKtOS2xdqiu9OT2jNbM2w2fsm+9AgMBAAGjUzBRMB0GA1UdDgQWBBSUBNfXaa5kiNPuvNfyr6M4sdbY\
    yDAfBgNVHSMEGDAWgBSUBNfXaa5kiNPuvNfyr6M4sdbYyDAPBgNVHRMBAf8EBTADAQH/MA0GCSqGSIb3DQEBCwUAA4IBAQC1V6K4\
    XfAVYaACGcRc4zOEs7forHmKaY082q7ZzA8PCH74rHm0dqRyz+PXn9vDzABuW9ZnQDiWTVtNH1+CwHHRAh9EgrFRm932wCPdXHdQ\
    lXvtAMc19VsLnqSuJXZzpS8PzixdzMjiWM4lvJC9dtZ7oJgjgR32EwIN1nYfbSocI+lXT2tQSpak2JBKiavRIbku04gM2cUtjxG/\
    1VOu2YmEgot3UXez6wH5GqTvLdd+o2dj7RDXBkrmJaprmiT8nNVFQFTJtFMFYxF5npuIOYY64GChIvL47lKwwYAMEQ7whnbh43aF\
    i2+jQfJN2V7ARgPhAixJVQl6415piXV1wFts
    """
  static let rsaKey = """
    MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA39Fl/qM7rSIz6VX9W9IqZTD3OOs45xLHBeb7XIXA2BOmb1AltBvTUe3w\
    4xlYltp8EIEKlSkFeAfQPIMzYFpaC0vRKV4P/qDSpy+taA9J36yzkr/5alzD7MaDv+R/BNaP3Z9CD7rN5k/PZsRCxBwn5oONUl3X\
    lfZDqw1tE01LrPf4hQQGQGgKfWSnF7MQGEligrxDpTAdf0j64AYTutKfImL892egQgFQ4XHHLkY0XawlQG2qGzoeKJqII4+f8GGl\
    YjlNgRb+HYspjNcM8sSX35AySENoqUEBNtCzIYkcDSGdQ3UHZBXjKta6pMaSrTktsXaorvTk9ozWzNsNn7JvvQIDAQAB
    """

  static let ec = """
    MIIBeTCCAR+gAwIBAgIUYxWjUGwHsVVA7gsE9wzM0vhZ1IYwCgYIKoZIzj0EAwIwETEPMA0GA1UEAwwGYS50ZXN0MCAXDTI2MTEy\
    MTA5MDYzMFoYDzIxMjYxMDI4MDkwNjMwWjARMQ8wDQYDVQQDDAZhLnRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASQZYSY\
    mYsENwjPuh8mIV7BZ9tCOkK3g2A7ppNy/VM2AVTsWsYO56FvhuE/PCeQzCvQoQ6hJWvjwg0PET7Ni5Bro1MwUTAdBgNVHQ4EFgQU\
    4M13F33PoSUDWyC+RWLxObdp1iEwHwYDVR0jBBgwFoAU4M13F33PoSUDWyC+RWLxObdp1iEwDwYDVR0TAQH/BAUwAwEB/zAKBggq\
    hkjOPQQDAgNIADBFAiEArbVxMMZaDxVRDMADED0zdBPW7yc/z3nyyy5wrbHtXlgCIAzBPHWBATyeVaUUbzW8GtL1wDQ86SJTCo4G\
    FUe1eOkf
    """
  static let ecKey = """
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEkGWEmJmLBDcIz7ofJiFewWfbQjpCt4NgO6aTcv1TNgFU7FrGDuehb4bhPzwnkMwr\
    0KEOoSVr48INDxE+zYuQaw==
    """

  static let ed = """
    MIIBODCB66ADAgECAhQQDDn1lXL9SF+vKGprn2efbPqmyjAFBgMrZXAwETEPMA0GA1UEAwwGYS50ZXN0MCAXDTI2MTEyMTA5MDYz\
    MFoYDzIxMjYxMDI4MDkwNjMwWjARMQ8wDQYDVQQDDAZhLnRlc3QwKjAFBgMrZXADIQB0Nv13QzGuwcJVCt13JVwnvKRGsLvN+8aI\
    M0dF1z05CKNTMFEwHQYDVR0OBBYEFG4YTy2pLRGxAqlgv9Pa/GNB1mcAMB8GA1UdIwQYMBaAFG4YTy2pLRGxAqlgv9Pa/GNB1mcA\
    MA8GA1UdEwEB/wQFMAMBAf8wBQYDK2VwA0EAi8VlFb02ll5WUrtRIs1P0HvREaNdECAe9r+Z9AdICGUFxMAMYDeku9Im2DcTzWZx\
    WbbDuN5S15vZA4T7UApqDg==
    """
  static let edKey = """
    MCowBQYDK2VwAyEAdDb9d0MxrsHCVQrddyVcJ7ykRrC7zfvGiDNHRdc9OQg=
    """
}

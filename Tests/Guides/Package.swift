// swift-tools-version: 6.2
import PackageDescription

func apus(_ product: String) -> Target.Dependency { .product(name: product, package: "apus") }

// The guides as readers paste them, written by scripts/samples. A separate package can use only public products and the
// compiler's default settings; a warning is an error.
let package = Package(
  name: "apus-guides",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "apus", path: "../..")],
  targets: [
    .target(
      name: "Guides",
      dependencies: [
        apus("Apus"), apus("ApusAWS"), apus("ApusCredentials"), apus("ApusJSON"), apus("ApusNIO"), apus("ApusOAuth"),
        apus("ApusTesting"), apus("ApusTransfers"),
      ],
      path: "Guides", swiftSettings: [.treatAllWarnings(as: .error)]),
    // The guides about tests.
    .testTarget(
      name: "GuideTests", dependencies: ["Guides", apus("Apus"), apus("ApusTesting"), apus("ApusTestServer")],
      path: "GuideTests", swiftSettings: [.treatAllWarnings(as: .error)]),
  ],
  swiftLanguageModes: [.v6]
)

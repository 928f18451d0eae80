// For the samples in ApusMacros' documentation.
import Foundation

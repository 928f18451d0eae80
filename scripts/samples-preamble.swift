// What every sample of the documentation may use without declaring it. Not compiled itself: scripts/samples.py copies
// each declaration into the file of each sample that does not declare the same name.
import Apus
import Foundation

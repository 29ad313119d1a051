// Imports what nearly all tests of the module use, for all of its files.
@_exported import DarwinNotify
@_exported import Foundation
@_exported import TestTools
@_exported import Testing

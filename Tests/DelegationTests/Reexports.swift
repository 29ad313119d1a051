// Imports what nearly all tests of the module use, for all of its files.
@_exported import DarwinNotifySupport
@_exported import Delegation
@_exported import Foundation
@_exported import TestTools
@_exported import Testing

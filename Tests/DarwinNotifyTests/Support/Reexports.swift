// Re-exports to the tests of the module what they share with those of other modules.
@_exported import TestTools

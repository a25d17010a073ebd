"""From recorded calls to the operations that native code is made of."""

"""Pure functions: arrays and matrices in, arrays out."""

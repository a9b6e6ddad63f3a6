"""Edit calls that agents really made, in one open form, replayed through any of the tools."""

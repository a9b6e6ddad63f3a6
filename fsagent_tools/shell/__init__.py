"""Commands: as the policy lets them run, confined, bounded, ended with everything they started."""
